//! What was logged.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

/// What a crate logs in the thread of the test, for as long as this lives.
///
/// A line has the fields of an event as `name=value`, the message among them, each followed by a semicolon. Other
/// subscribers of the thread hear nothing meanwhile. A test with more than one thread does not see the others' lines.
///
/// ```
/// use cepa_core::{Agent, testing::{Logged, ScriptedModel}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let warnings = Logged::warnings("cepa_core");
/// Agent::builder("Friday").model(ScriptedModel::new(["Hello."])).build()?.reply("Hi").await?;
/// assert_eq!(warnings.take(), [""; 0]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Logged {
    lines: Lines,
    _guard: DefaultGuard,
}

type Lines = Arc<Mutex<Vec<String>>>;

impl Logged {
    /// Everything under the targets that begin with this.
    pub fn of(target: &'static str) -> Self {
        Self::up_to(Level::TRACE, target)
    }

    /// Warnings and errors under the targets that begin with this.
    pub fn warnings(target: &'static str) -> Self {
        Self::up_to(Level::WARN, target)
    }

    fn up_to(level: Level, target: &'static str) -> Self {
        let lines = Lines::default();
        let recorder = Recorder { level, target, lines: lines.clone() };
        Self { lines, _guard: tracing::subscriber::set_default(recorder) }
    }

    /// What was logged so far, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was logged since the last time, oldest first.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Recorder {
    level: Level,
    target: &'static str,
    lines: Lines,
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(self.target) && *metadata.level() <= self.level
    }
    fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}
    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.0);
    }
    fn enter(&self, _span: &span::Id) {}
    fn exit(&self, _span: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string cannot fail.
        _ = write!(self.0, "{}={value:?};", field.name());
    }
}
