//! What the loop does next, read off the state.

use super::{
    context::{OpenCalls, open_calls, reply_usage},
    scope::ReplyScope,
    structured::GENERATE_STRUCTURED_OUTPUT,
};
use crate::{
    message::{HintBlock, Msg, OutputBlock, ReplyFinishedReason, TextBlock, TextOrBlocks, ToolCallBlock},
    model::ToolChoice,
    state::AgentState,
    texts::{self, fill},
};

/// A step of the reasoning-acting loop.
pub(super) enum Action {
    /// Ask the model, after this hint.
    Reason { hint: Option<HintBlock>, tool_choice: Option<ToolChoice> },
    /// Run these calls.
    Act(Vec<ToolCallBlock>),
    /// Wait for somebody outside: the call ends here, the reply does not.
    Park(Msg),
    /// End the reply.
    End(Msg, ReplyFinishedReason),
}

const SOURCE_STRUCTURED: &str = r#"{"label": "System", "sublabel": "Structured Output Requirement"}"#;
const SOURCE_MAX_ITERS: &str = r#"{"label": "System", "sublabel": "Max Iterations Reached"}"#;

/// The structured output and nothing else; the other tools stay offered, so that a server's prompt cache holds.
fn forced_choice() -> ToolChoice {
    let mut choice = ToolChoice::tool(GENERATE_STRUCTURED_OUTPUT);
    choice.tools = None;
    choice
}

impl ReplyScope {
    /// Decides the next step. `answer` is the last round's message, if it may be the last one.
    pub(super) fn next_action(&self, state: &AgentState, answer: Option<Msg>) -> Action {
        let name = &self.definition.name;
        let OpenCalls { executable, awaiting, .. } = open_calls(state, name);
        if !executable.is_empty() {
            return Action::Act(executable);
        }
        if awaiting {
            return Action::Park(self.message(state, texts::MSG_WAITING_OUTSIDE, None));
        }
        let (end_requested, stop_after_reject) = {
            let run = self.run_state();
            (run.end_requested, run.stop_after_reject)
        };
        if end_requested || stop_after_reject {
            let text = if stop_after_reject { texts::MSG_STOPPED_ON_REJECT } else { texts::MSG_ENDED_EARLY };
            let answer = answer.unwrap_or_else(|| self.last_words(state, text));
            return self.end(answer, ReplyFinishedReason::Completed);
        }
        let reply = &state.reply_context;
        match (&reply.structured_schema, &reply.structured_output) {
            (Some(_), Some(output)) => {
                let mut message = self.message(state, texts::MSG_STRUCTURED_OUTPUT_READY, None);
                message.structured_output = Some(output.clone());
                self.end(message, ReplyFinishedReason::Completed)
            }
            (Some(_), None) => self.structured_output_owed(state),
            (None, _) => self.plain_reply(state, answer),
        }
    }

    fn structured_output_owed(&self, state: &AgentState) -> Action {
        let react = &self.definition.react;
        let rounds = state.reply_context.cur_iter;
        let max = self.max_iters();
        if rounds >= max.saturating_add(react.structured_output_grace_iters) {
            return self.end(
                self.message(state, texts::MSG_MAX_ITERS_EXCEEDED, None),
                ReplyFinishedReason::ExceedMaxIters,
            );
        }
        let forced = rounds >= max;
        let text = if forced { texts::HINT_STRUCTURED_OUTPUT_FORCED } else { texts::HINT_STRUCTURED_OUTPUT };
        let blocks = TextOrBlocks::Blocks(vec![OutputBlock::Text(TextBlock::new(text))]);
        Action::Reason {
            hint: Some(HintBlock::new(blocks).with_source(SOURCE_STRUCTURED)),
            tool_choice: forced.then(forced_choice),
        }
    }

    fn plain_reply(&self, state: &AgentState, answer: Option<Msg>) -> Action {
        let (rounds, max) = (state.reply_context.cur_iter, self.max_iters());
        if let Some(answer) = answer {
            let reason = if rounds > max {
                ReplyFinishedReason::ExceedMaxIters
            } else {
                ReplyFinishedReason::Completed
            };
            return self.end(answer, reason);
        }
        if rounds > max {
            return self.end(
                self.message(state, texts::MSG_MAX_ITERS_EXCEEDED, None),
                ReplyFinishedReason::ExceedMaxIters,
            );
        }
        if rounds == max {
            // The rounds are used up; one last answer is asked for.
            let text = fill(texts::HINT_MAX_ITERS, &[("n", &max.to_string())]);
            let hint = HintBlock::new(text).with_source(SOURCE_MAX_ITERS);
            return Action::Reason { hint: Some(hint), tool_choice: Some(ToolChoice::none()) };
        }
        Action::Reason { hint: None, tool_choice: None }
    }

    fn end(&self, mut message: Msg, reason: ReplyFinishedReason) -> Action {
        message.finished_reason = Some(reason);
        Action::End(message, reason)
    }

    /// A message of this reply with a fixed text.
    pub(super) fn message(&self, state: &AgentState, text: &str, reason: Option<ReplyFinishedReason>) -> Msg {
        let mut message =
            Msg::assistant(self.definition.name.clone(), text).with_id(state.reply_id().clone());
        if text != texts::MSG_WAITING_OUTSIDE {
            message.usage = reply_usage(state, &self.definition.name);
            for usage in self.run_state().unplaced_usage.iter().cloned() {
                message.add_usage(usage);
            }
        }
        message.finished_reason = reason;
        message
    }

    /// The last text of this reply as its answer; a fixed one if there is none.
    pub(super) fn last_words(&self, state: &AgentState, otherwise: &str) -> Msg {
        let said = super::context::reply_message(state, &self.definition.name)
            .and_then(|msg| msg.content.iter().rev().find_map(|block| block.as_text()).map(str::to_owned));
        self.message(state, said.as_deref().unwrap_or(otherwise), None)
    }
}
