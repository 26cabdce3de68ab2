//! Cutting tool results that are too long by themselves.

use std::sync::Arc;

use super::split::first;
use crate::{
    agent::scope::ReplyScope,
    error::Result,
    message::{ContentBlock, Msg, OutputBlock, TextBlock, ToolOutput, ToolResultBlock},
    texts::{self, fill},
};

impl ReplyScope {
    /// Cuts a result that is over the limit, and tells the model so. What is cut off is kept elsewhere if there is
    /// an offloader.
    pub(in crate::agent) async fn cut_to_limit(
        &self,
        mut result: ToolResultBlock,
    ) -> Result<ToolResultBlock> {
        let limit = self.definition.context.tool_result_limit;
        let (tokens, blocks) = self.count(std::mem::take(&mut result.output).into_blocks());
        if tokens <= limit || blocks.is_empty() {
            result.output = ToolOutput::Blocks(blocks);
            return Ok(result);
        }
        let (mut kept, rest) = self.cut_blocks(blocks, limit);
        if rest.is_empty() {
            result.output = ToolOutput::Blocks(kept);
            return Ok(result);
        }
        let path = match &self.definition.offloader {
            None => None,
            Some(offloader) => {
                let session_id = self.state()?.session_id.clone();
                let rest = ToolResultBlock { output: ToolOutput::Blocks(rest), ..result.clone() };
                Some(offloader.offload_tool_result(&session_id, &rest).await?)
            }
        };
        let note = match path {
            Some(path) => fill(texts::TRUNCATED_OFFLOADED, &[("path", &path)]),
            None => texts::TRUNCATED.to_owned(),
        };
        match kept.last_mut() {
            Some(OutputBlock::Text(last)) => last.text.push_str(&note),
            _ => kept.push(TextBlock::new(note).into()),
        }
        result.output = ToolOutput::Blocks(kept);
        Ok(result)
    }

    /// The tokens of a tool's output. It is lent to a message rather than copied: every result is counted.
    fn count(&self, blocks: Vec<OutputBlock>) -> (u64, Vec<OutputBlock>) {
        let content: Vec<ContentBlock> = blocks.into_iter().map(Into::into).collect();
        let msg = Arc::new(Msg::assistant(self.definition.name.clone(), content));
        let tokens = self.definition.model.count_tokens(std::slice::from_ref(&msg), &[]);
        let content = Arc::unwrap_or_clone(msg).content.into_iter();
        let blocks = content.filter_map(|block| match block {
            ContentBlock::Text(text) => Some(OutputBlock::Text(text)),
            ContentBlock::Data(data) => Some(OutputBlock::Data(data)),
            _ => None,
        });
        (tokens, blocks.collect())
    }

    fn tokens_of(&self, blocks: &[OutputBlock]) -> u64 {
        self.count(blocks.to_vec()).0
    }

    /// Cuts blocks in a part that is kept and a rest: whole blocks while they are below the limit, then as much of the
    /// next one's text as its share of tokens allows.
    fn cut_blocks(&self, mut blocks: Vec<OutputBlock>, limit: u64) -> (Vec<OutputBlock>, Vec<OutputBlock>) {
        let whole = first(blocks.len() - 1, |border| self.tokens_of(&blocks[..=border]) >= limit);
        let with_border = self.tokens_of(&blocks[..=whole]);
        let mut rest = blocks.split_off(whole);
        let mut kept = blocks;
        if let Some(OutputBlock::Text(border)) = rest.first_mut() {
            let before = self.tokens_of(&kept);
            let share = share(limit.saturating_sub(before), with_border.saturating_sub(before));
            let at = cut_point(&border.text, share);
            let cut_off = border.text.split_off(at);
            let front = std::mem::replace(&mut border.text, cut_off);
            let (id, is_used_up) = (border.id.clone(), border.text.is_empty());
            match kept.last_mut() {
                _ if front.is_empty() => {}
                Some(OutputBlock::Text(last)) => last.text.push_str(&front),
                _ => kept.push(TextBlock::new(front).with_id(id).into()),
            }
            if is_used_up {
                rest.remove(0);
            } else {
                join_first_two(&mut rest);
            }
        }
        (kept, rest)
    }
}

/// Which part of a block that takes `tokens` fits into what is left.
fn share(left: u64, tokens: u64) -> f64 {
    match (left, tokens) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        (left, tokens) => (left as f64 / tokens as f64).min(1.0),
    }
}

/// The byte at which this share of the characters ends.
fn cut_point(text: &str, share: f64) -> usize {
    let chars = (share * text.chars().count() as f64) as usize;
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}

/// Joins the first two blocks if they are texts.
fn join_first_two(blocks: &mut Vec<OutputBlock>) {
    let [OutputBlock::Text(first), OutputBlock::Text(second), ..] = blocks.as_mut_slice() else { return };
    let text = std::mem::take(&mut second.text);
    first.text.push_str(&text);
    blocks.remove(1);
}
