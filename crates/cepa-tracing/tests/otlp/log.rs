//! What the program logs, also from the exporter's own threads.

use std::{
    fmt::{Debug, Write as _},
    sync::{Mutex, Once},
};

use tracing::{Event, Level, Subscriber, field::Field};
use tracing_subscriber::{
    layer::{Context, Layer, SubscriberExt as _},
    registry,
};

static EVERYTHING: Mutex<String> = Mutex::new(String::new());
static LINES: Mutex<Vec<(Level, String)>> = Mutex::new(Vec::new());

/// Begins to keep the log. There is one for all tests of the process; each looks for its own collector in it.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(registry().with(Keep)).unwrap());
}

/// The lines of this level that name the collector.
pub(crate) fn lines(level: Level, url: &str) -> Vec<String> {
    let lines = LINES.lock().unwrap();
    let wanted = lines.iter().filter(|(of, line)| *of == level && line.contains(url));
    wanted.map(|(_, line)| line.clone()).collect()
}

/// All that was logged so far, with each field, at any level and by any crate.
pub(crate) fn everything() -> String {
    EVERYTHING.lock().unwrap().clone()
}

struct Keep;

impl<S: Subscriber> Layer<S> for Keep {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = String::new();
        event.record(&mut |field: &Field, value: &dyn Debug| {
            writeln!(EVERYTHING.lock().unwrap(), "{field}={value:?}").unwrap();
            if field.name() == "message" {
                write!(line, "{value:?}").unwrap();
            }
        });
        LINES.lock().unwrap().push((*event.metadata().level(), line));
    }
}
