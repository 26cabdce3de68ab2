//! [`SecretScrub`]: keys and passwords stay inside.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use cepa_core::{
    Acting, ActingInput, ChatResponse, Cx, Middleware, MiddlewareKey, ModelCall, ModelRequest, Msg, Next,
    OrderRule, Reply, ReplyInput, Result, ToolResponse, middleware,
};

use crate::screen::{
    Cleaner, Detector, OnBlock, Places, ScreenError, Screening, Writer, known_secrets, user_secrets,
};

/// Takes secrets out of what goes in and out: the keys and tokens of well-known services, private keys,
/// `Authorization` headers, passwords in addresses, and secrets that the caller names. `[REDACTED:github_token]` stands
/// in their place.
///
/// It looks where [`PiiGuard`](crate::PiiGuard) looks, in the same way.
///
/// ```
/// use cepa_core::{Agent, testing::{ScriptedModel, ScriptedTool, Answer}, serde_json::json};
/// use cepa_guard::SecretScrub;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let scrub = SecretScrub::builder().secret("database", "correct horse battery").build()?;
/// let model = ScriptedModel::new([Answer::new().tool_call("env", json!({})), "Done.".into()]);
/// let tool = ScriptedTool::new("env", ["PASSWORD=correct horse battery AWS=AKIAIOSFODNN7EXAMPLE"]);
/// let mut agent = Agent::builder("Friday").model(model).tool(tool).middleware(scrub).build()?;
/// agent.reply("What is set?").await?;
/// let state = agent.state()?;
/// let result = state.context[1].tool_results().next().unwrap();
/// assert_eq!(result.output.text(), "PASSWORD=[REDACTED:database] AWS=[REDACTED:aws_key]");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct SecretScrub {
    screening: Screening,
}

impl SecretScrub {
    /// A layer that knows the patterns of common secrets.
    pub fn builder() -> SecretScrubBuilder {
        let places = Places { system_prompt: true, ..Places::default() };
        SecretScrubBuilder { secrets: Vec::new(), patterns: Vec::new(), known: true, places, error: None }
    }

    /// The same detectors for what goes in only: the outermost layer, where the whole stands innermost. Then the layers
    /// in between (traces, logs, limits, retries) see neither what a user wrote nor what a model or a tool said.
    #[must_use]
    pub fn for_input(&self) -> Self {
        Self { screening: self.screening.for_input() }
    }

    /// What the layer finds in a text: the names of the secrets and the places in bytes, in order.
    pub fn find(&self, text: &str) -> Vec<(Arc<str>, Range<usize>)> {
        self.screening.cleaner.found(text)
    }
}

/// Sets a [`SecretScrub`] up.
#[must_use = "nothing is built until `build()`"]
pub struct SecretScrubBuilder {
    secrets: Vec<(String, String)>,
    patterns: Vec<Detector>,
    known: bool,
    places: Places,
    error: Option<ScreenError>,
}

impl SecretScrubBuilder {
    /// Looks for this very secret, of 6 bytes to 8 KiB. The name stands in its place.
    pub fn secret(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.secrets.push((name.into(), value.into()));
        self
    }

    /// Looks for a regular expression as well. `longest`: bytes of the longest value that is expected.
    pub fn pattern(mut self, name: impl Into<Arc<str>>, pattern: &str, longest: usize) -> Self {
        match Detector::pattern(name, pattern, longest, None) {
            Ok(detector) => self.patterns.push(detector),
            Err(error) => _ = self.error.get_or_insert(error),
        }
        self
    }

    /// Whether the patterns of common secrets are looked for. Yes by default.
    pub fn known_patterns(mut self, look: bool) -> Self {
        self.known = look;
        self
    }

    /// Whether what users write is looked at. Yes by default.
    pub fn input(mut self, look: bool) -> Self {
        self.places.input = look;
        self
    }

    /// Whether the arguments of tool calls are looked at. Yes by default.
    pub fn tool_arguments(mut self, look: bool) -> Self {
        self.places.tool_arguments = look;
        self
    }

    /// Whether the system prompt is looked at. Yes by default.
    pub fn system_prompt(mut self, look: bool) -> Self {
        self.places.system_prompt = look;
        self
    }

    /// Checks all and builds the layer.
    ///
    /// # Errors
    /// A pattern or a secret that cannot be used, or nothing to look for.
    pub fn build(self) -> std::result::Result<SecretScrub, ScreenError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        // The caller's own come first: where two find the same value, the name is theirs.
        let mut detectors = user_secrets(&self.secrets)?;
        detectors.extend(self.patterns);
        if self.known {
            detectors.extend(known_secrets()?);
        }
        let screening = Screening {
            guard: "SecretScrub",
            cleaner: Arc::new(Cleaner::new(detectors, Writer::new(None)?)?),
            places: self.places,
            on_block: OnBlock::Error,
        };
        Ok(SecretScrub { screening })
    }
}

#[middleware]
impl Middleware for SecretScrub {
    fn name(&self) -> Cow<'static, str> {
        self.screening.name()
    }

    /// It keeps nothing.
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn order(&self) -> &'static [OrderRule] {
        self.screening.order()
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        self.screening.reply(cx, input, next).await
    }

    async fn on_model_call(
        &self,
        cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        self.screening.model_call(cx, request, next).await
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        self.screening.acting(cx, input, next).await
    }
}

impl fmt::Debug for SecretScrub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretScrub").field("screening", &self.screening).finish()
    }
}

impl fmt::Debug for SecretScrubBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.secrets.iter().map(|(name, _)| name).collect();
        f.debug_struct("SecretScrubBuilder")
            .field("secrets", &names)
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}
