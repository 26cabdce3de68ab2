//! What these tests share: reading a case, running it, and what is asked of every recording.

use std::path::PathBuf;

use cepa_conformance::{CallRecord, Case, Failure, Recording, record, text_of};
use serde_json::Value;

/// The folder of the cases.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("better")
}

/// The case of this name (`area/what`).
pub(crate) fn case(name: &str) -> Case {
    Case::load(folder().join(format!("{}.json", name.replace('/', "__")))).unwrap()
}

/// What comes out of a case. Every request must be one that servers take.
#[track_caller]
pub(crate) fn run(case: Case) -> Recording {
    let recording = record(case).unwrap();
    assert_paired(&recording);
    recording
}

/// Why the agent of a case cannot be built.
#[track_caller]
pub(crate) fn refusal(case: Case) -> String {
    match record(case) {
        Err(Failure::Run(error)) => error.to_string(),
        other => panic!("the agent was built: {other:?}"),
    }
}

/// Before each model request: exactly one result per call, right after it, with arguments that parse.
#[track_caller]
pub(crate) fn assert_paired(recording: &Recording) {
    if let Err(unpaired) = recording.check_pairing() {
        panic!("{unpaired}");
    }
}

/// The call's one result in the context, as its state and its text. It must be the one that the user saw end, too.
#[track_caller]
pub(crate) fn result<'a>(call: &'a CallRecord, tool_call_id: &str) -> (&'a str, String) {
    let results = call.results_of(tool_call_id);
    assert_eq!(results.len(), 1, "results of {tool_call_id}: {results:?}");
    let state = results[0]["state"].as_str().unwrap();
    let ends: Vec<_> = call.events_of("TOOL_RESULT_END");
    let ends: Vec<_> = ends.iter().filter(|end| end["tool_call_id"] == tool_call_id).collect();
    assert_eq!(ends.len(), 1, "ends of {tool_call_id}: {ends:?}");
    assert_eq!(ends[0]["state"], state);
    (state, text_of(&results[0]["output"]))
}

/// How many times this step is in the trace.
pub(crate) fn count(call: &CallRecord, step: &str) -> usize {
    call.trace().iter().filter(|one| *one == step).count()
}

/// The texts of a request's messages, one by one, without the system prompt.
pub(crate) fn asked(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["role"] != "system").map(|m| text_of(&m["content"])).collect()
}

/// The system prompt of a request.
pub(crate) fn system_prompt(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let prompts: Vec<_> = messages.iter().filter(|message| message["role"] == "system").collect();
    assert_eq!(prompts.len(), 1, "{prompts:?}");
    text_of(&prompts[0]["content"])
}

/// The events but for one type of a plain answer of one text, as users see it.
pub(crate) const PLAIN: [&str; 7] = [
    "REPLY_START",
    "MODEL_CALL_START",
    "TEXT_BLOCK_START",
    "TEXT_BLOCK_DELTA",
    "TEXT_BLOCK_END",
    "MODEL_CALL_END",
    "REPLY_END",
];

/// The message of the user at the end of a context, and what the agent said to it.
pub(crate) fn said(call: &CallRecord) -> Vec<String> {
    call.context().iter().map(|message| text_of(&message["content"])).collect()
}

/// The tokens of a usage, as input and output.
pub(crate) fn tokens(usage: &Value) -> (u64, u64) {
    (usage["input_tokens"].as_u64().unwrap_or(0), usage["output_tokens"].as_u64().unwrap_or(0))
}
