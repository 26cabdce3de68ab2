//! Requests to models: strict, but for how a model is made to answer with an object.

use serde_json::{Value, json};

use super::{Comparison, Outcome};

const INSTRUCTION: &str = "<<prompt:structured_output_instruction>>";

impl Comparison {
    pub(super) fn requests(&mut self, expected: &[Value], got: &[Value]) -> Outcome {
        let [expected, got] = [expected, got].map(comparable);
        self.same.lists("model_requests", &expected, &got)
    }
}

/// Of consecutive tries to get an object only the first counts, by model, purpose and messages.
fn comparable(requests: &[Value]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::with_capacity(requests.len());
    for request in requests {
        if request["purpose"] != "structured" {
            out.push(request.clone());
            continue;
        }
        let messages: Vec<Value> =
            request["messages"].as_array().into_iter().flatten().filter_map(without_instruction).collect();
        let request = json!({"model": request["model"], "purpose": "structured", "messages": messages});
        if out.last() != Some(&request) {
            out.push(request);
        }
    }
    out
}

/// `None` for a message that was nothing but the instruction.
fn without_instruction(message: &Value) -> Option<Value> {
    let mut message = message.clone();
    if let Some(blocks) = message["content"].as_array_mut() {
        let all = blocks.len();
        blocks.retain(|block| block["text"] != INSTRUCTION);
        if blocks.is_empty() && all > 0 {
            return None;
        }
    }
    Some(message)
}
