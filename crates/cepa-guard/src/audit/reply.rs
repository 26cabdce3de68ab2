//! What is known of a reply, and of a call while it runs.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};

use cepa_core::{
    Cx, Id, OutputBlock, PermissionBehavior, PermissionDecision, Reply, Result, Scratch, ToolChunk,
    ToolResponse, ToolResultState,
};
use serde_json::Value;

use super::{
    Inner,
    record::{Decision, Event, Record},
};

/// Reads from a reply's context for whom it works.
pub(super) type Who = Arc<dyn Fn(&Cx<Reply>) -> Option<Value> + Send + Sync>;

/// What one log knows of one reply.
pub(super) struct ReplyLog {
    who: Option<Value>,
    agent: String,
    session: String,
    /// The reply's id, once a call has run: further attempts in the background outlast the reply.
    reply: OnceLock<String>,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    decisions: HashMap<Id, Decision>,
    /// Whose result is written already.
    written: HashSet<Id>,
    /// Those that ended without having run.
    rest: Vec<(Id, ToolResultState)>,
}

/// The notes of each log of an agent, by its address.
#[derive(Clone, Default)]
struct Notes(Vec<(usize, Arc<ReplyLog>)>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReplyLog {
    pub(super) fn new(who: Option<Value>, agent: String, session: String) -> Self {
        Self { who, agent, session, reply: OnceLock::new(), calls: Mutex::default() }
    }

    pub(super) fn keep(self: Arc<Self>, scratch: &Scratch, log: usize) {
        scratch.update(|Notes(list)| {
            list.retain(|(of, _)| *of != log);
            list.push((log, self));
        });
    }

    pub(super) fn of(scratch: &Scratch, log: usize) -> Option<Arc<Self>> {
        let Notes(list) = scratch.get()?;
        list.into_iter().find(|(of, _)| *of == log).map(|(_, notes)| notes)
    }

    /// The reply's id: kept from what this reads it by for the first time.
    pub(super) fn reply(&self, read: impl FnOnce() -> Result<Id>) -> Result<String> {
        if let Some(reply) = self.reply.get() {
            return Ok(reply.clone());
        }
        let reply = read()?.to_string();
        Ok(self.reply.get_or_init(|| reply).clone())
    }

    pub(super) fn decided(&self, call: &Id, decision: &PermissionDecision) {
        let behavior = match decision.behavior {
            PermissionBehavior::Allow => "allow",
            PermissionBehavior::Deny => "deny",
            _ => "ask",
        };
        let decision =
            Decision { behavior, message: super::record::head(&decision.message, 1024).to_owned() };
        lock(&self.calls).decisions.insert(call.clone(), decision);
    }

    pub(super) fn ended(&self, call: &Id, state: ToolResultState) {
        let mut calls = lock(&self.calls);
        if !calls.written.contains(call) {
            calls.rest.push((call.clone(), state));
        }
    }

    pub(super) fn record<'a>(&'a self, event: Event, reply: &'a str, call: &Id, tool: &'a str) -> Record<'a> {
        Record {
            event,
            at: jiff::Timestamp::now().to_string(),
            who: self.who.as_ref(),
            agent: &self.agent,
            session: &self.session,
            reply,
            call: call.to_string(),
            tool,
            arguments: None,
            decision: lock(&self.calls).decisions.get(call).cloned(),
            state: None,
            text: None,
            text_bytes: None,
            error: None,
            ms: None,
        }
    }
}

fn state_name(state: ToolResultState) -> &'static str {
    match state {
        ToolResultState::Error => "error",
        ToolResultState::Interrupted => "interrupted",
        ToolResultState::Denied => "denied",
        _ => "success",
    }
}

/// The beginning of a result on its way out, and its length.
#[derive(Clone)]
pub(super) struct Capture(Arc<Mutex<(String, usize)>>, usize);

impl Capture {
    pub(super) fn new(limit: usize) -> Self {
        Self(Arc::default(), limit)
    }

    pub(super) fn add(&self, chunk: &ToolChunk) {
        for block in &chunk.content {
            if let OutputBlock::Text(block) = block {
                let mut captured = lock(&self.0);
                captured.1 += block.text.len();
                // More than is written, so that a scrub sees what the limit cuts in two.
                let room = (self.1 + 1024).saturating_sub(captured.0.len());
                captured.0.push_str(super::record::head(&block.text, room));
            }
        }
    }
}

/// A call that runs. However it ends, its result is written.
pub(super) struct OpenCall {
    pub(super) inner: Arc<Inner>,
    pub(super) notes: Arc<ReplyLog>,
    pub(super) reply: String,
    pub(super) call: Id,
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) capture: Capture,
    pub(super) start: Instant,
    pub(super) open: bool,
    /// Whether it has got beyond its first line.
    pub(super) runs: bool,
}

impl OpenCall {
    pub(super) fn record(&self, event: Event) -> Record<'_> {
        let record = self.notes.record(event, &self.reply, &self.call, &self.tool);
        Record { arguments: Some(&self.arguments), ..record }
    }

    fn result(&self, state: &'static str, error: Option<String>) -> Record<'_> {
        let (text, bytes) = lock(&self.capture.0).clone();
        let text = self.inner.text(&self.tool, text);
        Record {
            state: Some(state),
            text: Some(text),
            text_bytes: Some(bytes),
            error: error.map(|error| self.inner.text(&self.tool, error)),
            ms: Some(self.start.elapsed().as_millis() as u64),
            ..self.record(Event::Result)
        }
    }

    pub(super) async fn end(mut self, result: Result<ToolResponse>) -> Result<ToolResponse> {
        let record = match &result {
            Ok(response) => self.result(state_name(response.state), None),
            Err(error) => self.result("error", Some(error.to_string())),
        };
        let bytes = record.to_bytes();
        drop(record);
        self.open = false;
        lock(&self.notes.calls).written.insert(self.call.clone());
        let written = self.inner.write_bytes(bytes).await;
        // The first error is the one that counts.
        let response = result?;
        written.map(|()| response)
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        if self.open {
            lock(&self.notes.calls).written.insert(self.call.clone());
            let error = if self.runs { "given up before its end" } else { "given up before it ran" };
            let error = Some(error.to_owned());
            self.inner.writer.send(self.result("interrupted", error).to_bytes());
        }
    }
}

/// The calls of a reply that ended without having run. However the reply ends, they are written.
pub(super) struct Rest {
    inner: Arc<Inner>,
    cx: Cx<Reply>,
    notes: Arc<ReplyLog>,
}

impl Rest {
    pub(super) fn new(inner: Arc<Inner>, cx: Cx<Reply>, notes: Arc<ReplyLog>) -> Self {
        Self { inner, cx, notes }
    }

    pub(super) async fn write(self) -> Result<()> {
        let lines = self.lines();
        let inner = self.inner.clone();
        drop(self);
        // All of them, before anything is waited for.
        let written: Vec<_> = lines.into_iter().map(|line| inner.write_bytes(line)).collect();
        let mut result = Ok(());
        for written in written {
            result = result.and(written.await);
        }
        result
    }

    /// Takes what is still to be written.
    fn lines(&self) -> Vec<Vec<u8>> {
        let rest = std::mem::take(&mut lock(&self.notes.calls).rest);
        rest.iter().map(|(call, state)| self.line(call, *state)).collect()
    }

    fn line(&self, id: &Id, state: ToolResultState) -> Vec<u8> {
        let mut reply = String::new();
        let (mut tool, mut arguments, mut text) = (String::new(), None, None);
        // Without the state the line still says that the call has ended.
        if let Ok(session) = self.cx.state() {
            reply = session.reply_id().to_string();
            let mut messages = session.context.iter().rev();
            if let Some(message) = messages.find(|message| message.tool_call(id).is_some())
                && let Some(call) = message.tool_call(id)
            {
                tool = call.name.to_string();
                arguments = Some(self.inner.arguments(&call.name, &call.input));
                text = message.tool_result(id).map(|result| result.output.text().into_owned());
            }
        }
        let bytes = text.as_ref().map(String::len);
        let text = text.map(|text| self.inner.text(&tool, text));
        let record = self.notes.record(Event::Result, &reply, id, &tool);
        let state = Some(state_name(state));
        Record { arguments: arguments.as_ref(), state, text, text_bytes: bytes, ..record }.to_bytes()
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        for line in self.lines() {
            self.inner.writer.send(line);
        }
    }
}
