//! [`Id`]: what messages, blocks, events, sessions and replies are called.

use std::{cmp::Ordering, fmt, str, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An identifier: 32 lower-case hex digits when generated (a UUID v4 without dashes, as in AgentScope 2.0.11), any
/// other text when a provider or a person chose it.
///
/// Copies are cheap, and generated ids take no memory of their own. An id compares and sorts as its text.
///
/// ```
/// use cepa_core::Id;
///
/// let id = Id::new();
/// assert_eq!(id.to_string().len(), 32);
/// assert_eq!(Id::from(id.to_string()), id);
/// assert_eq!(Id::from("call_1"), "call_1");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(Repr);

/// Text of 32 lower-case hex digits is always `Uuid`, so that the derived `Eq` and `Hash` are those of the text.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Uuid([u8; 16]),
    Text(Arc<str>),
}

impl Id {
    /// A fresh, random id.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "a default that differs each time would surprise")]
    pub fn new() -> Self {
        Self(Repr::Uuid(uuid::Uuid::new_v4().into_bytes()))
    }

    /// Whether the text is empty; some model servers send such ids for tool calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Repr::Text(text) if text.is_empty())
    }

    /// Calls `f` with the text, without allocating.
    fn with_str<R>(&self, f: impl FnOnce(&str) -> R) -> R {
        match &self.0 {
            Repr::Text(text) => f(text),
            Repr::Uuid(bytes) => {
                let hex = to_hex(bytes);
                f(str::from_utf8(&hex).unwrap_or_default()) // always ASCII
            }
        }
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The value of each byte that is a lower-case hex digit, 0xff for the others.
const VALUES: [u8; 256] = {
    let mut values = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

fn to_hex(bytes: &[u8; 16]) -> [u8; 32] {
    let mut hex = [0; 32];
    for (pair, byte) in hex.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    hex
}

fn from_hex(text: &str) -> Option<[u8; 16]> {
    let hex: &[u8; 32] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 16];
    let mut seen = 0;
    for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
        let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
        seen |= high | low;
        *byte = (high << 4) | (low & 15);
    }
    (seen < 16).then_some(bytes)
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self(from_hex(text).map_or_else(|| Repr::Text(text.into()), Repr::Uuid))
    }
}

impl From<String> for Id {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&Self> for Id {
    fn from(id: &Self) -> Self {
        id.clone()
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.to_string()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_str(|text| f.pad(text))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_str(|text| fmt::Debug::fmt(text, f))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Uuid(a), Repr::Uuid(b)) => a.cmp(b), // hex digits sort as the bytes do
            _ => self.with_str(|a| other.with_str(|b| a.cmp(b))),
        }
    }
}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq<str> for Id {
    fn eq(&self, other: &str) -> bool {
        self.with_str(|text| text == other)
    }
}

impl PartialEq<&str> for Id {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_str(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;

        impl de::Visitor<'_> for IdVisitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id (a string)")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
                Ok(text.into())
            }
        }

        deserializer.deserialize_str(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn is_small() {
        assert_eq!(size_of::<Id>(), 24);
    }

    #[test]
    fn hex_text_and_generated_id_are_the_same_id() {
        let id = Id::new();
        let read = Id::from(id.to_string());
        assert_eq!(read, id);
        assert!(matches!(read.0, Repr::Uuid(_)));
        assert!(HashSet::from([id]).contains(&read));
    }

    #[test]
    fn near_misses_stay_text() {
        for text in
            ["", "call_1", "0123456789ABCDEF0123456789abcdef", "0123456789abcdef0123456789abcdeg", "é"]
        {
            let id = Id::from(text);
            assert!(matches!(id.0, Repr::Text(_)), "{text}");
            assert_eq!(id, text);
            assert_eq!(id.to_string(), text);
        }
        // 32 bytes that are not 32 digits
        assert_eq!(Id::from("é".repeat(16)).to_string(), "é".repeat(16));
    }

    #[test]
    fn sorts_as_text() {
        let digits = ["0".repeat(31), "0".repeat(32), format!("{}1", "0".repeat(31)), "f".repeat(32)];
        let [short, zero, one, last] = digits.each_ref().map(String::as_str);
        let texts = ["", short, zero, one, "a", "call_1", last, "g"];
        let mut ids: Vec<Id> = texts.iter().rev().map(|text| Id::from(*text)).collect();
        ids.sort();
        assert_eq!(ids.iter().map(Id::to_string).collect::<Vec<_>>(), texts);
    }

    #[test]
    fn is_empty_only_without_text() {
        assert!(Id::from("").is_empty());
        assert!(!Id::from(" ").is_empty());
        assert!(!Id::new().is_empty());
    }

    #[test]
    fn debug_is_quoted_text() {
        assert_eq!(format!("{:?}", Id::from("a\"b")), r#""a\"b""#);
        let zeros = "0".repeat(32);
        assert_eq!(format!("{:?}", Id::from(zeros.as_str())), format!("{zeros:?}"));
    }

    #[test]
    fn json_is_a_string_and_nothing_else() {
        let id: Id = serde_json::from_str(r#""a\u0062c""#).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""abc""#);
        let error = serde_json::from_str::<Id>("5").unwrap_err().to_string();
        assert!(error.contains("expected an id"), "{error}");
    }
}
