//! What of a turn is written: the question and the answer.

use cepa_core::{
    ContentBlock, Inputs, Msg,
    serde_json::{Map, Value},
};

use super::{backend::Mem0Message, scope::MemoryScope};
use crate::{query::query_text, turn::Turn};

/// The question and the answer. `None` where either says nothing.
///
/// The answer is a structured output as JSON, else what the agent said last, as its events told it: the notices that the
/// agent returns where there is no answer are in no event. `instead` is what a layer inside has answered, where the agent
/// itself was not at work.
pub(super) fn exchange(
    turn: &Turn<MemoryScope>,
    output: Option<&Map<String, Value>>,
    instead: Option<&Msg>,
) -> Option<Vec<Mem0Message>> {
    let question = query_text(&Inputs::Messages(turn.asked.clone()))?;
    let answer = match (output, instead) {
        (Some(output), _) => serde_json::to_string(output).ok()?,
        (None, Some(msg)) => msg.text()?,
        (None, None) => last_text(&turn.said),
    };
    (!answer.trim().is_empty()).then(|| vec![Mem0Message::user(question), Mem0Message::assistant(answer)])
}

/// The text after the last tool call.
fn last_text(said: &Msg) -> String {
    let is_tool =
        |block: &ContentBlock| matches!(block, ContentBlock::ToolCall(_) | ContentBlock::ToolResult(_));
    let last = said.content.rsplit(is_tool).next().unwrap_or_default();
    last.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}
