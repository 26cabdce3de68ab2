//! What is expected of one event.

use std::fmt;

use serde_json::Value;

use super::event_line::{EventLine, main_field, write_value};

/// What is expected of one event of an [`EventLog`](super::EventLog). Mostly written as text:
///
/// | text | fits |
/// |---|---|
/// | `TEXT_BLOCK_DELTA` | any event of this type |
/// | `TEXT_BLOCK_DELTA "Hello there"` | one whose main field is this (see below) |
/// | `REPLY_END completed` | the same; a single word needs no quotes |
/// | `MODEL_CALL_END input_tokens=12 output_tokens=3` | one with these fields, as they are in its JSON |
/// | `REPLY_END error error.type=rate_limit` | fields of fields |
/// | `TOOL_CALL_START tool_call_id="call 1"` | a value with spaces is a JSON string; arrays and objects are JSON too |
/// | `...` | any number of events, also none |
///
/// The main field is `delta` of deltas of text, thinking, calls and results; the name of the tool, of the model, of the
/// agent or of the custom event where one begins; `state` or `finished_reason` where one ends; the `hint` of a hint and
/// the `media_type` of data.
///
/// ```
/// use cepa_core::{AgentEvent, EventKind, serde_json::json, testing::{EventLog, Expected, anything, event}};
///
/// let log = EventLog::from_iter([AgentEvent::new(EventKind::TextBlockDelta {
///     reply_id: "r".into(),
///     block_id: "b".into(),
///     delta: "Hello there".into(),
/// })]);
/// log.assert([r#"TEXT_BLOCK_DELTA "Hello there" block_id=b"#]);
/// // The same without text:
/// log.assert([anything(), event("TEXT_BLOCK_DELTA").with("delta", "Hello there").with("block_id", "b")]);
/// ```
#[derive(Clone, Debug)]
#[must_use = "an expectation is given to `EventLog::assert`"]
pub struct Expected(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Anything,
    Event { event_type: String, fields: Vec<(String, Wanted)> },
    Unreadable { text: String, why: String },
}

#[derive(Clone, Debug)]
enum Wanted {
    Value(Value),
    /// Without quotes: a string, a number, `true`, `false` or `null`.
    Word(String),
}

/// An event of this type, with whatever fields.
pub fn event(event_type: impl Into<String>) -> Expected {
    Expected(Kind::Event { event_type: event_type.into(), fields: Vec::new() })
}

/// Any number of events, also none.
pub const fn anything() -> Expected {
    Expected(Kind::Anything)
}

impl Expected {
    /// Expects this value of this field of the event's JSON (`error.type` is a field of a field).
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        if let Kind::Event { fields, .. } = &mut self.0 {
            fields.push((field.into(), Wanted::Value(value.into())));
        }
        self
    }

    pub(super) const fn is_anything(&self) -> bool {
        matches!(self.0, Kind::Anything)
    }

    pub(super) fn fits(&self, line: &EventLine) -> bool {
        match &self.0 {
            Kind::Anything => true,
            Kind::Unreadable { .. } => false,
            Kind::Event { event_type, fields } => {
                line.event_type == event_type
                    && fields.iter().all(|(path, wanted)| line.field(path).is_some_and(|is| wanted.fits(is)))
            }
        }
    }
}

impl Wanted {
    fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Value(wanted), value) => wanted == value,
            (Self::Word(wanted), Value::String(text)) => wanted == text,
            (Self::Word(wanted), value) => {
                serde_json::from_str::<Value>(wanted).is_ok_and(|wanted| wanted == *value)
            }
        }
    }
}

impl From<&str> for Expected {
    fn from(text: &str) -> Self {
        let kind = read(text).unwrap_or_else(|why| Kind::Unreadable { text: text.to_owned(), why });
        Self(kind)
    }
}

impl From<String> for Expected {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

fn read(text: &str) -> Result<Kind, String> {
    let text = text.trim();
    if matches!(text, "..." | "…") {
        return Ok(Kind::Anything);
    }
    let (event_type, mut rest) = split_word(text);
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let (field, after_name) = match name_of_field(rest) {
            Some((name, after)) => (name, after),
            None => {
                let main = main_field(event_type);
                (main.ok_or_else(|| format!("{event_type} has no main field: write `field=value`"))?, rest)
            }
        };
        let (wanted, after_value) = read_value(after_name)?;
        fields.push((field.to_owned(), wanted));
        rest = after_value.trim_start();
    }
    Ok(Kind::Event { event_type: event_type.to_owned(), fields })
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (word, rest.trim_start())
}

/// `name=` at the beginning of the text.
fn name_of_field(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once('=')?;
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    is_name.then_some((name, rest))
}

fn read_value(text: &str) -> Result<(Wanted, &str), String> {
    if !text.starts_with(['"', '{', '[']) {
        let (word, rest) = split_word(text);
        return Ok((Wanted::Word(word.to_owned()), rest));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok((Wanted::Value(value), &text[values.byte_offset()..])),
        Some(Err(error)) => Err(format!("{text} does not begin with a JSON value: {error}")),
        None => Err("a value is missing".to_owned()),
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (event_type, fields) = match &self.0 {
            Kind::Anything => return f.write_str("..."),
            Kind::Unreadable { text, why } => return write!(f, "{text}   <- cannot be read: {why}"),
            Kind::Event { event_type, fields } => (event_type, fields),
        };
        f.write_str(event_type)?;
        for (name, wanted) in fields {
            if main_field(event_type) == Some(name) {
                f.write_str(" ")?;
            } else {
                write!(f, " {name}=")?;
            }
            match wanted {
                Wanted::Value(value) => write_value(f, value)?,
                Wanted::Word(word) => f.write_str(word)?,
            }
        }
        Ok(())
    }
}
