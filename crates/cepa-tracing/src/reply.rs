//! The span of a reply: `invoke_agent`.

use std::sync::{Arc, Mutex, PoisonError};

use cepa_core::{
    AgentEvent, Cx, EventKind, Inputs, Msg, Next, Reply, ReplyFinishedReason, ReplyInput, Result,
    ToolCallBlock, chain::AgentHook, serde_json,
};
use opentelemetry::KeyValue;
use tracing::{Instrument as _, Span, field::Empty, info_span, record_all};

use crate::{TracingMiddleware, content::Writer, link, names, span::Open};

/// What an agent is, where it does not say so itself.
const DESCRIPTION: &str = "A reasoning-acting agent with its layers";

impl TracingMiddleware {
    pub(crate) async fn reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let attributes = vec![
            KeyValue::new(names::OPERATION_NAME, "invoke_agent"),
            KeyValue::new(names::AGENT_NAME, cx.agent_name().to_owned()),
        ];
        let mut open = Open::new(self.reply_span(&cx, &input)?, self.instruments(), attributes);
        let shared = Shared::new(&cx, &open.span);
        self.external_results(&cx, &open.span, &input.inputs)?;
        // Of interest to who draws the onion; as a rule to nobody.
        open.span.in_scope(|| tracing::trace!(target: "cepa_tracing::onion", onion = %cx.onion()));

        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let watch = {
            let (waiting, cx, span) = (waiting.clone(), cx.clone(), open.span.clone());
            move |event: &mut AgentEvent| note_waiting(&waiting, &cx, &span, event)
        };
        let result = next.tap_shared(input, watch).instrument(open.span.clone()).await;
        drop(shared);
        match &result {
            Ok(msg) => self.end_reply(&mut open, msg),
            Err(error) => open.fail_with(error, &self.capture),
        }
        result
    }

    fn reply_span(&self, cx: &Cx<Reply>, input: &ReplyInput) -> Result<Span> {
        let reply_id = cx.reply_id()?.to_string();
        let session_id = cx.state()?.session_id.to_string();
        let (session_id, reply_id) = (session_id.as_str(), reply_id.as_str());
        let input_messages = match &input.inputs {
            Inputs::Messages(messages) => {
                Writer::new(&self.capture).map(|mut writer| writer.messages(messages))
            }
            _ => None,
        };
        let incoming = match &input.inputs {
            Inputs::UserConfirmResult(_) => Some("user_confirm_result"),
            Inputs::ExternalExecutionResult(_) => Some("external_execution_result"),
            Inputs::UserInterrupt(_) => Some("user_interrupt"),
            _ => None,
        };
        let output_type = input.structured_schema.as_ref().map(|_| "json");
        let agent_name = cx.agent_name();
        let span = info_span!(
            target: "cepa_tracing",
            "invoke_agent",
            otel.name = %format_args!("invoke_agent {agent_name}"),
            otel.status_code = Empty,
            otel.status_description = Empty,
            { names::OPERATION_NAME } = "invoke_agent",
            { names::AGENT_NAME } = agent_name,
            { names::AGENT_DESCRIPTION } = DESCRIPTION,
            { names::CONVERSATION_ID } = session_id,
            { names::REPLY_ID } = reply_id,
            { names::INCOMING_EVENT_TYPE } = incoming,
            { names::OUTPUT_TYPE } = output_type,
            { names::INPUT_MESSAGES } = input_messages.as_deref(),
            { names::OUTPUT_MESSAGES } = Empty,
            { names::HITL_PENDING_TOOLS } = Empty,
            { names::EXTERNAL_EXECUTION_PENDING_TOOLS } = Empty,
            { names::INPUT_TOKENS } = Empty,
            { names::OUTPUT_TOKENS } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::CANCELLED } = Empty,
        );
        if incoming.is_some() {
            link::follow(&span, &*cx.state()?);
        }
        Ok(span)
    }

    fn end_reply(&self, open: &mut Open<'_>, msg: &Msg) {
        let messages = Writer::new(&self.capture).map(|mut writer| writer.message_of_reply(msg));
        let usage = msg.usage.as_ref();
        record_all!(
            open.span,
            { names::OUTPUT_MESSAGES } = messages.as_deref(),
            { names::INPUT_TOKENS } = usage.map(|usage| usage.input_tokens as i64),
            { names::OUTPUT_TOKENS } = usage.map(|usage| usage.output_tokens as i64),
        );
        match msg.finished_reason {
            Some(ReplyFinishedReason::Interrupted) => open.interrupt(),
            _ => open.succeed(),
        }
    }
}

/// The tools that a reply waits for.
#[derive(Default)]
struct Waiting {
    confirm: Vec<Arc<str>>,
    external: Vec<Arc<str>>,
}

/// Notes what the reply waits for at once, as the caller may leave with the event that says so.
fn note_waiting(waiting: &Mutex<Waiting>, cx: &Cx<Reply>, span: &Span, event: &AgentEvent) {
    let (calls, is_confirm) = match &event.kind {
        EventKind::RequireUserConfirm { tool_calls, .. } => (tool_calls, true),
        EventKind::RequireExternalExecution { tool_calls, .. } => (tool_calls, false),
        _ => return,
    };
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let (names, attribute) = match is_confirm {
        true => (&mut waiting.confirm, names::HITL_PENDING_TOOLS),
        false => (&mut waiting.external, names::EXTERNAL_EXECUTION_PENDING_TOOLS),
    };
    names.extend(calls.iter().map(|call: &ToolCallBlock| call.name.clone()));
    span.record(attribute, serde_json::json!(names).to_string());
    // The reply is over when this fails, and so is its pause.
    if let (Ok(id), Ok(mut state)) = (cx.reply_id(), cx.state()) {
        link::keep(span, &mut state, &id);
    }
}

/// The span of a reply, for what runs inside of it in another task.
#[derive(Clone)]
struct ReplySpan(Span);

/// Takes the span out of reach at the end of the reply, so that nothing holds it open.
struct Shared<'a>(&'a Cx<Reply>);

impl<'a> Shared<'a> {
    fn new(cx: &'a Cx<Reply>, span: &Span) -> Self {
        cx.scratch().insert(ReplySpan(span.clone()));
        Self(cx)
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        self.0.scratch().take::<ReplySpan>();
    }
}

/// Makes a span inside of the current one; where there is none, as in a task that a layer has spawned, inside of the
/// reply's.
pub(crate) fn within<H: AgentHook>(cx: &Cx<H>, make: impl FnOnce() -> Span) -> Span {
    match Span::current().is_none().then(|| cx.scratch().get::<ReplySpan>()).flatten() {
        Some(reply) => reply.0.in_scope(make),
        None => make(),
    }
}
