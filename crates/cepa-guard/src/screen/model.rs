//! A model's answer, cleaned while it streams.

use std::{mem, sync::Arc};

use cepa_core::{
    ChatChunk, ChatResponse, ContentDelta, Cx, Fields, Id, ModelCall, ModelRequest, Next, Result,
};

use super::{Cleaner, Found, Places, Screening, Stream, errors::blocked};

impl Screening {
    /// Asks and cleans what comes.
    pub(super) async fn model_answer(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
        may_refuse: bool,
    ) -> Result<ChatResponse> {
        let mut answer = Answer::new(&self.cleaner, self.places);
        let mut items = next.stream(request);
        while let Some(mut chunk) = items.next().await {
            answer.pass(&mut chunk);
            if answer.found.blocked.is_some() {
                break;
            }
            if !chunk.is_empty() {
                cx.emit(chunk).await;
            }
        }
        let mut response = None;
        let mut rest = Vec::new();
        if answer.found.blocked.is_none() {
            let mut whole = self.cleaner.clean_result(items.finish().await)?;
            self.cleaner.clean_fields(&mut whole.metadata, &mut answer.found);
            response = Some(whole);
            rest = answer.rest();
        }
        self.tell("answer", &answer.found);
        if let Some(detector) = answer.found.blocked.take() {
            return match self.refusal().filter(|_| may_refuse) {
                Some(refusal) => {
                    cx.emit(ChatChunk::text(refusal)).await;
                    Ok(ChatResponse::streamed())
                }
                None => Err(blocked(detector, "the model's answer")),
            };
        }
        for chunk in rest {
            cx.emit(chunk).await;
        }
        Ok(response.unwrap_or_else(ChatResponse::streamed))
    }
}

/// The blocks of an answer on their way.
struct Answer<'a> {
    cleaner: &'a Cleaner,
    places: Places,
    texts: Vec<Text>,
    /// Whole calls: their arguments go out when all of them is there.
    calls: Vec<(Id, Arc<str>, String)>,
    found: Found,
}

/// One block of text or thinking.
struct Text {
    is_thinking: bool,
    id: Option<Id>,
    stream: Stream,
}

impl Text {
    fn delta(&self, text: String) -> ContentDelta {
        let id = self.id.clone();
        if self.is_thinking {
            ContentDelta::Thinking { thinking: text, id, extra: Fields::new() }
        } else {
            ContentDelta::Text { text, id }
        }
    }
}

impl<'a> Answer<'a> {
    fn new(cleaner: &'a Cleaner, places: Places) -> Self {
        Self { cleaner, places, texts: Vec::new(), calls: Vec::new(), found: Found::default() }
    }

    /// Cleans a chunk: what is held back is not in it any more.
    fn pass(&mut self, chunk: &mut ChatChunk) {
        if chunk.is_empty() {
            return;
        }
        let mut going_on = Vec::new();
        for delta in chunk.deltas_mut() {
            match delta {
                ContentDelta::Text { text, id } if self.places.output => {
                    going_on.push(self.push(false, id.clone(), text));
                }
                ContentDelta::Thinking { thinking, id, extra } if self.places.output => {
                    going_on.push(self.push(true, id.clone(), thinking));
                    // A signature is no text, but nothing says so.
                    self.cleaner.clean_fields(extra, &mut self.found);
                }
                ContentDelta::ToolCall { id, name, input } if self.places.tool_arguments => {
                    match self.calls.iter_mut().find(|(known, ..)| known == id) {
                        Some((_, _, whole)) => whole.push_str(input),
                        None => self.calls.push((id.clone(), name.clone(), mem::take(input))),
                    }
                }
                ContentDelta::Data(data) if self.places.output => {
                    self.cleaner.clean_data(data, &mut self.found);
                }
                _ => {}
            }
        }
        let holds_calls = self.places.tool_arguments;
        chunk.retain(|delta| match delta {
            ContentDelta::Text { text, .. } => !text.is_empty(),
            ContentDelta::Thinking { thinking, extra, .. } => !thinking.is_empty() || !extra.is_empty(),
            ContentDelta::ToolCall { .. } => !holds_calls,
            _ => true,
        });
        if going_on.is_empty() && chunk.is_empty() {
            return;
        }
        // A block that this chunk does not go on with ends for its reader: what is held back of it comes first.
        let ended = self.flush(|index| !going_on.contains(&index));
        if !ended.is_empty() {
            let mut rest = Vec::new();
            chunk.retain(|delta| {
                rest.push(mem::replace(delta, ContentDelta::Text { text: String::new(), id: None }));
                false
            });
            *chunk = ended.into_iter().chain(rest).collect();
        }
    }

    fn push(&mut self, is_thinking: bool, id: Option<Id>, text: &mut String) -> usize {
        let known = self.texts.iter().position(|known| known.is_thinking == is_thinking && known.id == id);
        let index = known.unwrap_or_else(|| {
            self.texts.push(Text { is_thinking, id, stream: Stream::default() });
            self.texts.len() - 1
        });
        if let Some(block) = self.texts.get_mut(index) {
            *text = block.stream.push(self.cleaner, text, &mut self.found);
        }
        index
    }

    fn flush(&mut self, which: impl Fn(usize) -> bool) -> Vec<ContentDelta> {
        let mut deltas = Vec::new();
        for (index, block) in self.texts.iter_mut().enumerate() {
            if which(index) && block.stream.held() > 0 {
                let text = block.stream.flush(self.cleaner, &mut self.found);
                if !text.is_empty() {
                    deltas.push(block.delta(text));
                }
            }
        }
        deltas
    }

    /// What is held back at the end.
    fn rest(&mut self) -> Vec<ChatChunk> {
        let texts: ChatChunk = self.flush(|_| true).into_iter().collect();
        let mut chunks = Vec::from_iter((!texts.is_empty()).then_some(texts));
        for (id, name, mut input) in mem::take(&mut self.calls) {
            self.cleaner.clean_json(&mut input, &mut self.found);
            let name = match self.cleaner.clean(&name, &mut self.found) {
                std::borrow::Cow::Borrowed(_) => name,
                std::borrow::Cow::Owned(clean) => clean.into(),
            };
            chunks.push(ChatChunk::tool_call(id, name, input));
        }
        chunks
    }
}
