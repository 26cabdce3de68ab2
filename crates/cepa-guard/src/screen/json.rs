//! Cleaning JSON: values, and the text of arguments, whose escapes hide nothing.

use std::{borrow::Cow, collections::HashMap};

use cepa_core::{
    Fields,
    serde_json::{self, Map, Value},
};

use super::{Cleaner, Found};

/// How deep escapes may be nested: JSON as a string in JSON as a string.
const DEPTH: u32 = 3;

impl Cleaner {
    /// Cleans every string, every key and every number; `true` if something was found.
    pub(crate) fn clean_value(&self, value: &mut Value, found: &mut Found) -> bool {
        match value {
            Value::String(text) => self.clean_escaped_in_place(text, found),
            // A card's number may come as a number.
            Value::Number(number) => match self.clean(&number.to_string(), found) {
                Cow::Borrowed(_) => false,
                Cow::Owned(clean) => {
                    *value = Value::String(clean);
                    true
                }
            },
            Value::Array(items) => {
                items.iter_mut().fold(false, |dirty, item| self.clean_value(item, found) | dirty)
            }
            Value::Object(map) => self.clean_map(map, found),
            Value::Null | Value::Bool(_) => false,
        }
    }

    pub(crate) fn clean_map(&self, map: &mut Map<String, Value>, found: &mut Found) -> bool {
        let mut dirty = map.values_mut().fold(false, |dirty, value| self.clean_value(value, found) | dirty);
        if map.keys().any(|key| !self.is_clean(key)) {
            // Two keys may become one: the later ones are numbered, so that no value is lost.
            let mut numbers: HashMap<String, u32> = HashMap::new();
            for (key, value) in std::mem::take(map) {
                let clean = self.clean(&key, found).into_owned();
                let number = numbers.entry(clean.clone()).and_modify(|number| *number += 1).or_insert(1);
                let mut free = if *number == 1 { clean.clone() } else { format!("{clean}_{number}") };
                while map.contains_key(&free) {
                    *number += 1;
                    free = format!("{clean}_{number}");
                }
                map.insert(free, value);
            }
            dirty = true;
        }
        dirty
    }

    pub(crate) fn clean_fields(&self, fields: &mut Fields, found: &mut Found) -> bool {
        if fields.is_empty() {
            return false;
        }
        let mut map = Map::from(std::mem::take(fields));
        let dirty = self.clean_map(&mut map, found);
        *fields = map.into();
        dirty
    }

    /// Cleans JSON text, valid or not, and leaves it as it is when nothing is found.
    pub(crate) fn clean_json(&self, text: &mut String, found: &mut Found) -> bool {
        let mut dirty = false;
        if let Ok(mut value) = serde_json::from_str::<Value>(text)
            && self.clean_value(&mut value, found)
        {
            *text = value.to_string();
            dirty = true;
        }
        // What does not parse, and what parsing leaves out: the first of two equal keys.
        self.clean_escaped_in_place(text, found) | dirty
    }

    /// As [`Cleaner::clean_in_place`], and looks behind escapes too.
    pub(crate) fn clean_escaped_in_place(&self, text: &mut String, found: &mut Found) -> bool {
        let mut dirty = false;
        // The deepest first: on the way there half an escape looks like a part of the value.
        for depth in (1..=DEPTH).rev() {
            if text.contains('\\')
                && let Some(clean) = self.clean_behind_escapes(text, depth, found)
            {
                *text = clean;
                dirty = true;
            }
        }
        self.clean_in_place(text, found) | dirty
    }

    /// Looks at the text with its escapes resolved so many times, and replaces in the text what it finds there.
    fn clean_behind_escapes(&self, text: &str, depth: u32, found: &mut Found) -> Option<String> {
        let mut plain = Plain::of(text);
        for _ in 1..depth {
            plain = plain.resolved();
        }
        let hits = self.all_hits(&plain.text);
        if hits.is_empty() {
            return None;
        }
        let (mut clean, mut at, mut plain_at) = (String::with_capacity(text.len()), 0, 0);
        for hit in hits {
            let mut replaced = String::new();
            self.replace(&hit, &plain.text, &mut plain_at, &mut replaced, found);
            let (start, end) = (plain.origin(hit.range.start), plain.origin(hit.range.end));
            if end <= at {
                continue;
            }
            clean.push_str(text.get(at..start).unwrap_or_default());
            let replacement = Value::String(self.replacement(&hit, &plain.text)).to_string();
            clean.push_str(replacement.get(1..replacement.len() - 1).unwrap_or_default());
            at = end;
        }
        clean.push_str(text.get(at..).unwrap_or_default());
        Some(clean)
    }
}

/// Text whose escapes are resolved, with the place each byte comes from.
struct Plain {
    text: String,
    /// One entry for each byte, and one for the end.
    origins: Vec<usize>,
}

impl Plain {
    fn of(text: &str) -> Self {
        let origins = (0..=text.len()).collect();
        Self { text: text.to_owned(), origins }.resolved()
    }

    fn origin(&self, at: usize) -> usize {
        self.origins.get(at).or(self.origins.last()).copied().unwrap_or_default()
    }

    /// Resolves the escapes of a JSON string once more.
    fn resolved(&self) -> Self {
        let (mut text, mut origins) = (String::with_capacity(self.text.len()), Vec::new());
        let mut at = 0;
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            let (resolved, len) = first_char(rest);
            text.push(resolved);
            origins.resize(text.len(), self.origin(at));
            at += len;
        }
        origins.push(self.origin(at));
        Self { text, origins }
    }
}

/// The first character, and how many bytes it takes.
fn first_char(text: &str) -> (char, usize) {
    let mut chars = text.chars();
    let first = chars.next().unwrap_or_default();
    if first != '\\' {
        return (first, first.len_utf8());
    }
    match chars.next() {
        Some('u') => escaped(text).unwrap_or((first, 1)),
        Some('n') => ('\n', 2),
        Some('t') => ('\t', 2),
        Some('r') => ('\r', 2),
        Some('b') => ('\u{8}', 2),
        Some('f') => ('\u{c}', 2),
        Some(plain @ ('"' | '\\' | '/')) => (plain, 2),
        _ => (first, 1),
    }
}

/// `\u0040`, or two of them for one character.
fn escaped(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| -> Option<u16> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    let pair = [first, unit(6).unwrap_or_default()];
    let whole = char::decode_utf16(pair).next()?.ok()?;
    Some((whole, if whole.len_utf16() == 2 { 12 } else { 6 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Pii, Writer};

    fn cleaned(text: &str) -> String {
        let detectors = [Pii::Email, Pii::Card].map(|kind| kind.detector().unwrap());
        let cleaner = Cleaner::new(detectors.into(), Writer::new(None).unwrap()).unwrap();
        let mut text = text.to_owned();
        cleaner.clean_json(&mut text, &mut Found::default());
        text
    }

    #[test]
    fn escapes_hide_nothing() {
        assert_eq!(cleaned(r#"{"to":"bob\u0040example.com"}"#), r#"{"to":"[REDACTED:email]"}"#);
        assert_eq!(cleaned(r#"{"to":"\u0062ob@example.\u0063om","#), r#"{"to":"[REDACTED:email]","#);
        assert_eq!(
            cleaned(r#"{"body":"{\"to\":\"b\\u006fb@example.com\"}"}"#),
            r#"{"body":"{\"to\":\"[REDACTED:email]\"}"}"#
        );
        assert_eq!(cleaned(r#"{"a":"x@y.org","a":"none"}"#), r#"{"a":"[REDACTED:email]","a":"none"}"#);
    }

    #[test]
    fn numbers_and_keys_are_looked_at_and_the_rest_stays() {
        assert_eq!(cleaned(r#"{"n":4111111111111111,"k":[1.50]}"#), r#"{"k":[1.5],"n":"[REDACTED:card]"}"#);
        assert_eq!(cleaned(r#"{"x@y.org":1}"#), r#"{"[REDACTED:email]":1}"#);
        assert_eq!(
            cleaned(r#"{"x@y.org":1,"z@y.org":2}"#),
            r#"{"[REDACTED:email]":1,"[REDACTED:email]_2":2}"#
        );
        let untouched = "{\"path\" : \"C:\\\\new\\\\table\", \"n\": 1.50}";
        assert_eq!(cleaned(untouched), untouched);
    }
}
