//! Taking out of JSON what nobody should see.

use std::collections::HashMap;

use cepa_core::serde_json::{Map, Value};

use crate::capture::Capture;

/// Each string, key and number of a value as it may be seen.
pub(super) fn redact(capture: &Capture, value: &mut Value) {
    match value {
        Value::String(text) => *text = capture.redacted(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(capture, item)),
        Value::Object(fields) => redact_fields(capture, fields),
        Value::Number(number) => {
            let text = number.to_string();
            let redacted = capture.redacted(&text);
            if redacted != text {
                *value = Value::String(redacted.into_owned());
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn redact_fields(capture: &Capture, fields: &mut Map<String, Value>) {
    // Keys that become the same are numbered, so that no value is lost.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (key, mut value) in std::mem::take(fields) {
        redact(capture, &mut value);
        let redacted = capture.redacted(&key).into_owned();
        let number = numbers.entry(redacted.clone()).or_insert(0);
        let mut free = redacted.clone();
        while fields.contains_key(&free) {
            *number += 1;
            free = format!("{redacted} ({number})");
        }
        fields.insert(free, value);
    }
}

#[cfg(test)]
mod tests {
    use cepa_core::serde_json::json;

    use super::*;

    #[test]
    fn strings_keys_and_numbers_pass_and_no_value_is_lost() {
        let capture = Capture::full().redact(|text| text.replace("ACME", "X").replace("4915", "N"));
        let mut value = json!({"ACME": [4915112, 7, 1.5, true, null, "ACME"], "X": {"ACME": 1}, "y": "z"});
        redact(&capture, &mut value);
        assert_eq!(value, json!({"X": ["N112", 7, 1.5, true, null, "X"], "X (1)": {"X": 1}, "y": "z"}));
    }

    #[test]
    fn many_keys_that_become_the_same_stay_many() {
        let capture = Capture::full().redact(|_| "X".into());
        let mut value: Value =
            (0..20_000).map(|key| (key.to_string(), json!(true))).collect::<Map<_, _>>().into();
        redact(&capture, &mut value);
        assert_eq!(value.as_object().unwrap().len(), 20_000);
    }
}
