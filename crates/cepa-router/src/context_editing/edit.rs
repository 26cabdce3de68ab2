//! Finding old results, and messages without them.

use std::{collections::BTreeSet, sync::Arc};

use cepa_core::{ContentBlock, Id, Msg, ToolCallBlock, ToolResultBlock};

/// A result that may be left out.
pub(super) struct Old {
    pub(super) id: Arc<str>,
    /// The message, and the block in it.
    pub(super) place: (usize, usize),
    /// Estimated.
    pub(super) tokens: u64,
}

/// The results that are older than the newest `keep_last`, but for those of the tools in `exclude`.
pub(super) fn old_results(messages: &[Arc<Msg>], keep_last: usize, exclude: &BTreeSet<String>) -> Vec<Old> {
    let blocks = messages.iter().enumerate().rev().flat_map(|(at, message)| {
        message.content.iter().enumerate().rev().map(move |(block, content)| ((at, block), content))
    });
    let results = blocks.filter_map(|(place, content)| Some((place, content.as_tool_result()?)));
    let results = results.filter(|(_, result)| !exclude.contains(&*result.name));
    let old = results.skip(keep_last).map(|(place, result)| {
        let data = result.output.data().count() as u64;
        let tokens = result.output.text().len() as u64 / 4 + data * 2_000;
        Old { id: result.id.to_string().into(), place, tokens }
    });
    old.collect()
}

/// The message with a placeholder in these results, without copying what they hold.
pub(super) fn without(
    message: &Msg,
    is_out: impl Fn(usize) -> bool,
    placeholder: &str,
    arguments: bool,
) -> Msg {
    let out = message.content.iter().enumerate().filter(|(at, _)| is_out(*at));
    let out: Vec<&Id> = out.filter_map(|(_, block)| Some(&block.as_tool_result()?.id)).collect();
    let content: Vec<ContentBlock> = message
        .content
        .iter()
        .enumerate()
        .map(|(at, block)| match block {
            ContentBlock::ToolResult(result) if is_out(at) => {
                let mut cleared =
                    ToolResultBlock::new(result.id.clone(), result.name.clone(), placeholder, result.state);
                cleared.created_at = result.created_at.clone();
                cleared.finished_at.clone_from(&result.finished_at);
                cleared.into()
            }
            ContentBlock::ToolCall(call) if arguments && out.contains(&&call.id) => {
                let mut cleared =
                    ToolCallBlock::new(call.id.clone(), call.name.clone(), "{}").with_state(call.state);
                cleared.created_at = call.created_at.clone();
                cleared.finished_at.clone_from(&call.finished_at);
                cleared.into()
            }
            block => block.clone(),
        })
        .collect();
    let mut edited = Msg::new(message.name.clone(), message.role, content).with_id(message.id.clone());
    edited.metadata = message.metadata.clone();
    edited.created_at = message.created_at.clone();
    edited.finished_at.clone_from(&message.finished_at);
    edited.usage.clone_from(&message.usage);
    edited.finished_reason = message.finished_reason;
    edited
}
