//! [`PromptCacheHints`]: where a server may cut its cache of prompts.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use cepa_core::{
    ChatResponse, Cx, Middleware, MiddlewareKey, ModelCall, ModelRequest, Msg, Next, OrderRule, Purpose,
    Result, Role, estimate_tokens, middleware,
};
use serde_json::{Value, json};

/// The entry of a message's metadata that models over OpenAI-compatible APIs send with its last text part.
const CACHE_CONTROL: &str = "cache_control";

/// The parameter by which OpenAI sends requests with the same beginning to the same machine.
const PROMPT_CACHE_KEY: &str = "prompt_cache_key";

/// Tells the server which beginnings of a request to keep: the system prompt with the tools, and all up to the last
/// message, so that each round goes on from the one before.
///
/// Servers in Anthropic's way (Anthropic's models over OpenRouter or LiteLLM, Qwen over DashScope) want marks:
/// `"cache_control": {"type": "ephemeral"}` at a text. `OpenAiChat` writes them where the metadata of a request's message
/// says so. OpenAI's own keeps beginnings by itself, and takes a [key](Self::with_cache_key) by which it finds them.
/// A server that knows neither may refuse the marks: use the layer where it is known to help.
///
/// A beginning is of use only while it stays the same. If system prompt or tools change from round to round of a reply, a
/// warning is logged, once a reply.
///
/// ```
/// use cepa_router::PromptCacheHints;
///
/// let for_anthropic = PromptCacheHints::new().with_ttl("1h");
/// let for_openai = PromptCacheHints::new().with_cache_key().without_marks();
/// # let _ = (for_anthropic, for_openai);
/// ```
#[derive(Clone, Debug)]
pub struct PromptCacheHints {
    marks: bool,
    ttl: Option<String>,
    cache_key: bool,
    min_tokens: u64,
}

impl Default for PromptCacheHints {
    fn default() -> Self {
        Self::new()
    }
}

impl PromptCacheHints {
    /// Marks, in requests of about 1 024 tokens and more: servers keep nothing shorter.
    #[must_use]
    pub const fn new() -> Self {
        Self { marks: true, ttl: None, cache_key: false, min_tokens: 1_024 }
    }

    /// How long a marked beginning is kept, in the server's own words (`5m`, `1h`).
    #[must_use]
    pub fn with_ttl(mut self, ttl: impl Into<String>) -> Self {
        self.ttl = Some(ttl.into());
        self
    }

    /// Sends the session's id as `prompt_cache_key`, unless the request has one.
    #[must_use]
    pub const fn with_cache_key(mut self) -> Self {
        self.cache_key = true;
        self
    }

    /// Sets no marks.
    #[must_use]
    pub const fn without_marks(mut self) -> Self {
        self.marks = false;
        self
    }

    /// From how many estimated tokens of a request on marks are set.
    #[must_use]
    pub const fn min_tokens(mut self, tokens: u64) -> Self {
        self.min_tokens = tokens;
        self
    }

    fn mark(&self) -> Value {
        match &self.ttl {
            Some(ttl) => json!({"type": "ephemeral", "ttl": ttl}),
            None => json!({"type": "ephemeral"}),
        }
    }

    fn set_mark(&self, message: &mut Arc<Msg>) {
        if !message.metadata.contains_key(CACHE_CONTROL) {
            Arc::make_mut(message).metadata.insert(CACHE_CONTROL, self.mark());
        }
    }
}

/// What the requests of this reply begin with.
#[derive(Clone, Copy, Default)]
struct Beginning {
    hash: Option<u64>,
    changes: u32,
}

impl Beginning {
    /// Whether this is the change that is to be told: the second one, as one alone may have its reason.
    fn changes_to(&mut self, hash: u64) -> bool {
        if self.hash.is_some_and(|before| before != hash) {
            self.changes += 1;
        }
        let told = self.hash != Some(hash) && self.changes == 2;
        self.hash = Some(hash);
        told
    }
}

fn beginning(request: &ModelRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    for message in request.messages.iter().take_while(|message| message.role == Role::System) {
        message.text().hash(&mut hasher);
    }
    for tool in &*request.tools {
        (tool.name(), tool.description()).hash(&mut hasher);
    }
    hasher.finish()
}

#[middleware]
impl Middleware for PromptCacheHints {
    fn key(&self) -> Option<MiddlewareKey> {
        None // keeps nothing in the session
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of("ContextEditing", "outside, it marks messages that are changed afterwards"),
            OrderRule::inside_of("ToolSelector", "outside, it looks at tools that are not sent"),
        ];
        RULES
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        mut request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        if request.purpose != Purpose::Chat {
            return next.run(request).await;
        }
        let hash = beginning(&request);
        if cx.scratch().update(|seen: &mut Beginning| seen.changes_to(hash)) {
            tracing::warn!(
                agent = cx.agent_name(),
                "system prompt or tools change from round to round: the server's cache of prompts is of no use. Put \
                 what changes into hints, behind what stays"
            );
        }
        if self.cache_key && !request.options.extra.contains_key(PROMPT_CACHE_KEY) {
            let session = cx.state()?.session_id.to_string();
            request.options.extra.insert(PROMPT_CACHE_KEY, session);
        }
        if self.marks && estimate_tokens(&request.messages, &request.tools) >= self.min_tokens {
            let system = request.messages.iter().rposition(|message| message.role == Role::System);
            let last = request.messages.len().checked_sub(1);
            for at in [system, last.filter(|last| Some(*last) != system)].into_iter().flatten() {
                if let Some(message) = request.messages.get_mut(at) {
                    self.set_mark(message);
                }
            }
        }
        next.run(request).await
    }
}
