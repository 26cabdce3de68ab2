//! A scripted model, a tool and an offloader, for these tests.

use std::{
    collections::VecDeque,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use cepa_core::{
    Agent, AgentBuilder, AgentState, BoxFuture, CancelToken, ChatModel, ChatResponse, ChatUsage,
    ContentBlock, ContextConfig, DataBlock, ErrorType, Id, InjectionConfig, ModelError, ModelOutlet,
    ModelRequest, Msg, Offloader, OutputBlock, Result, TextBlock, TextOrBlocks, Tool, ToolCallBlock,
    ToolChoiceMode, ToolCx, ToolError, ToolResponse, ToolResultBlock, ToolSchema, estimate_tokens,
    serde_json::{Map, Value, json},
};

/// What the model does when it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    Text(&'static str),
    Call(&'static str, &'static str),
    /// A structured answer.
    Object(Value),
    Fail,
    /// Cancels this, and never answers.
    Cancel(CancelToken),
}

/// A model that follows a script: one list of answers for steps of the reply, one for structured requests.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) size: AtomicU64,
    chat: Mutex<VecDeque<Say>>,
    structured: Mutex<VecDeque<Say>>,
    requests: Mutex<Vec<ModelRequest>>,
    pub(crate) counted: AtomicUsize,
    pub(crate) refuses_choice: bool,
}

impl Scripted {
    pub(crate) fn new(
        size: u64,
        chat: impl IntoIterator<Item = Say>,
        structured: impl IntoIterator<Item = Say>,
    ) -> Self {
        Self {
            size: size.into(),
            chat: Mutex::new(chat.into_iter().collect()),
            structured: Mutex::new(structured.into_iter().collect()),
            requests: Mutex::default(),
            counted: AtomicUsize::new(0),
            refuses_choice: false,
        }
    }

    /// Every request as lines of `purpose` and `role: blocks`.
    pub(crate) fn asked(&self) -> Vec<Vec<String>> {
        self.requests.lock().unwrap().iter().map(lines).collect()
    }

    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }
}

fn lines(request: &ModelRequest) -> Vec<String> {
    let messages = request.messages.iter().map(|msg| shown(msg));
    std::iter::once(request.purpose.to_string()).chain(messages).collect()
}

/// A message as `role: block|block`, long texts by their beginning, the instruction of structured requests left out.
pub(crate) fn shown(msg: &Msg) -> String {
    let blocks = msg.content.iter().filter_map(|block| match block {
        ContentBlock::Text(block) if block.text == cepa_core::texts::PROMPT_STRUCTURED_OUTPUT => None,
        ContentBlock::Text(block) => Some(block.text.chars().take(12).collect()),
        ContentBlock::Hint(block) => Some(format!("hint {}", block.hint.text())),
        ContentBlock::ToolCall(call) => Some(format!("call {}", call.id)),
        ContentBlock::ToolResult(result) => Some(format!("result {}", result.id)),
        other => Some(other.block_type().to_owned()),
    });
    format!("{}: {}", msg.role, blocks.collect::<Vec<_>>().join("|"))
}

pub(crate) fn shown_context(agent: &Agent) -> Vec<String> {
    agent.state().unwrap().context.iter().map(|msg| shown(msg)).collect()
}

pub(crate) fn summary(agent: &Agent) -> String {
    agent.state().unwrap().summary.text().into_owned()
}

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn context_size(&self) -> u64 {
        self.size.load(Relaxed)
    }

    fn count_tokens(&self, messages: &[Arc<Msg>], tools: &[ToolSchema]) -> u64 {
        self.counted.fetch_add(1, Relaxed);
        estimate_tokens(messages, tools)
    }

    fn call(&self, request: ModelRequest, _out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        let is_structured = request.tools.iter().any(|tool| **tool.name() == *"generate_structured_output");
        let script = if is_structured { &self.structured } else { &self.chat };
        let is_forced =
            matches!(request.tool_choice.as_ref().map(|choice| &choice.mode), Some(ToolChoiceMode::Tool(_)));
        self.requests.lock().unwrap().push(request);
        let say = if is_forced && self.refuses_choice {
            Say::Fail
        } else {
            script.lock().unwrap().pop_front().unwrap_or(Say::Fail)
        };
        Box::pin(async move {
            let (block, usage): (ContentBlock, _) = match say {
                Say::Text(text) => {
                    return Ok(ChatResponse::own_text(text).with_usage(ChatUsage::new(10, 5, 0.0)));
                }
                Say::Call(id, name) => {
                    (ToolCallBlock::new(id, name, "{}").into(), ChatUsage::new(10, 5, 0.0))
                }
                Say::Object(object) => {
                    let call = ToolCallBlock::new("s", "generate_structured_output", object.to_string());
                    (call.into(), ChatUsage::new(30, 7, 0.0))
                }
                Say::Fail => return Err(ModelError::new(ErrorType::InvalidRequest, "boom").into()),
                Say::Cancel(token) => {
                    token.cancel();
                    std::future::pending().await
                }
            };
            Ok(ChatResponse::own(vec![block]).with_usage(usage))
        })
    }
}

/// Gives back a text, so many times.
pub(crate) fn repeat(text: &str, times: usize) -> Blocks {
    Blocks(vec![TextBlock::new(text.repeat(times)).into()])
}

/// Gives back these blocks.
#[derive(Debug)]
pub(crate) struct Blocks(pub(crate) Vec<OutputBlock>);

impl Tool for Blocks {
    fn name(&self) -> &str {
        "repeat"
    }
    fn description(&self) -> &str {
        "Gives blocks."
    }
    fn input_schema(&self) -> &Value {
        static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));
        &SCHEMA
    }
    fn is_read_only(&self) -> bool {
        true
    }
    fn call(
        self: Arc<Self>,
        _input: Map<String, Value>,
        _cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move { Ok(ToolResponse::own(self.0.clone())) })
    }
}

/// Keeps what it is given, as lines.
#[derive(Debug, Default)]
pub(crate) struct Kept(pub(crate) Mutex<Vec<String>>);

impl Kept {
    fn keep(&self, line: String) -> BoxFuture<'_, Result<String>> {
        let mut kept = self.0.lock().unwrap();
        kept.push(line);
        let path = format!("/off/{}", kept.len());
        Box::pin(std::future::ready(Ok(path)))
    }
}

impl Offloader for Kept {
    fn offload_context<'a>(&'a self, _session: &'a Id, messages: &'a [Msg]) -> BoxFuture<'a, Result<String>> {
        self.keep(messages.iter().map(shown).collect::<Vec<_>>().join("; "))
    }

    fn offload_tool_result<'a>(
        &'a self,
        _session: &'a Id,
        result: &'a ToolResultBlock,
    ) -> BoxFuture<'a, Result<String>> {
        self.keep(shown_output(&result.output))
    }

    fn offload_data_block<'a>(&'a self, block: &'a DataBlock) -> BoxFuture<'a, Result<Option<String>>> {
        let path = self.keep(block.name.clone().unwrap_or_default());
        Box::pin(async { path.await.map(Some) })
    }
}

/// The blocks of an output, with `|` between them.
pub(crate) fn shown_output(output: &TextOrBlocks) -> String {
    let blocks = output.clone().into_blocks();
    let blocks = blocks.iter().map(|block| match block {
        OutputBlock::Text(block) => block.text.as_str(),
        _ => "data",
    });
    blocks.collect::<Vec<_>>().join("|")
}

/// 300 bytes, 75 tokens.
pub(crate) fn long() -> String {
    "long ".repeat(60)
}

/// What was said before: a question and an answer of 75 tokens each.
pub(crate) fn history() -> Vec<Msg> {
    vec![Msg::user("user", long()).with_id("h1"), Msg::assistant("Friday", long()).with_id("h2")]
}

/// Compresses at half of the context size, keeps a tenth; the summary is `SUMMARY[…]` of one field.
pub(crate) fn context_config() -> ContextConfig {
    let mut config = ContextConfig::default();
    config.trigger_ratio = 0.5;
    config.reserve_ratio = 0.1;
    config.compression_prompt = "COMPRESS".to_owned();
    config.summary_template = "SUMMARY[{s}]".to_owned();
    config.summary_schema =
        json!({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]});
    config
}

pub(crate) fn short() -> Say {
    Say::Object(json!({"s": "short"}))
}

/// An agent with this model and history.
pub(crate) fn agent(model: &Arc<Scripted>, history: Vec<Msg>) -> AgentBuilder {
    let mut state = AgentState::with_session_id("s1");
    state.context = history.into_iter().map(Arc::new).collect();
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday")
        .system_prompt("SYS")
        .model(model.clone())
        .context_config(context_config())
        .injection_config(injection)
        .state(state)
}
