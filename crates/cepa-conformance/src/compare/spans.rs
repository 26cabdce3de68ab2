//! Spans: strict, but that there may be more attributes than the recorded ones.

use serde_json::Value;

use super::{Comparison, Difference, Outcome, items};

/// What is compared as it is. The scope is not: it is the user's tracer.
const STRICT: [&str; 5] = ["name", "trace", "parent", "kind", "status"];

impl Comparison {
    pub(super) fn spans(&mut self, expected: &[Value], got: &[Value]) -> Outcome {
        for index in 0..expected.len().max(got.len()) {
            let path = format!("spans[{index}]");
            match (expected.get(index), got.get(index)) {
                (Some(expected), Some(got)) => self.span(&path, expected, got)?,
                (expected, got) => return Err(Difference::new(path, expected, got)),
            }
        }
        Ok(())
    }

    fn span(&mut self, path: &str, expected: &Value, got: &Value) -> Outcome {
        for key in STRICT {
            self.same.values(&format!("{path}.{key}"), &expected[key], &got[key])?;
        }
        self.same.at_least(&format!("{path}.attributes"), &expected["attributes"], &got["attributes"])?;
        // Their types are classes of Python.
        let [all, found] = [expected, got].map(|span| items(&span["exceptions"]).len());
        self.same.values(&format!("{path}.exceptions"), &all.into(), &found.into())
    }
}
