//! Reading almost-JSON: what models write as arguments when they are cut off or careless.
//!
//! Own code, since the crates for it fail on raw line breaks in strings or cut escapes. It reads what a strict
//! parser refuses: text around the object, cut ends, raw control characters in strings, single quotes, bare keys,
//! comments, missing and extra commas, Python's literals.

use serde_json::{Map, Number, Value};

/// Deeper nesting than any tool asks for, and shallow enough for the stack.
const MAX_DEPTH: usize = 64;

/// What could be read.
pub(super) enum Lenient {
    Value(Value),
    /// NaN or an infinity stands where a number should.
    NotANumber,
    Nothing,
}

/// Reads the first object in `text`.
pub(super) fn read(text: &str) -> Lenient {
    let Some(start) = text.find('{') else { return Lenient::Nothing };
    let mut reader = Reader { rest: &text[start..], not_a_number: false };
    let value = reader.value(0);
    if reader.not_a_number {
        return Lenient::NotANumber;
    }
    value.map_or(Lenient::Nothing, Lenient::Value)
}

struct Reader<'a> {
    rest: &'a str,
    not_a_number: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    /// Skips commas, also too many of them, and what stands around them.
    fn separators(&mut self) {
        self.space();
        while self.eat(',') {
            self.space();
        }
    }

    /// Skips white space and comments.
    fn space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                self.rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            } else {
                return;
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.space();
        match self.peek()? {
            _ if depth > MAX_DEPTH => None,
            '{' => Some(Value::Object(self.object(depth))),
            '[' => Some(Value::Array(self.array(depth))),
            quote @ ('"' | '\'' | '“') => Some(Value::String(self.text(quote))),
            _ => self.bare(),
        }
    }

    fn object(&mut self, depth: usize) -> Map<String, Value> {
        let mut fields = Map::new();
        self.next();
        loop {
            self.separators();
            match self.peek() {
                None => return fields,
                Some('}') => {
                    self.next();
                    return fields;
                }
                // A closing bracket too many.
                Some(']') => return fields,
                _ => {}
            }
            let key = match self.peek() {
                Some(quote @ ('"' | '\'' | '“')) => self.text(quote),
                _ => self.word(&[':', ',', '}', ']']).trim().to_owned(),
            };
            self.space();
            if !self.eat(':') {
                // A key that was cut off, or something that is not a field.
                if self.rest.is_empty() {
                    return fields;
                }
                continue;
            }
            match self.value(depth + 1) {
                Some(value) => {
                    fields.insert(key, value);
                }
                None => return fields,
            }
        }
    }

    fn array(&mut self, depth: usize) -> Vec<Value> {
        let mut items = Vec::new();
        self.next();
        loop {
            self.separators();
            match self.peek() {
                None | Some('}') => return items,
                Some(']') => {
                    self.next();
                    return items;
                }
                _ => match self.value(depth + 1) {
                    Some(item) => items.push(item),
                    None => return items,
                },
            }
        }
    }

    fn text(&mut self, quote: char) -> String {
        let close = if quote == '“' { '”' } else { quote };
        let mut text = String::new();
        self.next();
        while let Some(next) = self.next() {
            match next {
                _ if next == close => break,
                '\\' => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('b') => text.push('\u{8}'),
                    Some('f') => text.push('\u{c}'),
                    Some('u') => text.extend(self.escaped()),
                    Some(other) => text.push(other),
                    None => break,
                },
                next => text.push(next),
            }
        }
        text
    }

    /// The character of `\uXXXX`, pairs included; nothing if it was cut off.
    fn escaped(&mut self) -> Option<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        self.rest = self.rest.strip_prefix("\\u")?;
        let second = self.hex()?.checked_sub(0xdc00)?;
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + second)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.rest = &self.rest[4..];
        Some(code)
    }

    /// A number, a literal, or a text without quotes.
    fn bare(&mut self) -> Option<Value> {
        let word = self.word(&[',', '}', ']', '"', '\n']).trim();
        match word {
            "" => None,
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" | "undefined" => Some(Value::Null),
            "NaN" | "nan" | "Infinity" | "-Infinity" | "inf" | "-inf" => {
                self.not_a_number = true;
                None
            }
            word => Some(number(word).map_or_else(|| Value::String(word.to_owned()), Value::Number)),
        }
    }

    fn word(&mut self, ends: &[char]) -> &str {
        let end = match self.rest.find(ends) {
            // At least one character, so that reading always goes on.
            Some(0) => self.peek().map_or(0, char::len_utf8),
            Some(end) => end,
            None => self.rest.len(),
        };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

fn number(word: &str) -> Option<Number> {
    let word = word.strip_prefix('+').unwrap_or(word);
    serde_json::from_str(word).ok().or_else(|| Number::from_f64(word.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn reads(text: &str) -> Value {
        match read(text) {
            Lenient::Value(value) => value,
            Lenient::NotANumber => json!("not a number"),
            Lenient::Nothing => json!("nothing"),
        }
    }

    #[test]
    fn mends_what_models_write() {
        for (text, want) in [
            (r#"{"a": 1"#, json!({"a": 1})),
            (r#"{"a": "cut"#, json!({"a": "cut"})),
            (r#"{"a": {"b": [1, 2"#, json!({"a": {"b": [1, 2]}})),
            (r#"{"a": "x\u00e"#, json!({"a": "x00e"})),
            ("{\"a\": \"two\nlines\"}", json!({"a": "two\nlines"})),
            ("```json\n{'a': True, b: None,}\n```", json!({"a": true, "b": null})),
            (r#"{"a": 1 "b": 2}"#, json!({"a": 1, "b": 2})),
            (r#"{"a": .5, "c": +3}"#, json!({"a": 0.5, "c": 3})),
            (r#"{"a": "\ud83d\ude00"}"#, json!({"a": "😀"})),
            (r#"{"key"#, json!({})),
            (r#"{"n": NaN}"#, json!("not a number")),
            ("no object", json!("nothing")),
        ] {
            assert_eq!(reads(text), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reads_any_text_to_an_end(text in r#"[\{\}\[\],:"'\\ua1 \n“”#/*-]{0,60}|\PC{0,40}"#) {
            let _ = reads(&text);
        }

        #[test]
        fn reads_json_as_it_is(keys in proptest::collection::btree_map("[a-z]{1,5}", "[^“”]{0,12}", 0..5)) {
            let value = json!(keys);
            prop_assert_eq!(reads(&value.to_string()), value);
        }
    }
}
