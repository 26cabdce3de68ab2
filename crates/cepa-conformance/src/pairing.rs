//! Whether calls and results in a request belong together.

use serde_json::Value;

/// A request in which a call and its result do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("request {request}: {reason}")]
pub struct Unpaired {
    /// The request, counted from 0 over the whole recording.
    pub request: usize,
    /// What is wrong.
    pub reason: String,
}

/// What servers ask for: each call has exactly one result, in the same message or right after it, before anybody else
/// speaks; and its arguments are JSON.
pub(crate) fn check(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for message in messages {
        if message["role"] != "assistant" && !open.is_empty() {
            return Err(format!("somebody else speaks before the result of {open:?}"));
        }
        let mut answering = false;
        for block in message["content"].as_array().into_iter().flatten() {
            let id = block["id"].as_str().unwrap_or_default();
            match block["type"].as_str() {
                Some("tool_call") => {
                    if answering && !open.is_empty() {
                        return Err(format!("call {id} comes before the result of {open:?}"));
                    }
                    if seen.contains(&id) {
                        return Err(format!("two calls have the id {id:?}"));
                    }
                    let input = block["input"].as_str().unwrap_or_default();
                    if !matches!(serde_json::from_str(input), Ok(Value::Object(_))) {
                        return Err(format!("the arguments of call {id} are not JSON: {input}"));
                    }
                    answering = false;
                    seen.push(id);
                    open.push(id);
                }
                Some("tool_result") => {
                    let Some(place) = open.iter().position(|call| *call == id) else {
                        return Err(format!("result {id} has no open call before it"));
                    };
                    open.swap_remove(place);
                    answering = true;
                }
                Some(kind) if answering && !open.is_empty() => {
                    return Err(format!("a block of type {kind} comes before the result of {open:?}"));
                }
                _ => {}
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("no result of {open:?}")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, input: &str) -> Value {
        json!({"type": "tool_call", "id": id, "input": input})
    }

    fn result(id: &str) -> Value {
        json!({"type": "tool_result", "id": id})
    }

    fn assistant(blocks: Value) -> Value {
        json!({"role": "assistant", "content": blocks})
    }

    #[test]
    fn results_follow_their_calls_in_any_order_and_in_any_number_of_rounds() {
        let text = json!({"type": "text", "text": "a"});
        let round = [text.clone(), call("1", "{}"), call("2", "{}"), result("2"), result("1"), text];
        let split = [assistant(json!([call("3", r#"{"a":1}"#)])), assistant(json!([result("3")]))];
        let user = json!({"role": "user", "content": []});
        assert_eq!(check(&[&[user.clone(), assistant(json!(round))][..], &split, &[user]].concat()), Ok(()));
    }

    #[test]
    fn what_a_server_would_refuse_is_found() {
        let user = json!({"role": "user", "content": []});
        let (one, two) = (call("1", "{}"), call("2", "{}"));
        let text = json!({"type": "text", "text": "a"});
        let cases = [
            (vec![assistant(json!([one]))], "no result"),
            (vec![assistant(json!([one])), user, assistant(json!([result("1")]))], "somebody else"),
            (vec![assistant(json!([result("1")]))], "no open call"),
            (vec![assistant(json!([one, result("1"), result("1")]))], "no open call"),
            (vec![assistant(json!([one, result("1"), one, result("1")]))], "two calls"),
            (vec![assistant(json!([one, two, result("1"), text, result("2")]))], "a block of type text"),
            (vec![assistant(json!([call("1", "{"), result("1")]))], "not JSON"),
        ];
        for (messages, expected) in cases {
            let reason = check(&messages).unwrap_err();
            assert!(reason.contains(expected), "{messages:?}: {reason}");
        }
    }
}
