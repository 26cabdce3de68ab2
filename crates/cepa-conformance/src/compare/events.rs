//! Events: strict in order and fields, with a few freedoms.

use serde_json::Value;

use super::{Comparison, Difference, Outcome};

impl Comparison {
    /// `failed`: the kind of error the call ended with.
    pub(super) fn events(&mut self, expected: &[Value], got: &[Value], failed: Option<&str>) -> Outcome {
        let expected = in_the_order_of_calls(expected);
        if self.speech && failed.is_none() {
            return self.with_speech(&expected, got);
        }
        let Some(kind) = failed else { return self.same.lists("events", &expected, got) };
        // What was recorded is a prefix: Cepa closes what is open and says how the reply ended.
        let (told, rest) = got.split_at(expected.len().min(got.len()));
        self.same.lists("events", &expected, told)?;
        closing(&expected, rest, kind)
            .map_err(|at| Difference::new(format!("events[{}]", told.len() + at), None, rest.get(at)))
    }

    /// The data blocks of speech have an order of their own, somewhere between the text they speak and the reply's
    /// end.
    fn with_speech(&mut self, expected: &[Value], got: &[Value]) -> Outcome {
        let [(expected_speech, expected_rest), (got_speech, got_rest)] = [expected, got].map(|events| {
            events.iter().cloned().partition::<Vec<_>, _>(|event| kind(event).starts_with("DATA_BLOCK_"))
        });
        self.same.lists("events(without data)", &expected_rest, &got_rest)?;
        self.same.lists("events(data only)", &expected_speech, &got_speech)?;
        let is_speech = |event: &Value| kind(event).starts_with("DATA_BLOCK_");
        let mut texts = 0;
        let mut ended = false;
        for (index, event) in got.iter().enumerate() {
            match kind(event) {
                "TEXT_BLOCK_START" => texts += 1,
                "REPLY_END" => ended = true,
                _ if is_speech(event) && (texts == 0 || ended) => {
                    return Err(Difference::new(format!("events[{index}]"), None, Some(event)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether `rest` only closes what `told` left open and ends the reply. `Err` is the index of the event that does
/// not, or of the one that is missing.
fn closing(told: &[Value], rest: &[Value], error_kind: &str) -> Result<(), usize> {
    let has_ended = |events: &[Value]| events.iter().any(|event| kind(event) == "REPLY_END");
    let is_end = |event: &Value| {
        let reason = event["finished_reason"].as_str();
        reason == Some("error") || (error_kind == "interrupted" && reason == Some("interrupted"))
    };
    for (index, event) in rest.iter().enumerate() {
        let fits = match kind(event) {
            "TEXT_BLOCK_END" | "THINKING_BLOCK_END" | "DATA_BLOCK_END" => {
                is_open(told, event, "block_id", "_BLOCK_START", "_BLOCK_END")
            }
            "TOOL_CALL_END" => is_open(told, event, "tool_call_id", "TOOL_CALL_START", "TOOL_CALL_END"),
            "TOOL_RESULT_START" | "TOOL_RESULT_TEXT_DELTA" | "TOOL_RESULT_END" => {
                is_open(told, event, "tool_call_id", "TOOL_CALL_START", "TOOL_RESULT_END")
                    || is_open(told, event, "tool_call_id", "TOOL_RESULT_START", "TOOL_RESULT_END")
            }
            "REPLY_END" => is_end(event) && !has_ended(told) && index + 1 == rest.len(),
            _ => false,
        };
        if !fits {
            return Err(index);
        }
    }
    let must_end = !told.is_empty() && !has_ended(told);
    if must_end && !has_ended(rest) { Err(rest.len()) } else { Ok(()) }
}

/// Whether `told` began what `event` is about and did not end it.
fn is_open(told: &[Value], event: &Value, id: &str, start: &str, end: &str) -> bool {
    let about = |suffix: &str| {
        told.iter().any(|told| kind(told).ends_with(suffix) && told[id] == event[id] && event[id].is_string())
    };
    about(start) && !about(end)
}

/// Ends of tool calls that one chunk closed stand in the order of the calls.
fn in_the_order_of_calls(events: &[Value]) -> Vec<Value> {
    let mut events = events.to_vec();
    let starts: Vec<Value> = events
        .iter()
        .filter(|event| kind(event) == "TOOL_CALL_START")
        .map(|e| e["tool_call_id"].clone())
        .collect();
    let place = |event: &Value| starts.iter().position(|id| *id == event["tool_call_id"]);
    for run in events.chunk_by_mut(|a, b| kind(a) == "TOOL_CALL_END" && kind(b) == "TOOL_CALL_END") {
        if run.len() > 1 {
            run.sort_by_key(place);
        }
    }
    events
}

fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}
