//! [`AuditLog`]: who called what, with which arguments and which result.

mod builder;
mod error;
mod file;
mod line;
mod record;
mod reply;
mod verify;
mod writer;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use cepa_core::{
    Acting, ActingInput, AgentEvent, CheckPermission, Cx, Error, EventKind, Middleware, MiddlewareKey, Msg,
    Next, OrderRule, PermissionBehavior, PermissionDecision, PermissionRequest, Reply, ReplyInput, Result,
    ToolChunk, ToolResponse, middleware,
};

pub use self::{
    builder::{AuditLogBuilder, Fsync, OnFailure},
    error::AuditError,
    verify::Verified,
};
use self::{
    record::{Event, Limits, Record, Scrub},
    reply::{Capture, OpenCall, ReplyLog, Rest, Who},
    writer::Writer,
};

/// Writes down who called which tool with which arguments, what was decided and what came of it: one JSON object a line,
/// each with the hash of the one before, so that a line that was changed, taken out or put in later is found
/// ([`AuditLog::verify`]).
///
/// A call has a line `call` before it runs and a line `result` after it, whether it succeeded, failed, was refused or was
/// cut off; a question and a refusal have a line `decision`. Lines are on their way before the call goes on: without the
/// line `call` it does not run (unless [`OnFailure::Warn`] is set). A crash may leave half a line, which the next line
/// names. Where the last agent with the log is dropped, that waits until all lines are written. Any number of agents,
/// `AuditLog`s and processes may write to one file; they take turns by a lock on `<file>.lock`.
///
/// | field | holds |
/// |---|---|
/// | `seq`, `prev`, `hash` | the number of the line, the hash of the line before, its own |
/// | `event` | `call`, `result`, `decision`, `recovered` |
/// | `at` | the time, in UTC |
/// | `who`, `agent`, `session`, `reply`, `call` | for whom, by which agent, where |
/// | `tool`, `arguments` | what was called; long ones are cut, with length and hash of the whole |
/// | `decision` | `behavior` and `message` of the permission, where there was one |
/// | `state`, `text`, `text_bytes`, `error`, `ms` | how it ended, the beginning of the result, its whole length, how long it took |
///
/// Put it inside of layers that change calls, so that it tells what has run. What layers outside take out of a result is in
/// the log all the same.
///
/// The chain shows changes to somebody who has kept a later hash ([`Verified::last_hash`]) elsewhere: whoever may write to
/// the file may also write all of it anew, or cut off its end. Arguments and results are written as they are: take out what
/// must not be kept with [`scrub_arguments`](AuditLogBuilder::scrub_arguments) and
/// [`scrub_result`](AuditLogBuilder::scrub_result).
///
/// ```
/// use cepa_core::{Agent, testing::{Answer, ScriptedModel, ScriptedTool}};
/// use cepa_guard::AuditLog;
/// use serde_json::json;
///
/// struct User(&'static str);
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("audit.jsonl");
/// let log = AuditLog::builder(&path).who(|user: &User| user.0).build()?;
/// let model = ScriptedModel::new([Answer::new().tool_call("pay", json!({"euros": 5})), Answer::new().text("Paid.")]);
/// let mut agent = Agent::builder("Friday").model(model).tool(ScriptedTool::echo("pay")).middleware(log).build()?;
/// agent.reply("Pay Bob").with(User("alice")).await?;
/// let lines = std::fs::read_to_string(&path)?;
/// assert!(lines.contains(r#""who":"alice""#) && lines.contains(r#""arguments":{"euros":5}"#));
/// assert_eq!(AuditLog::verify(&path)?.records, 2);
/// # Ok(()) }
/// ```
pub struct AuditLog {
    inner: Arc<Inner>,
    who: Option<Who>,
    write_ahead: bool,
}

/// What a call that is dropped still needs to write its last line.
pub(crate) struct Inner {
    writer: Writer,
    limits: Limits,
    scrub: Scrub,
    on_failure: OnFailure,
}

impl AuditLog {
    /// A log in this file, which is made if it is not there.
    pub fn builder(path: impl Into<PathBuf>) -> AuditLogBuilder {
        AuditLogBuilder::new(path.into())
    }

    /// Reads the whole log, rotated files first, and checks its chain. Half a line at its very end, as a crash leaves it, is
    /// no fault.
    ///
    /// # Errors
    /// [`AuditError::Broken`] with the first line that does not fit; files that cannot be read.
    pub fn verify(path: impl AsRef<Path>) -> Result<Verified, AuditError> {
        verify::verify(path.as_ref())
    }

    /// How many lines could not be written so far.
    pub fn lost(&self) -> u64 {
        self.inner.writer.lost()
    }

    /// Waits until everything that was logged so far is written.
    ///
    /// # Errors
    /// If the disk could not be told to keep it, or has not answered in time.
    pub async fn flush(&self) -> Result<(), AuditError> {
        self.inner.writer.flush().await
    }

    /// This log's notes on the reply at hand. Made in `on_reply`.
    fn notes(&self, scratch: &cepa_core::Scratch) -> Option<Arc<ReplyLog>> {
        ReplyLog::of(scratch, Arc::as_ptr(&self.inner) as usize)
    }
}

impl Inner {
    /// Hands a line over, at once; what is returned waits until it is written. An error only if failures are to be errors.
    fn write_bytes(&self, record: Vec<u8>) -> impl Future<Output = Result<()>> {
        let written = self.writer.write(record);
        async move {
            match written.await {
                Err(error) if self.on_failure == OnFailure::Error => Err(Error::other(error)),
                // The writer has warned.
                _ => Ok(()),
            }
        }
    }
}

#[middleware]
impl Middleware for AuditLog {
    fn key(&self) -> Option<MiddlewareKey> {
        None // keeps nothing in the session, so that several may stand in one agent
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of("ToolRetry", "outside, the attempts are logged as one call"),
            OrderRule::inside_of("BackgroundTools", "outside, it logs the placeholder and not the result"),
        ];
        RULES
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let who = self.who.as_ref().and_then(|who| who(&cx));
        let session = cx.state()?.session_id.to_string();
        let notes = Arc::new(ReplyLog::new(who, cx.agent_name().to_owned(), session));
        notes.clone().keep(cx.scratch(), Arc::as_ptr(&self.inner) as usize);
        let rest = Rest::new(self.inner.clone(), cx, notes.clone());
        let result = next
            .tap_shared(input, move |event: &mut AgentEvent| {
                if let EventKind::ToolResultEnd { tool_call_id, state, .. } = &event.kind {
                    notes.ended(tool_call_id, *state);
                }
            })
            .await;
        // Calls that never ran: refused, unknown, answered from outside.
        let written = rest.write().await;
        let message = result?;
        written.map(|()| message)
    }

    async fn on_check_permission(
        &self,
        cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> Result<PermissionDecision> {
        let call = request.tool_call.clone();
        let decision = next.run(request).await?;
        let Some(notes) = self.notes(cx.scratch()) else { return Ok(decision) };
        notes.decided(&call.id, &decision);
        if decision.behavior != PermissionBehavior::Allow {
            let reply = cx.reply_id()?.to_string();
            let arguments = self.inner.arguments(&call.name, &call.input);
            let record = Record {
                arguments: Some(&arguments),
                ..notes.record(Event::Decision, &reply, &call.id, &call.name)
            };
            let record = record.to_bytes();
            self.inner.write_bytes(record).await?;
        }
        Ok(decision)
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        let Some(notes) = self.notes(cx.scratch()) else { return next.run(input).await };
        let call = &input.tool_call;
        let mut open = OpenCall {
            inner: self.inner.clone(),
            arguments: self.inner.arguments(&call.name, &call.input),
            reply: notes.reply(|| cx.reply_id())?,
            call: call.id.clone(),
            tool: call.name.to_string(),
            capture: Capture::new(self.inner.limits.result),
            start: Instant::now(),
            notes,
            open: true,
            runs: !self.write_ahead,
        };
        if self.write_ahead {
            let record = open.record(Event::Call).to_bytes();
            // Without its line it does not run, and so has no result.
            self.inner.write_bytes(record).await.inspect_err(|_| open.open = false)?;
            open.runs = true;
        }
        let capture = open.capture.clone();
        let result = next.tap_shared(input, move |chunk: &mut ToolChunk| capture.add(chunk)).await;
        open.end(result).await
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("path", &self.inner.writer.path())
            .field("on_failure", &self.inner.on_failure)
            .finish_non_exhaustive()
    }
}
