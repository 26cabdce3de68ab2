//! Drops the end of a reply, so that the agent goes on.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use cepa_core::{
    AgentEvent, BoxFuture, ContentBlock, Cx, EventKind, Flow, HintBlock, Msg, Next, Reply, ReplyInput, Result,
};
use serde_json::{Value, json};

use super::{behaviour::Behaviour, options::Options, step::Step};
use crate::{error::RunError, models::json_of};

/// Drops `REPLY_END` a few times, and changes what made the reply end.
pub(super) struct SwallowReplyEnd {
    left: AtomicUsize,
    append_hint: Option<HintBlock>,
    set_cur_iter: Option<u32>,
    add_max_iters: u32,
    clear_structured_output: bool,
}

impl SwallowReplyEnd {
    pub(super) fn new(options: &Options<'_>) -> Result<Self, RunError> {
        Ok(Self {
            left: AtomicUsize::new(options.get("times")?.unwrap_or(1)),
            append_hint: options.raw("append_hint").map(hint),
            set_cur_iter: options.get("set_cur_iter")?,
            add_max_iters: options.or_default("add_max_iters")?,
            clear_structured_output: options.or_default("clear_structured_output")?,
        })
    }

    fn look(&self, step: &Step, cx: &Cx<Reply>, event: &AgentEvent) -> Result<Flow> {
        let EventKind::ReplyEnd { finished_reason, .. } = &event.kind else { return Ok(Flow::Keep) };
        if self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            return Ok(Flow::Keep);
        }
        step.note_with("swallowed REPLY_END", json!({"finished_reason": json_of(finished_reason)}));
        cx.add_max_iters(self.add_max_iters);
        let mut state = cx.state()?;
        if let Some(hint) = &self.append_hint {
            state.append_context(cx.agent_name(), [ContentBlock::Hint(hint.clone())]);
        }
        if let Some(cur_iter) = self.set_cur_iter {
            state.reply_context.cur_iter = cur_iter;
        }
        if self.clear_structured_output {
            state.reply_context.structured_output = None;
        }
        drop(state);
        Ok(Flow::Drop)
    }
}

/// A hint: its text, or text and source.
fn hint(value: &Value) -> HintBlock {
    let text = value.as_str().or(value["hint"].as_str()).unwrap_or_default();
    let hint = HintBlock::new(text);
    match value["source"].as_str() {
        Some(source) => hint.with_source(source),
        None => hint,
    }
}

impl Behaviour for SwallowReplyEnd {
    fn on_reply(
        self: Arc<Self>,
        step: Step,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        Box::pin(next.tap(input, move |event: &mut AgentEvent| self.look(&step, &cx, event)))
    }
}
