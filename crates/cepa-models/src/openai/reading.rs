//! One attempt: asking the server and reading its answer, whatever it looks like.

use std::time::Duration;

use bytes::Bytes;
use cepa_core::{ChatChunk, ChatResponse, ErrorType, Id, ModelError, ModelOutlet};
use reqwest::{Response, header::CONTENT_TYPE};
use tokio::time::Instant;

use super::{answer::Packet, assembly::Assembly, chat::OpenAiChat};
use crate::endpoint::{EventDecoder, Patience, ServerError};

/// How long to wait for what may follow the end of an answer: the usage, and `[DONE]`.
const EPILOGUE: Duration = Duration::from_secs(5);

/// Where the pieces of an answer go.
pub(super) struct Sink<'a> {
    out: &'a ModelOutlet,
    /// When this attempt began.
    began: Instant,
    /// Whether a piece went out: after that there is no further attempt.
    pub(super) sent: bool,
}

impl<'a> Sink<'a> {
    pub(super) fn new(out: &'a ModelOutlet) -> Self {
        Self { out, began: Instant::now(), sent: false }
    }

    /// Takes a packet: what can be shown of it goes out.
    async fn take(&mut self, packet: Packet, assembly: &mut Assembly) {
        let tells_usage = packet.usage.is_some();
        let chunk = assembly.take(packet);
        if tells_usage && let Some(usage) = assembly.usage(self.seconds()) {
            self.out.report_usage(usage);
        }
        self.send(chunk).await;
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    async fn send(&mut self, chunk: ChatChunk) {
        if !chunk.is_empty() {
            self.sent = true;
            self.out.emit(chunk).await;
        }
    }
}

impl OpenAiChat {
    /// Asks once. `taken`: ids of tool calls that the conversation has already.
    pub(super) async fn attempt(
        &self,
        body: Bytes,
        taken: impl IntoIterator<Item = Id>,
        patience: &mut Patience,
        sink: &mut Sink<'_>,
    ) -> Result<ChatResponse, ModelError> {
        let mut response = self.endpoint.post(body, patience).await?;
        let mut assembly = Assembly::new(taken);
        if is_json(&response) {
            let body = self.endpoint.body(&mut response, patience).await?;
            self.take_whole(&body, &mut assembly, sink).await?;
        } else {
            self.take_events(&mut response, patience, &mut assembly, sink).await?;
        }
        if assembly.finish_reason() == Some("error") {
            return Err(self.upstream("the server ended its answer with an error"));
        }
        let (rest, response) = assembly
            .finish(sink.seconds())
            .map_err(|_| self.upstream("the server sent a tool call without the tool's name"))?;
        sink.send(rest).await;
        Ok(response)
    }

    async fn take_events(
        &self,
        response: &mut Response,
        patience: &mut Patience,
        assembly: &mut Assembly,
        sink: &mut Sink<'_>,
    ) -> Result<(), ModelError> {
        let mut decoder = EventDecoder::new(self.endpoint.max_event_bytes());
        let too_long = |_| self.event_too_long();
        let (mut length, mut at_end, mut events) = (0, false, 0usize);
        while !at_end {
            match self.endpoint.chunk(response, patience).await {
                Ok(Some(bytes)) => {
                    length += bytes.len();
                    if length > self.endpoint.max_body_bytes() {
                        return Err(self.endpoint.too_long());
                    }
                    decoder.push(&bytes);
                }
                Ok(None) => at_end = true,
                // The answer is whole; only its epilogue is missing.
                Err(_) if assembly.finish_reason().is_some() => return Ok(()),
                Err(error) => return Err(error),
            }
            loop {
                let next = if at_end { decoder.finish() } else { decoder.next() };
                let Some(event) = next.map_err(too_long)? else { break };
                events += 1;
                if event.data.trim() == "[DONE]" {
                    return Ok(());
                }
                if event.is_error {
                    return Err(self.endpoint.failed(&ServerError::from_body(event.data.as_bytes())));
                }
                let packet = self.packet(event.data.as_bytes())?;
                sink.take(packet, assembly).await;
            }
            if assembly.finish_reason().is_some() {
                patience.shorten(EPILOGUE);
            }
        }
        match (events, assembly.finish_reason()) {
            (0, _) => self.take_whole(decoder.noise(), assembly, sink).await,
            (_, Some(_)) => Ok(()),
            (_, None) => Err(self.upstream("the server stopped in the middle of its answer")),
        }
    }

    /// An answer that is one JSON text.
    async fn take_whole(
        &self,
        body: &[u8],
        assembly: &mut Assembly,
        sink: &mut Sink<'_>,
    ) -> Result<(), ModelError> {
        if body.trim_ascii().is_empty() {
            return Err(self.upstream("the server's answer is empty"));
        }
        let mut packet = self.packet(body)?;
        let Some(choices) = packet.choices.as_mut().filter(|choices| !choices.is_empty()) else {
            return Err(self.endpoint.garbage("the server's answer holds no `choices`", body));
        };
        // Whole calls have no index: each is its own.
        let calls = choices.iter_mut().filter_map(|choice| choice.delta.as_mut()?.tool_calls.as_mut());
        for calls in calls {
            for (call, index) in calls.iter_mut().zip(0..) {
                call.index = Some(index);
            }
        }
        sink.take(packet, assembly).await;
        Ok(())
    }

    /// The packet that this JSON is, or the error that it is.
    fn packet(&self, json: &[u8]) -> Result<Packet, ModelError> {
        let packet = serde_json::from_slice::<Packet>(json);
        if let Ok(packet) = packet
            && packet.error.is_none()
            && (packet.choices.is_some() || packet.usage.is_some())
        {
            return Ok(packet);
        }
        let Ok(value) = serde_json::from_slice(json) else {
            return Err(self.endpoint.garbage("the server's answer is not JSON", json));
        };
        if let Some(error) = ServerError::from_json(&value) {
            return Err(self.endpoint.failed(&error));
        }
        serde_json::from_value(value)
            .map_err(|_| self.endpoint.garbage("the server's answer is not a chat completion", json))
    }

    fn event_too_long(&self) -> ModelError {
        let limit = self.endpoint.max_event_bytes();
        let mut error =
            self.upstream(&format!("the server sent an event longer than {limit} bytes (`max_event_bytes`)"));
        error.retryable = false;
        error
    }

    fn upstream(&self, what: &str) -> ModelError {
        self.endpoint.error(ErrorType::Upstream, what)
    }
}

fn is_json(response: &Response) -> bool {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("application/json"))
}
