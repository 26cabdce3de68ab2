//! Whether two recordings of a case say the same.
//!
//! Both sides are in the form of the case files. What counts is strict; the few freedoms an implementation has are
//! written down here, one by one.

mod events;
mod memory;
mod requests;
mod same;
mod spans;
mod trace;

use std::fmt;

use serde_json::Value;

use self::same::Same;

/// Where two recordings part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// Where: the part of the recording, and the way into it.
    pub(crate) path: String,
    /// What must be there; `None` for nothing.
    pub(crate) expected: Option<Value>,
    /// What is there; `None` for nothing.
    pub(crate) got: Option<Value>,
}

/// The outcome of a comparison.
pub(crate) type Outcome = Result<(), Box<Difference>>;

impl Difference {
    fn new(path: impl Into<String>, expected: Option<&Value>, got: Option<&Value>) -> Box<Self> {
        Box::new(Self { path: path.into(), expected: expected.cloned(), got: got.cloned() })
    }

    fn at_call(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.path = format!("calls[{index}].{}", self.path);
        self
    }
}

/// The longest a value is in the one line of a difference.
const SHORT: usize = 160;

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (expected, got) = (shortened(self.expected.as_ref()), shortened(self.got.as_ref()));
        write!(f, "{}: expected {expected}, got {got}", self.path)
    }
}

fn shortened(value: Option<&Value>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Compares the recordings of all calls of a case.
///
/// # Errors
/// The first difference.
pub(crate) fn compare(area: &str, expected: &[Value], got: &[Value]) -> Outcome {
    if memory::is_there(got) {
        let comparable =
            |calls: &[Value]| -> Vec<_> { calls.iter().cloned().map(memory::comparable).collect() };
        let [expected, got] = [expected, got].map(comparable);
        return compare_calls(area, &expected, &got);
    }
    compare_calls(area, expected, got)
}

fn compare_calls(area: &str, expected: &[Value], got: &[Value]) -> Outcome {
    let mut comparison =
        Comparison { same: Same::default(), speech: matches!(area, "tts" | "combined"), summed_up: false };
    for (index, expected) in expected.iter().enumerate() {
        let Some(got) = got.get(index) else {
            return Err(Difference::new(format!("calls[{index}]"), Some(expected), None));
        };
        comparison.call(expected, got).map_err(|difference| difference.at_call(index))?;
    }
    match got.get(expected.len()) {
        Some(more) => Err(Difference::new(format!("calls[{}]", expected.len()), None, Some(more))),
        None => Ok(()),
    }
}

struct Comparison {
    same: Same,
    /// Speech runs beside the text: the position of its data is free.
    speech: bool,
    /// A request for an object was made: its tokens belong to the reply in Cepa, so usage is not compared from then
    /// on.
    summed_up: bool,
}

impl Comparison {
    fn call(&mut self, expected: &Value, got: &Value) -> Outcome {
        self.note_structured_requests(expected);
        let failed = self.error(&expected["error"], &got["error"])?;
        self.events(items(&expected["events"]), items(&got["events"]), failed.as_deref())?;
        self.trace(items(&expected["trace"]), items(&got["trace"]))?;
        self.requests(items(&expected["model_requests"]), items(&got["model_requests"]))?;
        if failed.is_none() {
            self.messages(
                "final_messages",
                items(&expected["final_messages"]),
                items(&got["final_messages"]),
            )?;
        }
        self.state(&expected["state"], &got["state"])?;
        let [calls, got_calls] = [expected, got].map(|call| without_embedding(items(&call["backend"])));
        self.same.lists("backend", &calls, &got_calls)?;
        let part = "middleware_tools";
        self.same.lists(part, items(&expected[part]), items(&got[part]))?;
        self.spans(items(&expected["spans"]), items(&got["spans"]))?;
        if failed.is_none() {
            let part = "rebuilt_from_events";
            let [expected, got] = [&expected[part], &got[part]].map(|message| self.speech_last(message));
            self.same.values(part, &expected, &got)?;
        }
        Ok(())
    }

    /// A message that is rebuilt from events has its speech where the events had it: its position is free there too.
    fn speech_last(&self, message: &Value) -> Value {
        let mut message = message.clone();
        if let Some(blocks) = message["content"].as_array_mut().filter(|_| self.speech) {
            blocks.sort_by_key(|block| block["type"] == "data");
        }
        message
    }

    /// Errors are the same if they are of one kind. Returns the kind, if the call failed.
    fn error(&self, expected: &Value, got: &Value) -> Result<Option<String>, Box<Difference>> {
        let kind = match expected["kind"].as_str() {
            // An interrupt that is raised has a kind of its own here.
            Some(_) if expected["type"] == "CancelledError" => Some("interrupted"),
            kind => kind,
        };
        let difference = || Difference::new("error", some(expected), some(got));
        if kind != got["kind"].as_str() {
            return Err(difference());
        }
        // A scripted message must have come through.
        let said = |error: &Value| error["message"].as_str().unwrap_or_default().to_owned();
        if kind == Some("scripted") && !said(got).contains(&said(expected)) {
            return Err(difference());
        }
        Ok(kind.map(str::to_owned))
    }

    fn state(&mut self, expected: &Value, got: &Value) -> Outcome {
        self.messages("state.context", items(&expected["context"]), items(&got["context"]))?;
        let without_context = |state: &Value| {
            let mut state = state.clone();
            state.as_object_mut().map(|fields| fields.remove("context"));
            state
        };
        self.same.values("state", &without_context(expected), &without_context(got))
    }

    fn messages(&mut self, path: &str, expected: &[Value], got: &[Value]) -> Outcome {
        let [expected, got] = [expected, got].map(|messages| self.without_summed_up_usage(messages));
        self.same.lists(path, &expected, &got)
    }

    fn without_summed_up_usage(&self, messages: &[Value]) -> Vec<Value> {
        let mut messages = messages.to_vec();
        for message in &mut messages {
            if self.summed_up
                && let Some(fields) = message.as_object_mut()
            {
                fields.remove("usage");
            }
        }
        messages
    }

    fn note_structured_requests(&mut self, call: &Value) {
        self.summed_up |=
            items(&call["model_requests"]).iter().any(|request| request["purpose"] == "structured");
    }
}

/// AgentScope runs ReMe in its own process: it gives it a model and starts it. In Cepa it is a service that runs already;
/// what counts is which jobs are run.
fn without_embedding(calls: &[Value]) -> Vec<Value> {
    calls.iter().filter(|call| call["backend"] != "reme" || call["op"] == "job").cloned().collect()
}

fn some(value: &Value) -> Option<&Value> {
    (!value.is_null()).then_some(value)
}

/// The items of a list; none for a list that is not there.
fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
