//! What came out of a case, to be asserted on.

use serde_json::Value;

use crate::{
    case::Case,
    isolated::{Failure, run_isolated},
    normalise::normalise,
    pairing::{self, Unpaired},
    tags::Tags,
};

/// Runs a case, in a thread of its own and on a paused clock, and gives what came out in the words of the case files:
/// made-up ids numbered, built-in texts as tags.
///
/// # Errors
/// The case cannot be run, panics, or does not end.
pub fn record(case: Case) -> Result<Recording, Failure> {
    let calls = normalise(run_isolated(case)?, &Tags::of_cepa());
    Ok(Recording { calls: calls.into_iter().map(CallRecord).collect() })
}

/// What came out of a case.
#[derive(Clone, Debug)]
pub struct Recording {
    calls: Vec<CallRecord>,
}

/// What came out of one call.
#[derive(Clone, Debug)]
pub struct CallRecord(Value);

impl Recording {
    /// What came out of the call at this place.
    ///
    /// # Panics
    /// The case has no such call.
    pub fn call(&self, index: usize) -> &CallRecord {
        &self.calls[index]
    }

    /// Every model request of the case, in order.
    pub fn requests(&self) -> impl Iterator<Item = &Value> {
        self.calls.iter().flat_map(CallRecord::requests)
    }

    /// Checks every request: each call has exactly one result right after it, and arguments that parse.
    ///
    /// # Errors
    /// The first request that a server would refuse.
    pub fn check_pairing(&self) -> Result<(), Unpaired> {
        for (request, messages) in self.requests().enumerate() {
            pairing::check(list(&messages["messages"])).map_err(|reason| Unpaired { request, reason })?;
        }
        Ok(())
    }
}

impl CallRecord {
    /// The whole recording, in the form of the case files.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The events that the caller got.
    pub fn events(&self) -> &[Value] {
        list(&self.0["events"])
    }

    /// The types of the events.
    pub fn event_types(&self) -> Vec<&str> {
        self.events().iter().filter_map(|event| event["type"].as_str()).collect()
    }

    /// The events of one type.
    pub fn events_of(&self, event_type: &str) -> Vec<&Value> {
        self.events().iter().filter(|event| event["type"] == event_type).collect()
    }

    /// What the deltas of one type add up to: `TEXT_BLOCK_DELTA`, `TOOL_RESULT_TEXT_DELTA`, …
    pub fn deltas(&self, event_type: &str) -> String {
        self.events_of(event_type).iter().filter_map(|event| event["delta"].as_str()).collect()
    }

    /// Why the reply ended, as its last `REPLY_END` says.
    pub fn finished_reason(&self) -> Option<&str> {
        self.events_of("REPLY_END").last().and_then(|event| event["finished_reason"].as_str())
    }

    /// The kind of the error that reached the caller.
    pub fn error_kind(&self) -> Option<&str> {
        self.0["error"]["kind"].as_str()
    }

    /// The words of the error that reached the caller.
    pub fn error_message(&self) -> Option<&str> {
        self.0["error"]["message"].as_str()
    }

    /// What models, tools and layers did, one word each: `model main`, `tool f`, `check f`, `A on_reply enter`.
    pub fn trace(&self) -> Vec<String> {
        list(&self.0["trace"]).iter().map(step).collect()
    }

    /// The model requests.
    pub fn requests(&self) -> &[Value] {
        list(&self.0["model_requests"])
    }

    /// The spans, by their start.
    pub fn spans(&self) -> &[Value] {
        list(&self.0["spans"])
    }

    /// The state afterwards.
    pub fn state(&self) -> &Value {
        &self.0["state"]
    }

    /// The messages of the context.
    pub fn context(&self) -> &[Value] {
        list(&self.0["state"]["context"])
    }

    /// The blocks of all messages of the context.
    pub fn blocks(&self) -> impl Iterator<Item = &Value> {
        self.context().iter().flat_map(|message| list(&message["content"]))
    }

    /// The results of a tool call in the context.
    pub fn results_of(&self, tool_call_id: &str) -> Vec<&Value> {
        self.blocks().filter(|block| block["type"] == "tool_result" && block["id"] == tool_call_id).collect()
    }

    /// The reply's message.
    pub fn message(&self) -> &Value {
        &self.0["final_messages"][0]
    }

    /// The text of the reply's message.
    pub fn text(&self) -> String {
        text_of(&self.message()["content"])
    }
}

/// The texts of a text, of a block or of a list of blocks, put together.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(text_of).collect(),
        Value::Object(block) => block.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}

fn step(step: &Value) -> String {
    let word = |key: &str| step[key].as_str().unwrap_or_default();
    match step["core"].as_str() {
        Some("model") => format!("model {}", word("model")),
        Some("tool.check_permissions") => format!("check {}", word("tool")),
        Some(core) => format!("{core} {}", word("tool")),
        None => format!("{} {} {}", word("mw"), word("hook"), word("at")),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
