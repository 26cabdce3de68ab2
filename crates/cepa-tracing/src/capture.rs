//! What of the content goes into spans.

use std::{borrow::Cow, fmt, sync::Arc};

/// What of the content of messages, tool calls and results goes into spans: nothing, how long it is, or itself.
///
/// Content is what people, models and tools said: mostly private. Nothing of it is captured by default, as the
/// OpenTelemetry GenAI semantic conventions ask for. Keys of models are never in spans, whatever is captured.
///
/// The texts of errors are content, too: servers of models quote in them what they were asked.
///
/// ```
/// use cepa_tracing::Capture;
///
/// let capture = Capture::full()
///     .max_bytes(16 * 1024) // of each attribute
///     .redact(|text| text.replace("ACME", "[customer]"));
/// # let _ = capture;
/// ```
#[derive(Clone)]
pub struct Capture {
    level: Level,
    max_bytes: usize,
    redact: Option<Redact>,
    /// Whether the texts of errors are told, where the level is not to say.
    error_texts: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Off,
    Lengths,
    Full,
}

/// A function that takes out of a text what nobody should see.
type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The variable by which the conventions turn capturing on.
const VARIABLE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// How much content an attribute holds where nothing else is said: what common collectors take.
const MAX_BYTES: usize = 64 * 1024;

/// How much is told of an error.
const MAX_ERROR_BYTES: usize = 1024;

impl Capture {
    /// No content, nor the texts of errors: of an error there is its kind (`error.type`), and the layer and hook that it
    /// comes from.
    pub fn off() -> Self {
        Self::at(Level::Off)
    }

    /// The shape of the content (roles, kinds of parts, names, ids), and in place of each text how many bytes it has.
    pub fn lengths() -> Self {
        Self::at(Level::Lengths)
    }

    /// The content itself, up to 64 KiB in each attribute, and the texts of errors, up to 1 KiB.
    pub fn full() -> Self {
        Self::at(Level::Full)
    }

    fn at(level: Level) -> Self {
        Self { level, max_bytes: MAX_BYTES, redact: None, error_texts: None }
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

    /// How many bytes one attribute of content holds at most, all counted: texts as they stand in JSON, names, ids, and
    /// what is around them. 64 KiB by default.
    ///
    /// What is over it is left out, the oldest first: a text's end, data and earlier messages. Notes in their place say how
    /// much it was; they may take up to 400 bytes more. The JSON stays whole.
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// A function through which each text goes before it is captured: what people and models said; arguments, results and
    /// metadata with their keys and numbers; names of those who speak and of tools in messages; links; the texts of errors.
    /// A number that comes back changed is captured as a text. Data in base64 is told by its length only, as nobody can look
    /// into it.
    ///
    /// Each piece of content is given by itself, and whole before it is cut. Ids, media types and what is offered to models
    /// as tools do not pass it.
    ///
    /// It has no effect on events that you log yourself in your spans, nor on what the program's log says.
    pub fn redact(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.redact = Some(Arc::new(redact));
        self
    }

    /// Whether the texts of errors are told, up to 1 KiB of each, through [`redact`](Self::redact) and whatever else is
    /// captured. They are with [`full`](Self::full), and are not otherwise.
    ///
    /// ```
    /// use cepa_tracing::Capture;
    ///
    /// let capture = Capture::off().error_texts(true);
    /// # let _ = capture;
    /// ```
    pub fn error_texts(mut self, told: bool) -> Self {
        self.error_texts = Some(told);
        self
    }

    pub(crate) fn is_off(&self) -> bool {
        self.level == Level::Off
    }

    /// Whether anything is told of what a tool or a model said.
    pub(crate) fn reads_answers(&self) -> bool {
        !self.is_off() || self.error_texts == Some(true)
    }

    /// Whether texts themselves are captured.
    pub(crate) fn is_full(&self) -> bool {
        self.level == Level::Full
    }

    /// Whether content is captured as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_full() && self.redact.is_none()
    }

    pub(crate) fn redacts(&self) -> bool {
        self.redact.is_some()
    }

    pub(crate) fn limit(&self) -> usize {
        self.max_bytes
    }

    pub(crate) fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.redact {
            Some(redact) => Cow::Owned(redact(text)),
            None => Cow::Borrowed(text),
        }
    }

    /// What may be told of an error's text: itself, how long it is, or nothing.
    pub(crate) fn error(&self, text: &str) -> Option<String> {
        if self.error_texts.unwrap_or(self.is_full()) {
            return Some(cut(&self.redacted(text), MAX_ERROR_BYTES.min(self.max_bytes)));
        }
        (self.level == Level::Lengths).then(|| format!("{} bytes", text.len()))
    }
}

impl Default for Capture {
    fn default() -> Self {
        Self::off()
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
    cut_at(text, end)
}

/// A text up to there, and how many bytes are missing.
pub(crate) fn cut_at(text: &str, end: usize) -> String {
    format!("{}… [{} bytes left out]", &text[..end], text.len() - end)
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("level", &self.level)
            .field("max_bytes", &self.max_bytes)
            .field("redacts", &self.redacts())
            .field("error_texts", &self.error_texts)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_turns_it_on() {
        let level = |value: Option<&str>| Capture::of_variable(value).level;
        assert_eq!(level(None), Level::Off);
        assert_eq!(level(Some("false")), Level::Off);
        assert_eq!(level(Some("NO_CONTENT")), Level::Off);
        assert_eq!(level(Some("True")), Level::Full);
        assert_eq!(level(Some("SPAN_ONLY")), Level::Full);
    }
}
