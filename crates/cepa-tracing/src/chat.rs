//! The span of one model call: `chat`.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use cepa_core::{
    ChatModel, ChatResponse, ChatUsage, Cx, FinishedReason, Meter, ModelCall, ModelOptions, ModelRequest,
    Next, Purpose, Result, ToolChoiceMode, Usage, serde_json,
};
use opentelemetry::{KeyValue, StringValue};
use tracing::{Instrument as _, Span, field::Empty, info_span, record_all};

use crate::{TracingMiddleware, content::Writer, metrics::Instruments, names, reply::within, span::Open};

impl TracingMiddleware {
    pub(crate) async fn chat(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        let model = request.model.clone().unwrap_or_else(|| cx.model().clone());
        let session_id = cx.state()?.session_id.to_string();
        let span = within(&cx, || self.chat_span(&*model, &request, &session_id));
        let attributes = vec![
            KeyValue::new(names::OPERATION_NAME, "chat"),
            KeyValue::new(names::PROVIDER_NAME, model.provider().to_owned()),
            KeyValue::new(names::REQUEST_MODEL, model.name().to_owned()),
        ];
        let (next, meter) = next.metered();
        let mut chat = Chat {
            open: Open::new(span, self.instruments(), attributes),
            instruments: self.instruments(),
            meter,
            first: Arc::default(),
            ended: false,
        };
        let next = {
            let first = chat.first.clone();
            next.tapped(move |_| _ = first.get_or_init(Instant::now))
        };
        let span = chat.open.span.clone();
        let result = match self.capture.is_off() {
            true => next.run(request).instrument(span).await,
            false => next.collect(request).instrument(span).await,
        };
        match &result {
            Ok(response) => self.end_chat(&mut chat, response),
            Err(error) => {
                chat.end(error.usage());
                chat.open.fail_with(error, &self.capture);
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
        let tools = Writer::new(&self.capture)
            .filter(|_| may_call && !request.tools.is_empty())
            .map(|mut writer| writer.tool_definitions(&request.tools));
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

    fn end_chat(&self, chat: &mut Chat<'_>, response: &ChatResponse) {
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
        let (model, span) = (response_model(response), &chat.open.span);
        record_all!(
            span,
            { names::RESPONSE_ID } = id.as_str(),
            { names::RESPONSE_MODEL } = model,
            { names::RESPONSE_FINISH_REASONS } = reasons.as_str(),
            { names::OUTPUT_MESSAGES } = messages.as_deref(),
            { names::REQUEST_RESEND_COUNT } = resends,
        );
        let model =
            model.map(|model| KeyValue::new(names::RESPONSE_MODEL, StringValue::from(model.to_owned())));
        chat.open.attributes.extend(model);
        chat.end(response.usage.as_ref());
        if interrupted { chat.open.interrupt() } else { chat.open.succeed() }
    }
}

/// A model call that runs. Dropped before it has ended, it was cut off: what is known of it by then is told all the same.
struct Chat<'a> {
    open: Open<'a>,
    instruments: &'a Instruments,
    meter: Meter,
    /// When the first piece of the answer came.
    first: Arc<OnceLock<Instant>>,
    ended: bool,
}

impl Chat<'_> {
    /// The call has ended: tells and measures what it has spent, with what was given up on the way.
    fn end(&mut self, told: Option<&ChatUsage>) {
        self.ended = true;
        let given_up = self.meter.given_up().into_iter().flatten();
        self.spent(sum(told.map(Usage::from).into_iter().chain(given_up)).as_ref());
    }

    /// Tells and measures this, and when the answer began.
    fn spent(&mut self, usage: Option<&Usage>) {
        let Open { span, began, attributes, .. } = &mut self.open;
        let first_chunk = self.first.get().map(|first| first.duration_since(*began).as_secs_f64());
        let tokens = |tokens: u64| (tokens > 0).then_some(tokens as i64);
        let cache_read = usage.and_then(|usage| tokens(usage.cache_input_tokens));
        let cache_creation = usage.and_then(|usage| tokens(usage.cache_creation_input_tokens));
        record_all!(
            span,
            { names::TIME_TO_FIRST_CHUNK } = first_chunk,
            { names::INPUT_TOKENS } = usage.map(|usage| usage.input_tokens as i64),
            { names::OUTPUT_TOKENS } = usage.map(|usage| usage.output_tokens as i64),
            { names::CACHE_READ_INPUT_TOKENS } = cache_read,
            { names::CACHE_CREATION_INPUT_TOKENS } = cache_creation,
            { names::AGENTSCOPE_CACHE_INPUT_TOKENS } = cache_read,
            { names::AGENTSCOPE_CACHE_CREATION_INPUT_TOKENS } = cache_creation,
        );
        if let Some(usage) = usage {
            self.instruments.usage(usage.input_tokens, usage.output_tokens, attributes);
        }
        if let Some(seconds) = first_chunk {
            self.instruments.first_chunk(seconds, attributes);
        }
    }
}

impl Drop for Chat<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.spent(sum(self.meter.all().into_iter().flatten()).as_ref());
        }
    }
}

fn sum(usages: impl Iterator<Item = Usage>) -> Option<Usage> {
    usages.reduce(|mut sum, usage| {
        sum += usage;
        sum
    })
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
