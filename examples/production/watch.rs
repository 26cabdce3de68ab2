//! What the layers say of themselves, printed and counted.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    sync::{Arc, Mutex, PoisonError},
};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

/// Listens to the layers.
#[derive(Clone, Default)]
pub(crate) struct Watch(Arc<Mutex<BTreeMap<String, Vec<String>>>>);

impl Watch {
    /// What each layer has said, oldest first.
    pub(crate) fn told(&self) -> BTreeMap<String, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<S: Subscriber> Layer<S> for Watch {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        // The agent's own warnings are worth reading too: that layers are the wrong way round, for one.
        let is_ours = metadata.target().starts_with("cepa_");
        if !is_ours || *metadata.level() > Level::DEBUG {
            return;
        }
        let mut line = Line::default();
        event.record(&mut line);
        let layer = match line.guard {
            // The half of a guard that stands outermost.
            Some(guard) if line.at_input => format!("{guard} (input)"),
            Some(guard) => guard,
            None => layer_of(metadata.target()),
        };
        println!("  [{layer}] {}{}", line.message, line.fields);
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.entry(layer).or_default().push(line.message);
    }
}

/// `cepa_resilience::model_retry` is `ModelRetry`.
fn layer_of(target: &str) -> String {
    let mut parts = target.split("::");
    let (crate_name, module) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match (crate_name, module) {
        ("cepa_resilience" | "cepa_guard" | "cepa_router", "output_limit") => "ToolOutputLimit".to_owned(),
        ("cepa_router", "model_router") => "ModelRouterMiddleware".to_owned(),
        ("cepa_guard", "audit") => "AuditLog".to_owned(),
        ("cepa_resilience" | "cepa_guard" | "cepa_router", module) => camel(module),
        _ => crate_name.to_owned(),
    }
}

fn camel(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
    });
    words.flatten().collect()
}

/// One event: its words, and its fields behind them.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
    guard: Option<String>,
    at_input: bool,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "guard" => self.guard = Some(value.to_owned()),
            "place" if value == "input" => self.at_input = true,
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            "guard" => {
                self.guard = Some(format!("{value:?}"));
                Ok(())
            }
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
