//! Replies as waterfalls on the terminal.

mod columns;
mod waterfall;

use std::{
    fmt,
    io::{self, IsTerminal as _, Write},
    sync::{Mutex, PoisonError},
};

use self::waterfall::{Style, waterfall};
use crate::view::{Collector, Limits, Tree, view};

/// Only what stands in a line is kept.
const LIMITS: Limits = Limits { spans: 1000, events: 0, value_bytes: 4096, bytes: 1 << 20 };

/// How wide lines are where nobody says.
const WIDTH: usize = 100;
/// Below this there is no room for a bar.
const MIN_WIDTH: usize = 50;

/// Shows each reply as a waterfall on the terminal, when it ends.
///
/// A line for each span: what it is, when it was in a bar at its place in time (until the first piece of a model's answer
/// in a lighter shade), how long it took, tokens sent and written, time to the first piece, and how it ended.
///
/// ```text
/// SPAN                    0                       2.41 s    TIME  TOKENS   FIRST  STATUS
/// invoke_agent Friday     ██████████████████████████████  2.41 s  732→24          ok
///   chat gpt-5            ▒▒▒▒██████▏                     811 ms  612→20  340 ms  ok
///   execute_tool weather            ██████████▏           802 ms                  ERROR tool_error: n…
///     GET /v1/stations              ██████████            780 ms
///   chat gpt-5                                ▒▒████████  786 ms   120→4  210 ms  ok
/// ```
///
/// It needs [`TracingMiddleware`](crate::TracingMiddleware) in the agent. Spans of your own code and of HTTP clients inside
/// of a reply are shown with it. Up to 1000 spans of a reply are; how many there were more is said below.
///
/// ```
/// use cepa_tracing::terminal;
///
/// # fn main() -> Result<(), cepa_tracing::SetupError> {
/// terminal().install()?;
/// # Ok(()) }
/// ```
///
/// Or beside other layers:
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let subscriber = tracing_subscriber::registry().with(cepa_tracing::terminal().width(120));
/// # let _ = subscriber;
/// ```
pub struct Terminal {
    collector: Collector,
    writer: Mutex<Box<dyn Write + Send>>,
    width: usize,
    colours: bool,
}

/// A layer that shows each reply as a waterfall on stderr.
///
/// Lines are as wide as the environment variable `COLUMNS` says, else 100 columns. There are colours where stderr is a
/// terminal, unless the environment variable `NO_COLOR` is set.
pub fn terminal() -> Terminal {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let no_colours = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let terminal = Terminal {
        collector: Collector::new(LIMITS),
        writer: Mutex::new(Box::new(io::stderr())),
        width: WIDTH,
        colours: io::stderr().is_terminal() && !no_colours,
    };
    terminal.width(columns.unwrap_or(WIDTH))
}

impl Terminal {
    /// Writes elsewhere than to stderr, without colours.
    #[must_use]
    pub fn writer(mut self, writer: impl Write + Send + 'static) -> Self {
        self.writer = Mutex::new(Box::new(writer));
        self.colours = false;
        self
    }

    /// How wide lines are, in columns: at least 50.
    #[must_use]
    pub fn width(mut self, columns: usize) -> Self {
        self.width = columns.max(MIN_WIDTH);
        self
    }

    /// Whether there are colours, whatever it is written to.
    #[must_use]
    pub fn colours(mut self, colours: bool) -> Self {
        self.colours = colours;
        self
    }

    fn show(&self, tree: &Tree) {
        let text = waterfall(tree, Style { width: self.width, colours: self.colours });
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // There is nowhere to say that it failed.
        _ = writer.write_all(text.as_bytes()).and_then(|()| writer.flush());
    }
}

view!(Terminal);

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal")
            .field("width", &self.width)
            .field("colours", &self.colours)
            .finish_non_exhaustive()
    }
}
