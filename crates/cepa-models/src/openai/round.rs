//! One round of a reply: what the assistant said and called, the results, and what came after them.

use std::borrow::Cow;

use cepa_core::{ContentBlock, Msg, ToolCallBlock, ToolResultBlock};

use super::{
    media::left_out,
    messages::{Piece, Style, WireCall, WireContent, WireMessage, Writer, content, join},
};

/// One round of a reply.
#[derive(Default)]
pub(super) struct Round<'a> {
    thinking: Vec<Cow<'a, str>>,
    texts: Vec<Cow<'a, str>>,
    calls: Vec<&'a ToolCallBlock>,
    hints: Vec<WireContent<'a>>,
    closed: bool,
}

impl<'a> Round<'a> {
    /// Whether the assistant has been answered: what it says next is a new round.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The assistant has been answered.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Something was said to the assistant. It goes behind the results of this round.
    pub(super) fn hint(&mut self, hint: Option<WireContent<'a>>) {
        self.hints.extend(hint);
        self.closed = true;
    }

    /// The assistant's own.
    pub(super) fn add(&mut self, block: &'a ContentBlock, style: &Style) {
        match block {
            ContentBlock::Text(block) if !block.text.is_empty() => {
                self.texts.push(Cow::Borrowed(&block.text));
            }
            ContentBlock::Thinking(block) if style.thinking && !block.thinking.is_empty() => {
                self.thinking.push(Cow::Borrowed(&block.thinking));
            }
            ContentBlock::ToolCall(call) => self.calls.push(call),
            // The API takes data from users only.
            ContentBlock::Data(block) => self.texts.push(Cow::Owned(left_out(block))),
            _ => {}
        }
    }

    pub(super) fn write(self, writer: &mut Writer<'a>, message: &'a Msg) {
        let Self { thinking, texts, calls, hints, .. } = self;
        if !texts.is_empty() || !calls.is_empty() {
            let content = (!texts.is_empty()).then(|| WireContent::Text(join(texts)));
            let said = WireMessage {
                reasoning_content: (!thinking.is_empty()).then(|| join(thinking)),
                tool_calls: calls.iter().map(|call| WireCall::new(call)).collect(),
                ..WireMessage::new("assistant", content)
            };
            writer.push(said, message);
        }
        let mut shown = Vec::new();
        for call in calls {
            let result = writer.take_result(&call.id);
            let output =
                result.map_or(Cow::Borrowed("No result: this call was not run to its end."), output_text);
            writer.out.push(WireMessage {
                tool_call_id: Some(&call.id),
                ..WireMessage::new("tool", WireContent::Text(output))
            });
            shown.extend(result.and_then(|result| output_data(result, writer.style)));
        }
        for content in shown.into_iter().chain(hints) {
            writer.out.push(WireMessage::new("user", content));
        }
    }
}

fn output_text(result: &ToolResultBlock) -> Cow<'_, str> {
    match result.output.text() {
        text if !text.is_empty() => text,
        _ if result.output.data().next().is_some() => {
            Cow::Borrowed("The output follows in the next message.")
        }
        _ => Cow::Borrowed("(no output)"),
    }
}

/// The data of a result: `tool` messages hold text only, so a user shows it.
fn output_data<'a>(result: &'a ToolResultBlock, style: &Style) -> Option<WireContent<'a>> {
    let mut data = result.output.data().map(Piece::Data).peekable();
    data.peek()?;
    let heading = Piece::Text(format!("What `{}` returned:", result.name).into());
    content([heading].into_iter().chain(data), style)
}
