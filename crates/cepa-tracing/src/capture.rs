//! What of the content goes into spans.

use std::{borrow::Cow, fmt, sync::Arc};

/// What of the content of messages, tool calls and results goes into spans: nothing, how long it is, or itself.
///
/// Content is what people, models and tools said: mostly private. Nothing of it is captured by default, as the
/// OpenTelemetry GenAI semantic conventions ask for. Keys of models are never in spans, whatever is captured.
///
/// ```
/// use cepa_tracing::Capture;
///
/// let capture = Capture::full()
///     .max_bytes(16 * 1024) // of each attribute
///     .redact(|text| text.replace("ACME", "[customer]"));
/// # let _ = capture;
/// ```
#[derive(Clone, Default)]
pub struct Capture(pub(crate) Level);

#[derive(Clone, Default)]
pub(crate) enum Level {
    #[default]
    Off,
    Lengths,
    Full(Full),
}

/// A function that takes out of a text what nobody should see.
type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// How full content is captured.
#[derive(Clone)]
pub(crate) struct Full {
    pub(crate) max_bytes: usize,
    redact: Option<Redact>,
}

/// The variable by which the conventions turn capturing on.
const VARIABLE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// How much content an attribute holds where nothing else is said: what common collectors take.
const MAX_BYTES: usize = 64 * 1024;

/// How much is told of an error.
const MAX_ERROR_BYTES: usize = 1024;

impl Capture {
    /// No content.
    pub fn off() -> Self {
        Self(Level::Off)
    }

    /// The shape of the content, and in place of each text how many bytes it has.
    pub fn lengths() -> Self {
        Self(Level::Lengths)
    }

    /// The content itself, up to 64 KiB in each attribute.
    pub fn full() -> Self {
        Self(Level::Full(Full { max_bytes: MAX_BYTES, redact: None }))
    }

    /// [`full`](Self::full) where the environment variable `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is
    /// `true` (or `1`, `SPAN_ONLY`, `SPAN_AND_EVENT`), else [`off`](Self::off).
    pub fn from_env() -> Self {
        Self::of_variable(std::env::var(VARIABLE).ok().as_deref())
    }

    fn of_variable(value: Option<&str>) -> Self {
        let value = value.unwrap_or_default().trim().to_ascii_lowercase();
        match value.as_str() {
            "true" | "1" | "span_only" | "span_and_event" => Self::full(),
            _ => Self::off(),
        }
    }

    /// How many bytes of content one attribute holds at most. What is over it is left out, the oldest first, with a
    /// note of how much it was; the JSON around it stays whole.
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        if let Level::Full(full) = &mut self.0 {
            full.max_bytes = max_bytes;
        }
        self
    }

    /// A function through which each text goes before it is captured: what people and models said, string values in
    /// arguments, results of tools, and the texts of errors.
    pub fn redact(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        if let Level::Full(full) = &mut self.0 {
            full.redact = Some(Arc::new(redact));
        }
        self
    }

    pub(crate) fn is_off(&self) -> bool {
        matches!(self.0, Level::Off)
    }

    /// What is said of an error. It is told also where no content is, as without it nobody can mend anything.
    pub(crate) fn error(&self, text: &str) -> String {
        match &self.0 {
            Level::Full(full) => cut(&full.redacted(text), MAX_ERROR_BYTES),
            Level::Off | Level::Lengths => cut(text, MAX_ERROR_BYTES),
        }
    }
}

/// A text's first bytes, and how many are missing.
pub(crate) fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let mut end = max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}… [{} bytes left out]", &text[..end], text.len() - end)
}

impl Full {
    /// Whether content is captured as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.redact.is_none()
    }

    pub(crate) fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.redact {
            Some(redact) => Cow::Owned(redact(text)),
            None => Cow::Borrowed(text),
        }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Level::Off => f.write_str("Off"),
            Level::Lengths => f.write_str("Lengths"),
            Level::Full(full) => f
                .debug_struct("Full")
                .field("max_bytes", &full.max_bytes)
                .field("redacts", &full.redact.is_some())
                .finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_turns_it_on() {
        let shown = |value: Option<&str>| format!("{:?}", Capture::of_variable(value));
        assert_eq!(shown(None), "Off");
        assert_eq!(shown(Some("false")), "Off");
        assert_eq!(shown(Some("NO_CONTENT")), "Off");
        assert_eq!(shown(Some("True")), "Full { max_bytes: 65536, redacts: false }");
        assert_eq!(shown(Some("SPAN_ONLY")), "Full { max_bytes: 65536, redacts: false }");
    }
}
