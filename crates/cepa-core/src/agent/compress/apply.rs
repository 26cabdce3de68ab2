//! Putting the summary in the place of the messages.

use std::{collections::HashSet, sync::Arc};

use super::Older;
use crate::{
    agent::{context, scope::ReplyScope},
    error::Result,
    message::{Msg, OutputBlock, TextBlock, TextOrBlocks, Usage},
    state::AgentState,
    texts::{self, fill},
    tool::read_object,
};

/// The tool whose results are kept in the read cache.
const READ: &str = "Read";

impl ReplyScope {
    /// Puts the summary in the place of the older part, all at once.
    pub(super) async fn apply(&self, older: Older, summary: Option<String>) -> Result<()> {
        let path = self.offload(&older.messages).await?;
        let mut state = self.state()?;
        if !still_begins_with(&state.context, &older) {
            let agent = &*self.definition.name;
            tracing::warn!(agent, "the context was changed while it was summed up: it is not compressed");
            return Ok(());
        }
        match summary {
            Some(summary) => state.summary = TextOrBlocks::Text(summary),
            None if state.summary.is_empty() => state.summary = texts::SUMMARY_TRUNCATED.into(),
            None => {}
        }
        if let Some(path) = path {
            add_line(&mut state.summary, fill(texts::REMINDER_CONTEXT_OFFLOADED, &[("path", &path)]));
        }
        let spent = take_out(&mut state, &older, &self.definition.name);
        forget_files(&mut state);
        // What the reply has cost stays known, though its message went into the summary.
        if let Some(spent) = spent {
            context::add_reply_usage(&mut state, &self.definition.name, spent);
        }
        Ok(())
    }

    async fn offload(&self, messages: &[Arc<Msg>]) -> Result<Option<String>> {
        let Some(offloader) = &self.definition.offloader else { return Ok(None) };
        let session_id = self.state()?.session_id.clone();
        let messages: Vec<Msg> = messages.iter().map(|msg| (**msg).clone()).collect();
        offloader.offload_context(&session_id, &messages).await.map(Some)
    }
}

/// Whether the older part is still what the context begins with: layers may have changed it meanwhile.
fn still_begins_with(context: &[Arc<Msg>], older: &Older) -> bool {
    let same = |(now, then): (&Arc<Msg>, &Arc<Msg>)| now.id == then.id;
    context.len() >= older.messages.len()
        && context.iter().zip(&older.messages).all(same)
        && (older.cut.block == 0
            || context[older.cut.message].content.get(older.cut.block - 1).map(|block| block.id())
                == older.messages[older.cut.message].content.last().map(|block| block.id()))
}

/// Takes the older part out. Returns what its whole messages had cost the reply at hand.
fn take_out(state: &mut AgentState, older: &Older, name: &str) -> Option<Usage> {
    let spent = context::usage_in(state, name, &state.context[..older.cut.message]);
    state.context.drain(..older.cut.message);
    if older.cut.block > 0
        && let Some(border) = state.context.first_mut()
    {
        Arc::make_mut(border).content.drain(..older.cut.block);
    }
    spent
}

/// Adds a line to a summary that does not hold it yet.
fn add_line(summary: &mut TextOrBlocks, line: String) {
    match summary {
        TextOrBlocks::Text(text) => {
            if !text.contains(&line) {
                text.push('\n');
                text.push_str(&line);
            }
        }
        TextOrBlocks::Blocks(blocks) => {
            if !blocks.iter().any(|block| block.as_text() == Some(&line)) {
                blocks.push(OutputBlock::Text(TextBlock::new(line)));
            }
        }
    }
}

/// Forgets the files of which the model does not see any more that they were read.
fn forget_files(state: &mut AgentState) {
    if state.tool_context.read_file_cache.is_empty() {
        return;
    }
    let reads = state.context.iter().flat_map(|msg| msg.tool_calls()).filter(|call| *call.name == *READ);
    let paths: HashSet<String> = reads
        .filter_map(|call| match read_object(&call.input).ok()?.remove("file_path") {
            Some(serde_json::Value::String(path)) => Some(path),
            _ => None,
        })
        .collect();
    state.tool_context.read_file_cache.retain(|entry| paths.contains(&entry.file_path));
}
