//! [`Timestamp`]: when something was made or finished.

use std::{
    fmt, str,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use jiff::{civil, tz};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point of local time in microseconds, written as AgentScope 2.0.11 writes it: ISO 8601 without a zone
/// (`2026-01-02T03:04:05.678901`; the fraction is left out when it is zero, as Python does).
///
/// Text of another form (with a zone, say) is kept as it is.
///
/// ```
/// use cepa_core::Timestamp;
///
/// let time = Timestamp::from("2026-01-02T03:04:05.678901");
/// assert_eq!(time.as_micros(), Some(1_767_323_045_678_901));
/// assert_eq!(Timestamp::from_micros(0).to_string(), "1970-01-01T00:00:00");
/// assert_eq!(Timestamp::from("2026-01-02T03:04:05Z").as_micros(), None);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Timestamp(Repr);

/// `Text` holds only what `Micros` would not write back the same. `Arc<String>` and not `Arc<str>`: a thin pointer
/// leaves room for `Option<Timestamp>` in the same two words.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Micros(i64),
    Text(Arc<String>),
}

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;

impl Timestamp {
    /// The local time now.
    #[must_use]
    pub fn now() -> Self {
        let utc = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_micros() as i64);
        Self::from_micros(utc + local_offset(utc))
    }

    /// The time `micros` microseconds after 1970-01-01T00:00:00 on the local clock. Years outside 1 to 9999 cannot
    /// be written; the time is moved to the nearest one that can.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        const FIRST: i64 = -62_135_596_800 * SECOND; // 0001-01-01T00:00:00
        const LAST: i64 = 253_402_207_200 * SECOND - 1; // the end of jiff's last day that is whole in every zone
        Self(Repr::Micros(micros.clamp(FIRST, LAST)))
    }

    /// Microseconds since 1970-01-01T00:00:00 on the local clock, or `None` when the text is of another form.
    #[must_use]
    pub const fn as_micros(&self) -> Option<i64> {
        match self.0 {
            Repr::Micros(micros) => Some(micros),
            Repr::Text(_) => None,
        }
    }

    /// Calls `f` with the text, without allocating.
    fn with_str<R>(&self, f: impl FnOnce(&str) -> R) -> R {
        match &self.0 {
            Repr::Text(text) => f(text),
            Repr::Micros(micros) => {
                let (text, len) = format(*micros);
                f(str::from_utf8(&text[..len]).unwrap_or_default()) // always ASCII
            }
        }
    }
}

/// What the local clock is ahead of UTC, in microseconds.
///
/// Asking the time-zone database costs far more than reading the clock, so the answer is kept for the minute it was
/// asked in: offsets change on whole minutes only. Minute and offset share one word, so no thread ever sees one
/// without the other.
fn local_offset(utc: i64) -> i64 {
    static CACHE: AtomicU64 = AtomicU64::new(0);

    let minute = utc.div_euclid(MINUTE) as u32;
    let cached = CACHE.load(Ordering::Relaxed);
    if (cached >> 32) as u32 == minute {
        return i64::from(cached as u32 as i32) * SECOND;
    }
    let seconds = jiff::Timestamp::from_microsecond(utc)
        .map_or(0, |time| tz::TimeZone::system().to_offset(time).seconds());
    CACHE.store(u64::from(minute) << 32 | u64::from(seconds as u32), Ordering::Relaxed);
    i64::from(seconds) * SECOND
}

/// The text of a time, and how many bytes of the buffer it takes.
fn format(micros: i64) -> ([u8; 26], usize) {
    let time = jiff::Timestamp::from_microsecond(micros).unwrap_or_default();
    let time = tz::Offset::UTC.to_datetime(time);
    let year = time.year().unsigned_abs();
    let fraction = micros.rem_euclid(SECOND) as u32;
    let mut text = *b"0000-00-00T00:00:00.000000";
    for (at, pair) in [
        (0, (year / 100) as u8),
        (2, (year % 100) as u8),
        (5, time.month().unsigned_abs()),
        (8, time.day().unsigned_abs()),
        (11, time.hour().unsigned_abs()),
        (14, time.minute().unsigned_abs()),
        (17, time.second().unsigned_abs()),
        (20, (fraction / 10_000) as u8),
        (22, (fraction / 100 % 100) as u8),
        (24, (fraction % 100) as u8),
    ] {
        text[at] += pair / 10;
        text[at + 1] += pair % 10;
    }
    (text, if fraction == 0 { 19 } else { 26 })
}

/// Reads exactly the form that [`format`] writes.
fn parse(text: &str) -> Option<i64> {
    let text = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !matches!(text.len(), 19 | 26) || marks.iter().any(|&(at, mark)| text[at] != mark) {
        return None;
    }
    let fraction = match text.get(19..) {
        Some([b'.', digits @ ..]) => number(digits).filter(|&fraction| fraction != 0)?,
        _ => 0,
    };
    let time = civil::DateTime::new(
        number(&text[0..4]).filter(|&year| year != 0)? as i16,
        number(&text[5..7])? as i8,
        number(&text[8..10])? as i8,
        number(&text[11..13])? as i8,
        number(&text[14..16])? as i8,
        number(&text[17..19])? as i8,
        fraction * 1000,
    );
    let time = tz::Offset::UTC.to_timestamp(time.ok()?).ok()?;
    Some(time.as_microsecond())
}

/// The decimal number of at most nine digits.
fn number(digits: &[u8]) -> Option<i32> {
    digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i32::from(digit - b'0')))
}

impl From<&str> for Timestamp {
    fn from(text: &str) -> Self {
        Self(parse(text).map_or_else(|| Repr::Text(Arc::new(text.to_owned())), Repr::Micros))
    }
}

impl From<String> for Timestamp {
    fn from(text: String) -> Self {
        Self(parse(&text).map_or_else(|| Repr::Text(Arc::new(text)), Repr::Micros))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_str(|text| f.pad(text))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_str(|text| fmt::Debug::fmt(text, f))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_str(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TimestampVisitor;

        impl de::Visitor<'_> for TimestampVisitor {
            type Value = Timestamp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time (a string)")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                Ok(text.into())
            }
        }

        deserializer.deserialize_str(TimestampVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_two_words_even_when_optional() {
        assert_eq!((size_of::<Timestamp>(), size_of::<Option<Timestamp>>()), (16, 16));
    }

    #[test]
    fn python_forms_are_read_and_written_back() {
        for (text, micros) in [
            ("2026-01-02T03:04:05.678901", 1_767_323_045_678_901),
            ("2026-01-02T03:04:05", 1_767_323_045_000_000),
            ("2024-02-29T23:59:59.000001", 1_709_251_199_000_001),
            ("1969-12-31T23:59:59.999999", -1),
            ("0001-01-01T00:00:00", -62_135_596_800_000_000),
        ] {
            let time = Timestamp::from(text);
            assert_eq!(time.as_micros(), Some(micros), "{text}");
            assert_eq!(time.to_string(), text);
            assert_eq!(Timestamp::from_micros(micros), time);
        }
    }

    #[test]
    fn other_forms_are_kept_as_they_are() {
        for text in [
            "",
            "now",
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.678901+01:00",
            "2026-01-02 03:04:05.678901",
            "2026-01-02T03:04:05.000000",
            "2026-01-02T03:04:05.678",
            "2026-02-30T03:04:05",
            "2026-01-02T24:04:05",
            "0000-01-02T03:04:05",
            "+026-01-02T03:04:05",
            "2026-01-02T03:04:0五",
        ] {
            let time = Timestamp::from(text);
            assert_eq!((time.as_micros(), time.to_string().as_str()), (None, text));
            assert_eq!(serde_json::to_value(&time).unwrap(), text);
        }
    }

    #[test]
    fn times_that_cannot_be_written_move_to_the_nearest_that_can() {
        for micros in [i64::MIN, i64::MAX] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(Timestamp::from(time.to_string()), time);
        }
    }

    #[test]
    fn now_is_the_local_time() {
        let local = || {
            let time = tz::TimeZone::system().to_datetime(jiff::Timestamp::now());
            tz::Offset::UTC.to_timestamp(time).unwrap().as_microsecond()
        };
        let before = local();
        let now = Timestamp::now().as_micros().unwrap();
        let after = local();
        assert!((before..=after).contains(&now), "{before} <= {now} <= {after}");
    }

    #[test]
    fn offset_of_the_cache_is_that_of_the_minute() {
        let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64;
        for at in [utc, utc + 180 * 24 * 60 * MINUTE, utc] {
            let time = jiff::Timestamp::from_microsecond(at).unwrap();
            let expected = i64::from(tz::TimeZone::system().to_offset(time).seconds()) * SECOND;
            assert_eq!((local_offset(at), local_offset(at)), (expected, expected));
        }
    }
}
