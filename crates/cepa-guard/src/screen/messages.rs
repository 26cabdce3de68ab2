//! Cleaning messages, whole.

use std::{borrow::Cow, sync::Arc};

use cepa_core::{
    ContentBlock, DataBlock, Fields, Inputs, Msg, OutputBlock, Role, Source, TextOrBlocks, ToolResultBlock,
};

use super::{Cleaner, Found};

impl Cleaner {
    /// Cleans a message; it is copied only when something is found. `true` if so.
    pub(crate) fn clean_message(&self, message: &mut Arc<Msg>, found: &mut Found) -> bool {
        if self.is_surely_clean(message) {
            return false;
        }
        let mut copy = Msg::clone(message);
        let dirty = self.clean_msg(&mut copy, found);
        if dirty {
            *message = Arc::new(copy);
        }
        dirty
    }

    /// A quick look, which may take something clean for something that is not.
    fn is_surely_clean(&self, message: &Msg) -> bool {
        let content = |content: &TextOrBlocks| match content {
            TextOrBlocks::Text(text) => self.is_clean(text),
            TextOrBlocks::Blocks(blocks) => {
                blocks.iter().all(|block| block.as_text().is_some_and(|text| self.is_clean(text)))
                    && blocks.iter().all(|block| extra_of(block).is_empty())
            }
        };
        let plain =
            message.metadata.is_empty() && message.structured_output.is_none() && message.error.is_none();
        plain
            && message.extra.is_empty()
            && (message.role != Role::User || self.is_clean(&message.name))
            && message.content.iter().all(|block| match block {
                ContentBlock::Text(block) => block.extra.is_empty() && self.is_clean(&block.text),
                ContentBlock::Thinking(block) => {
                    self.is_clean(&block.thinking) && self.has_clean_fields(&block.extra)
                }
                ContentBlock::ToolCall(call) => {
                    call.extra.is_empty() && !call.input.contains('\\') && self.is_clean(&call.input)
                }
                ContentBlock::ToolResult(result) => {
                    result.metadata.is_empty() && result.extra.is_empty() && content(&result.output)
                }
                ContentBlock::Hint(hint) => hint.extra.is_empty() && content(&hint.hint),
                _ => false,
            })
    }

    /// Looks at fields without a copy of all that is around them: a signature stands in each thought.
    fn has_clean_fields(&self, fields: &Fields) -> bool {
        fields.is_empty() || !self.clean_fields(&mut fields.clone(), &mut Found::default())
    }

    pub(crate) fn clean_msg(&self, message: &mut Msg, found: &mut Found) -> bool {
        let mut dirty = false;
        for block in &mut message.content {
            dirty |= self.clean_block(block, found);
        }
        dirty |= self.clean_fields(&mut message.metadata, found);
        dirty |= self.clean_fields(&mut message.extra, found);
        // People are called by their addresses; an agent is known again by its name.
        if message.role == Role::User
            && let Cow::Owned(name) = self.clean(&message.name, found)
        {
            message.name = name.into();
            dirty = true;
        }
        if let Some(output) = &mut message.structured_output {
            dirty |= self.clean_map(output, found);
        }
        if let Some(error) = &mut message.error {
            dirty |= self.clean_in_place(&mut error.message, found);
        }
        dirty
    }

    fn clean_block(&self, block: &mut ContentBlock, found: &mut Found) -> bool {
        match block {
            ContentBlock::Text(block) => {
                self.clean_in_place(&mut block.text, found) | self.clean_fields(&mut block.extra, found)
            }
            ContentBlock::Thinking(block) => {
                self.clean_in_place(&mut block.thinking, found) | self.clean_fields(&mut block.extra, found)
            }
            ContentBlock::ToolCall(call) => {
                self.clean_json(&mut call.input, found) | self.clean_fields(&mut call.extra, found)
            }
            ContentBlock::ToolResult(result) => self.clean_tool_result(result, found),
            ContentBlock::Data(data) => self.clean_data(data, found),
            ContentBlock::Hint(hint) => {
                self.clean_text_or_blocks(&mut hint.hint, found) | self.clean_fields(&mut hint.extra, found)
            }
            _ => false,
        }
    }

    pub(crate) fn clean_tool_result(&self, result: &mut ToolResultBlock, found: &mut Found) -> bool {
        self.clean_text_or_blocks(&mut result.output, found)
            | self.clean_fields(&mut result.metadata, found)
            | self.clean_fields(&mut result.extra, found)
    }

    pub(crate) fn clean_text_or_blocks(&self, content: &mut TextOrBlocks, found: &mut Found) -> bool {
        match content {
            TextOrBlocks::Text(text) => self.clean_in_place(text, found),
            TextOrBlocks::Blocks(blocks) => blocks.iter_mut().fold(false, |dirty, block| {
                dirty
                    | match block {
                        OutputBlock::Text(block) => {
                            self.clean_in_place(&mut block.text, found)
                                | self.clean_fields(&mut block.extra, found)
                        }
                        OutputBlock::Data(data) => self.clean_data(data, found),
                        _ => false,
                    }
            }),
        }
    }

    /// The name of a file, and its address. Its bytes are not looked at.
    pub(crate) fn clean_data(&self, data: &mut DataBlock, found: &mut Found) -> bool {
        let name = data.name.as_mut().is_some_and(|name| self.clean_in_place(name, found));
        let dirty = self.clean_fields(&mut data.extra, found) | name;
        match &mut data.source {
            Source::Url { url, extra, .. } => {
                self.clean_in_place(url, found) | self.clean_fields(extra, found) | dirty
            }
            Source::Base64 { extra, .. } => self.clean_fields(extra, found) | dirty,
            _ => dirty,
        }
    }

    /// What a reply is given.
    pub(crate) fn clean_inputs(&self, inputs: &mut Inputs, found: &mut Found) {
        match inputs {
            Inputs::Nothing | Inputs::UserInterrupt(_) => {}
            Inputs::Messages(messages) => {
                for message in messages {
                    self.clean_message(message, found);
                }
            }
            Inputs::UserConfirmResult(event) => {
                for answer in &mut event.confirm_results {
                    self.clean_json(&mut answer.tool_call.input, found);
                    if let Some(reason) = &mut answer.reason {
                        self.clean_in_place(reason, found);
                    }
                    self.clean_fields(&mut answer.tool_call.extra, found);
                    self.clean_fields(&mut answer.extra, found);
                }
            }
            Inputs::ExternalExecutionResult(event) => {
                for result in &mut event.execution_results {
                    self.clean_tool_result(result, found);
                }
            }
            _ => {}
        }
    }

    /// Cleans the messages of a request; gives those that were not clean, with what has become of them.
    pub(crate) fn clean_request(
        &self,
        messages: &mut [Arc<Msg>],
        with_system: bool,
        found: &mut Found,
    ) -> Vec<(Arc<Msg>, Arc<Msg>)> {
        let mut changed = Vec::new();
        for message in messages.iter_mut().filter(|message| with_system || message.role != Role::System) {
            let before = message.clone();
            if self.clean_message(message, found) {
                changed.push((before, message.clone()));
            }
        }
        changed
    }
}

fn extra_of(block: &OutputBlock) -> &Fields {
    const NONE: &Fields = &Fields::new();
    match block {
        OutputBlock::Text(block) => &block.extra,
        OutputBlock::Data(data) => &data.extra,
        _ => NONE,
    }
}
