//! A tool's result, cleaned while it streams.

use cepa_core::{
    Acting, ActingInput, Cx, Next, OutputBlock, Result, TextBlock, ToolChunk, ToolResponse, ToolResultState,
};

use super::{Found, Screening, Stream, errors::blocked};

impl Screening {
    pub(crate) async fn acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        if !self.places.tool_results {
            return self.cleaner.clean_result(next.run(input).await);
        }
        let (mut stream, mut found) = (Stream::default(), Found::default());
        let mut items = next.stream(input);
        while let Some(mut chunk) = items.next().await {
            self.pass(&mut chunk, &mut stream, &mut found);
            if found.blocked.is_some() {
                break;
            }
            if !chunk.content.is_empty() || !chunk.metadata.is_empty() {
                cx.emit(chunk).await;
            }
        }
        let mut response = ToolResponse::streamed();
        let mut rest = String::new();
        if found.blocked.is_none() {
            response = self.cleaner.clean_result(items.finish().await)?;
            self.cleaner.clean_fields(&mut response.metadata, &mut found);
            rest = stream.flush(&self.cleaner, &mut found);
        }
        self.tell("tool result", &found);
        if let Some(detector) = found.blocked {
            return match self.refusal() {
                Some(refusal) => {
                    cx.emit(ToolChunk::text(refusal)).await;
                    Ok(ToolResponse::streamed().with_state(ToolResultState::Error))
                }
                None => Err(blocked(detector, "the tool's result")),
            };
        }
        if !rest.is_empty() {
            cx.emit(ToolChunk::text(rest)).await;
        }
        Ok(response)
    }

    fn pass(&self, chunk: &mut ToolChunk, stream: &mut Stream, found: &mut Found) {
        let mut content = Vec::with_capacity(chunk.content.len());
        for block in std::mem::take(&mut chunk.content) {
            match block {
                OutputBlock::Text(mut block) => {
                    let was_empty = block.text.is_empty();
                    block.text = stream.push(&self.cleaner, &block.text, found);
                    if was_empty || !block.text.is_empty() {
                        content.push(OutputBlock::Text(block));
                    }
                }
                // Data ends the text before it.
                OutputBlock::Data(mut data) => {
                    let text = stream.flush(&self.cleaner, found);
                    if !text.is_empty() {
                        content.push(OutputBlock::Text(TextBlock::new(text)));
                    }
                    self.cleaner.clean_data(&mut data, found);
                    content.push(OutputBlock::Data(data));
                }
                other => content.push(other),
            }
        }
        chunk.content = content;
        self.cleaner.clean_fields(&mut chunk.metadata, found);
    }
}
