//! The span of one model call: `chat`.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use cepa_core::{
    ChatModel, ChatResponse, Cx, FinishedReason, ModelCall, ModelOptions, ModelRequest, Next, Purpose,
    Result, ToolChoiceMode, serde_json,
};
use opentelemetry::{KeyValue, StringValue};
use tracing::{Instrument as _, Span, field::Empty, info_span, record_all};

use crate::{
    TracingMiddleware,
    content::{Writer, tool_definitions},
    names,
    reply::within,
    span::{Open, error_type},
};

impl TracingMiddleware {
    pub(crate) async fn chat(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let model = request.model.clone().unwrap_or_else(|| cx.model().clone());
        let session_id = cx.state()?.session_id.to_string();
        let open = Open::new(within(&cx, || self.chat_span(&*model, &request, &session_id)));
        let first = Arc::new(OnceLock::new());
        let next = {
            let first = first.clone();
            next.tapped(move |_| _ = first.get_or_init(Instant::now))
        };
        let result = match self.capture.is_off() {
            true => next.run(request).instrument(open.span.clone()).await,
            false => next.collect(request).instrument(open.span.clone()).await,
        };
        let first_chunk = first.get().map(|first| first.duration_since(open.began).as_secs_f64());
        self.measure(&*model, &open, first_chunk, &result);
        match &result {
            Ok(response) => self.end_chat(open, first_chunk, response),
            Err(error) => {
                if let Some(usage) = error.usage() {
                    open.span.record(names::INPUT_TOKENS, usage.input_tokens as i64);
                    open.span.record(names::OUTPUT_TOKENS, usage.output_tokens as i64);
                }
                open.fail_with(error, &self.capture);
            }
        }
        result
    }

    fn chat_span(&self, model: &dyn ChatModel, request: &ModelRequest, session_id: &str) -> Span {
        let name = model.name();
        let options = Options::of(model, request);
        let messages = Writer::new(&self.capture).map(|mut writer| writer.messages(&request.messages));
        let may_call = request.tool_choice.as_ref().is_none_or(|choice| choice.mode != ToolChoiceMode::None);
        // As large as the content, and part of what is looked at with it.
        let tools = (may_call && !request.tools.is_empty() && !self.capture.is_off())
            .then(|| tool_definitions(&request.tools));
        let purpose = (request.purpose != Purpose::Chat).then(|| request.purpose.to_string());
        info_span!(
            target: "cepa_tracing",
            "chat",
            otel.name = %format_args!("chat {name}"),
            otel.status_code = Empty,
            otel.status_description = Empty,
            { names::OPERATION_NAME } = "chat",
            { names::PROVIDER_NAME } = model.provider(),
            { names::CONVERSATION_ID } = session_id,
            { names::MODEL_CALL_PURPOSE } = purpose.as_deref(),
            { names::REQUEST_MODEL } = name,
            { names::REQUEST_TEMPERATURE } = options.number(|options| options.temperature),
            { names::REQUEST_TOP_P } = options.number(|options| options.top_p),
            { names::REQUEST_TOP_K } = options.extra("top_k"),
            { names::REQUEST_MAX_TOKENS } = options.max_tokens(),
            { names::REQUEST_PRESENCE_PENALTY } = options.extra("presence_penalty"),
            { names::REQUEST_FREQUENCY_PENALTY } = options.extra("frequency_penalty"),
            { names::REQUEST_STOP_SEQUENCES } = options.stop().as_deref(),
            { names::REQUEST_SEED } = options.find(|options| options.seed),
            { names::TOOL_DEFINITIONS } = tools.as_deref(),
            { names::INPUT_MESSAGES } = messages.as_deref(),
            { names::OUTPUT_MESSAGES } = Empty,
            { names::RESPONSE_ID } = Empty,
            { names::RESPONSE_MODEL } = Empty,
            { names::RESPONSE_FINISH_REASONS } = Empty,
            { names::TIME_TO_FIRST_CHUNK } = Empty,
            { names::REQUEST_RESEND_COUNT } = Empty,
            { names::INPUT_TOKENS } = Empty,
            { names::OUTPUT_TOKENS } = Empty,
            { names::CACHE_READ_INPUT_TOKENS } = Empty,
            { names::CACHE_CREATION_INPUT_TOKENS } = Empty,
            { names::AGENTSCOPE_CACHE_INPUT_TOKENS } = Empty,
            { names::AGENTSCOPE_CACHE_CREATION_INPUT_TOKENS } = Empty,
            { names::ERROR_TYPE } = Empty,
            { names::CANCELLED } = Empty,
        )
    }

    fn end_chat(&self, open: Open, first_chunk: Option<f64>, response: &ChatResponse) {
        let interrupted = response.finished_reason == FinishedReason::Interrupted;
        let reason = match response.metadata.get("finish_reason").and_then(|reason| reason.as_str()) {
            _ if interrupted => "interrupted",
            Some(reason) => reason,
            None => "stop",
        };
        let reasons = serde_json::json!([reason]).to_string();
        let messages =
            Writer::new(&self.capture).map(|mut writer| writer.answer(response.content.blocks(), reason));
        let resends = response.metadata.get("resend_count").and_then(|count| count.as_i64());
        let id = response.id.to_string();
        let usage = response.usage.as_ref();
        let tokens = |tokens: u64| (tokens > 0).then_some(tokens as i64);
        let cache_read = usage.and_then(|usage| tokens(usage.cache_input_tokens));
        let cache_creation = usage.and_then(|usage| tokens(usage.cache_creation_input_tokens));
        record_all!(
            open.span,
            { names::RESPONSE_ID } = id.as_str(),
            { names::RESPONSE_MODEL } = response_model(response),
            { names::RESPONSE_FINISH_REASONS } = reasons.as_str(),
            { names::TIME_TO_FIRST_CHUNK } = first_chunk,
            { names::REQUEST_RESEND_COUNT } = resends,
            { names::OUTPUT_MESSAGES } = messages.as_deref(),
            { names::INPUT_TOKENS } = usage.map(|usage| usage.input_tokens as i64),
            { names::OUTPUT_TOKENS } = usage.map(|usage| usage.output_tokens as i64),
            { names::CACHE_READ_INPUT_TOKENS } = cache_read,
            { names::CACHE_CREATION_INPUT_TOKENS } = cache_creation,
            { names::AGENTSCOPE_CACHE_INPUT_TOKENS } = cache_read,
            { names::AGENTSCOPE_CACHE_CREATION_INPUT_TOKENS } = cache_creation,
        );
        if interrupted { open.interrupt() } else { open.succeed() }
    }

    fn measure(
        &self,
        model: &dyn ChatModel,
        open: &Open,
        first_chunk: Option<f64>,
        result: &Result<ChatResponse>,
    ) {
        let mut attributes = vec![
            KeyValue::new(names::OPERATION_NAME, "chat"),
            KeyValue::new(names::PROVIDER_NAME, model.provider().to_owned()),
            KeyValue::new(names::REQUEST_MODEL, model.name().to_owned()),
        ];
        let usage = match result {
            Ok(response) => {
                if let Some(model) = response_model(response) {
                    attributes
                        .push(KeyValue::new(names::RESPONSE_MODEL, StringValue::from(model.to_owned())));
                }
                response.usage.as_ref()
            }
            Err(error) => error.usage(),
        };
        let instruments = self.instruments();
        if let Some(usage) = usage {
            instruments.usage(usage.input_tokens, usage.output_tokens, &mut attributes);
        }
        if let Some(seconds) = first_chunk {
            instruments.first_chunk(seconds, &attributes);
        }
        if let Err(error) = result {
            attributes.push(KeyValue::new(names::ERROR_TYPE, error_type(error)));
        }
        instruments.operation(open.seconds(), &attributes);
    }
}

/// The model that answered: as the server calls it, else as it is called here.
fn response_model(response: &ChatResponse) -> Option<&str> {
    let server_model = response.metadata.get("server_model").and_then(|model| model.as_str());
    server_model.or(response.model.as_deref())
}

/// Parameters of a request: its own, and the model's where it has none.
struct Options<'a> {
    own: &'a ModelOptions,
    defaults: Option<&'a ModelOptions>,
}

impl<'a> Options<'a> {
    fn of(model: &'a dyn ChatModel, request: &'a ModelRequest) -> Self {
        Self { own: &request.options, defaults: model.default_options() }
    }

    fn find<T>(&self, get: impl Fn(&'a ModelOptions) -> Option<T>) -> Option<T> {
        get(self.own).or_else(|| self.defaults.and_then(get))
    }

    fn number(&self, get: impl Fn(&'a ModelOptions) -> Option<f64>) -> Option<f64> {
        self.find(get)
    }

    /// A number that is no parameter of every server.
    fn extra(&self, name: &str) -> Option<f64> {
        self.find(|options| options.extra.get(name).and_then(|value| value.as_f64()))
    }

    fn max_tokens(&self) -> Option<i64> {
        // OpenAI's reasoning models take it by another name.
        let limit = self.find(|options| options.max_tokens.map(i64::from));
        limit.or_else(|| self.extra("max_completion_tokens").map(|limit| limit as i64))
    }

    fn stop(&self) -> Option<String> {
        self.find(|options| (!options.stop.is_empty()).then(|| serde_json::json!(options.stop).to_string()))
    }
}
