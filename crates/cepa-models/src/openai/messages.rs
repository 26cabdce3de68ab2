//! Messages as the API wants them.
//!
//! One assistant message of Cepa is a whole reply: several rounds of text, calls, results and hints in order. The
//! API wants each round as an assistant message, directly followed by one `tool` message per call, and everything
//! that was said to the model in between as `user` messages after them.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use cepa_core::{
    ContentBlock, DataBlock, Id, Msg, OutputBlock, Role, TextOrBlocks, ToolCallBlock, ToolResultBlock,
};
use serde::Serialize;
use serde_json::Value;

use super::{media::Part, round::Round, tool_calls::is_object};

/// One message of the API.
#[derive(Debug, Serialize)]
pub(super) struct WireMessage<'a> {
    pub(super) role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
    /// `null` for an assistant that only calls tools.
    pub(super) content: Option<WireContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<&'a Id>,
}

/// A content: text where it is only that, because not every server takes parts.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

/// A tool call.
#[derive(Debug, Serialize)]
pub(super) struct WireCall<'a> {
    id: &'a Id,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Debug, Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

impl<'a> WireCall<'a> {
    pub(super) fn new(call: &'a ToolCallBlock) -> Self {
        // Servers answer 400 to a history with arguments that are no object.
        let arguments = if is_object(&call.input) { &call.input } else { "{}" };
        Self { id: &call.id, r#type: "function", function: WireFunction { name: &call.name, arguments } }
    }
}

impl<'a> WireMessage<'a> {
    pub(super) fn new(role: &'static str, content: impl Into<Option<WireContent<'a>>>) -> Self {
        Self {
            role,
            name: None,
            content: content.into(),
            reasoning_content: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

/// What of a message is sent, and how.
#[derive(Clone, Debug)]
pub(super) struct Style {
    pub(super) thinking: bool,
    pub(super) names: bool,
    pub(super) media_types: Vec<&'static str>,
}

/// The messages of the API for these messages.
pub(super) fn wire_messages<'a>(messages: &'a [Arc<Msg>], style: &'a Style) -> Vec<WireMessage<'a>> {
    let mut writer = Writer { out: Vec::with_capacity(messages.len()), results: HashMap::new(), style };
    for result in messages.iter().flat_map(|message| message.tool_results()) {
        writer.results.entry(&result.id).or_default().push_back(result);
    }
    let mut called = HashSet::new();
    for message in messages {
        let begin = writer.out.len();
        match message.role {
            Role::Assistant => writer.reply(message, &mut called),
            Role::System => writer.plain("system", message),
            _ => writer.plain("user", message),
        }
        if let Some(mark) = message.metadata.get(CACHE_CONTROL) {
            mark_last(&mut writer.out[begin..], mark);
        }
    }
    writer.out
}

/// The entry of a message's metadata that is sent: a mark for the server's cache of prompts, `{"type": "ephemeral"}`.
const CACHE_CONTROL: &str = "cache_control";

/// Puts the mark at the last text of these messages.
fn mark_last<'a>(messages: &mut [WireMessage<'a>], mark: &'a Value) {
    for message in messages.iter_mut().rev() {
        match &mut message.content {
            Some(WireContent::Text(text)) => {
                let part = Part::Text { text: std::mem::take(text), cache_control: Some(mark) };
                message.content = Some(WireContent::Parts(vec![part]));
                return;
            }
            Some(WireContent::Parts(parts)) => {
                let texts = parts.iter_mut().rev().filter_map(|part| match part {
                    Part::Text { cache_control, .. } => Some(cache_control),
                    _ => None,
                });
                if let Some(place) = texts.into_iter().next() {
                    *place = Some(mark);
                    return;
                }
            }
            None => {}
        }
    }
}

/// The way from messages to those of the API.
pub(super) struct Writer<'a> {
    pub(super) out: Vec<WireMessage<'a>>,
    /// The results that no call has got yet, by their call's id; several where a server repeats its ids.
    results: HashMap<&'a Id, VecDeque<&'a ToolResultBlock>>,
    pub(super) style: &'a Style,
}

impl<'a> Writer<'a> {
    /// The result of a call.
    pub(super) fn take_result(&mut self, id: &Id) -> Option<&'a ToolResultBlock> {
        self.results.get_mut(id)?.pop_front()
    }

    pub(super) fn push(&mut self, message: WireMessage<'a>, from: &'a Msg) {
        let name = (self.style.names && is_name(&from.name)).then_some(&*from.name);
        self.out.push(WireMessage { name, ..message });
    }

    fn plain(&mut self, role: &'static str, message: &'a Msg) {
        let pieces = message.content.iter().filter_map(Piece::of_block);
        if let Some(content) = content(pieces, self.style) {
            self.push(WireMessage::new(role, content), message);
        }
    }

    fn reply(&mut self, message: &'a Msg, called: &mut HashSet<&'a Id>) {
        let mut round = Round::default();
        for block in &message.content {
            match block {
                ContentBlock::Hint(hint) => round.hint(user_content(&hint.hint, self.style)),
                ContentBlock::ToolResult(result) if called.contains(&result.id) => round.close(),
                // Its call was cut away; the model may still want to know.
                ContentBlock::ToolResult(result) => {
                    let heading = format!("Result of an earlier call of `{}`:", result.name);
                    let pieces =
                        [Piece::Text(heading.into())].into_iter().chain(Piece::of_output(&result.output));
                    round.hint(content(pieces, self.style));
                }
                block => {
                    if round.is_closed() {
                        std::mem::take(&mut round).write(self, message);
                    }
                    if let ContentBlock::ToolCall(call) = block {
                        called.insert(&call.id);
                    }
                    round.add(block, self.style);
                }
            }
        }
        round.write(self, message);
    }
}

/// Text or data on its way into a content.
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Data(&'a DataBlock),
}

impl<'a> Piece<'a> {
    fn of_block(block: &'a ContentBlock) -> Option<Self> {
        match block {
            ContentBlock::Text(block) => Some(Self::Text(Cow::Borrowed(&block.text))),
            ContentBlock::Data(block) => Some(Self::Data(block)),
            _ => None,
        }
    }

    pub(super) fn of_output(output: &'a TextOrBlocks) -> Vec<Self> {
        match output {
            TextOrBlocks::Text(text) => vec![Self::Text(Cow::Borrowed(text))],
            TextOrBlocks::Blocks(blocks) => blocks
                .iter()
                .filter_map(|block| match block {
                    OutputBlock::Text(block) => Some(Self::Text(Cow::Borrowed(&block.text))),
                    OutputBlock::Data(block) => Some(Self::Data(block)),
                    _ => None,
                })
                .collect(),
        }
    }
}

fn user_content<'a>(content_of: &'a TextOrBlocks, style: &Style) -> Option<WireContent<'a>> {
    content(Piece::of_output(content_of), style)
}

/// A content of these pieces: one text with a line end between them, or parts where there is data.
pub(super) fn content<'a>(
    pieces: impl IntoIterator<Item = Piece<'a>>,
    style: &Style,
) -> Option<WireContent<'a>> {
    let pieces: Vec<_> =
        pieces.into_iter().filter(|piece| !matches!(piece, Piece::Text(text) if text.is_empty())).collect();
    if pieces.is_empty() {
        return None;
    }
    if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
        let texts = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Data(_) => Cow::default(),
        });
        return Some(WireContent::Text(join(texts)));
    }
    let parts = pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => Part::text(text),
        Piece::Data(block) => Part::data(block, &style.media_types),
    });
    Some(WireContent::Parts(parts.collect()))
}

/// The texts with line ends between them.
pub(super) fn join<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> Cow<'a, str> {
    let mut texts = texts.into_iter();
    let mut joined = texts.next().unwrap_or_default();
    for text in texts {
        let joined = joined.to_mut();
        joined.push('\n');
        joined.push_str(&text);
    }
    joined
}

/// What the API takes as a name.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

#[cfg(test)]
mod tests;
