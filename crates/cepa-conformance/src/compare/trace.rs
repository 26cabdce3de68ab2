//! The trace: strict, but for how an error is called and when a stream that nobody reads is closed.

use serde_json::Value;

use super::{Comparison, Outcome};

impl Comparison {
    pub(super) fn trace(&mut self, expected: &[Value], got: &[Value]) -> Outcome {
        let [expected, got] = [expected, got].map(comparable);
        self.same.lists("trace", &expected.steps, &got.steps)?;
        self.same.lists("trace(closed)", &expected.closed, &got.closed)
    }
}

struct Trace {
    steps: Vec<Value>,
    /// Where a layer was dropped: that it was counts, not when.
    closed: Vec<Value>,
}

fn comparable(trace: &[Value]) -> Trace {
    let mut steps: Vec<Value> = Vec::with_capacity(trace.len());
    let mut closed = Vec::new();
    for step in trace {
        let mut step = step.clone();
        let at = step["at"].as_str().unwrap_or_default().to_owned();
        match at.split(' ').next() {
            Some("closed") => {
                closed.push(step);
                continue;
            }
            // By class in the recordings, of one type here.
            Some(what @ ("error" | "caught")) => step["at"] = what.into(),
            // The core returns normally when a reply is interrupted.
            Some("cancelled") => step["at"] = "exit".into(),
            _ => {}
        }
        let tried_again = step["purpose"] == "structured" && steps.last() == Some(&step);
        if !tried_again {
            steps.push(step);
        }
    }
    closed.sort_by_key(Value::to_string);
    Trace { steps, closed }
}
