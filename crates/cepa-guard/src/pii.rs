//! [`PiiGuard`]: personal data stays inside.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use cepa_core::{
    Acting, ActingInput, ChatResponse, Cx, Middleware, MiddlewareKey, ModelCall, ModelRequest, Msg, Next,
    OrderRule, Reply, ReplyInput, Result, ToolResponse, middleware,
};

use crate::screen::{Action, Cleaner, Detector, OnBlock, Pii, Places, ScreenError, Screening, Writer};

/// Takes personal data out of what goes in and out: messages before they reach the state, the model's text and thinking
/// while they stream, the arguments of tool calls, tool results, requests and the texts of errors.
///
/// A value is found wherever the borders of its pieces are, and behind the escapes of JSON. Only what may be the
/// beginning of a value is held back (mostly the last word); arguments of tool calls go out when they are whole. Alone,
/// its place does not matter: nothing that it knows is in any event, request, state or log. Beside layers that keep or
/// repeat what they see it belongs innermost, and [`for_input`](Self::for_input) of it outermost.
///
/// ```
/// use cepa_core::{Agent, testing::{Answer, ScriptedModel}};
/// use cepa_guard::{Action, Pii, PiiGuard};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = PiiGuard::builder()
///     .detect(Pii::Email, Action::Redact)
///     .detect(Pii::Card, Action::Mask)
///     .pattern("staff_number", r"S-[0-9]{6}", 8, Action::Redact)
///     .build()?;
/// let model = ScriptedModel::new([Answer::new().texts(["Bob (bob@exam", "ple.com), S-12", "3456"])]);
/// let mut agent = Agent::builder("Friday").model(model).middleware(guard).build()?;
/// let answer = agent.reply("Who has 4111 1111 1111 1111?").await?;
/// assert_eq!(answer.text().as_deref(), Some("Bob ([REDACTED:email]), [REDACTED:staff_number]"));
/// assert_eq!(agent.state()?.context[0].text().as_deref(), Some("Who has ****1111?"));
/// # Ok(()) }
/// ```
///
/// What it does not see: the bytes of images and files, and values that are written in words. Nothing that matches
/// letters and digits knows what they mean: `docs/guard.md` tells how often plain text is taken for a value.
#[derive(Clone)]
pub struct PiiGuard {
    screening: Screening,
}

impl PiiGuard {
    /// A guard that looks for nothing yet, everywhere but in the system prompt.
    pub fn builder() -> PiiGuardBuilder {
        PiiGuardBuilder {
            detectors: Vec::new(),
            key: None,
            places: Places::default(),
            on_block: OnBlock::default(),
            error: None,
        }
    }

    /// The same detectors for what goes in only: the outermost layer, where the whole stands innermost. Then the layers
    /// in between (traces, logs, limits, retries) see neither what a user wrote nor what a model or a tool said.
    #[must_use]
    pub fn for_input(&self) -> Self {
        Self { screening: self.screening.for_input() }
    }

    /// What the guard finds in a text: the detectors' names and the places in bytes, in order. To try detectors out.
    ///
    /// ```
    /// use cepa_guard::{Action, Pii, PiiGuard};
    ///
    /// let guard = PiiGuard::builder().detect_all(Action::Redact).build()?;
    /// assert_eq!(guard.find("Write to bob@example.com."), [("email".into(), 9..24)]);
    /// # Ok::<_, cepa_guard::ScreenError>(())
    /// ```
    pub fn find(&self, text: &str) -> Vec<(Arc<str>, Range<usize>)> {
        self.screening.cleaner.found(text)
    }
}

/// Sets a [`PiiGuard`] up.
#[must_use = "nothing is built until `build()`"]
pub struct PiiGuardBuilder {
    detectors: Vec<Detector>,
    key: Option<Vec<u8>>,
    places: Places,
    on_block: OnBlock,
    error: Option<ScreenError>,
}

impl PiiGuardBuilder {
    /// Looks for a kind of personal data.
    pub fn detect(self, kind: Pii, action: Action) -> Self {
        self.add(kind.detector(), action)
    }

    /// Looks for all kinds of [`Pii`].
    pub fn detect_all(self, action: Action) -> Self {
        Pii::ALL.into_iter().fold(self, |builder, kind| builder.detect(kind, action))
    }

    /// Looks for a regular expression (of the crate `regex`). `longest`: bytes of the longest value that is expected;
    /// no more than that is held back of a stream.
    pub fn pattern(self, name: impl Into<Arc<str>>, pattern: &str, longest: usize, action: Action) -> Self {
        self.add(Detector::pattern(name, pattern, longest, None), action)
    }

    /// Looks with a function that gives the ranges (in bytes) of the values in a text. It is asked anew whenever text
    /// has come, and should say the same of the same text whatever comes later. Of a stream, the last `longest` bytes
    /// are always held back.
    pub fn function(
        self,
        name: impl Into<Arc<str>>,
        longest: usize,
        find: impl Fn(&str) -> Vec<Range<usize>> + Send + Sync + 'static,
        action: Action,
    ) -> Self {
        self.add(Detector::function(name, longest, find), action)
    }

    fn add(mut self, detector: std::result::Result<Detector, ScreenError>, action: Action) -> Self {
        match detector {
            Ok(detector) => self.detectors.push(detector.with_action(action)),
            Err(error) => _ = self.error.get_or_insert(error),
        }
        self
    }

    /// The key for [`Action::Hash`], at least 16 bytes. It is not kept as it is and never shown.
    pub fn hash_key(mut self, key: impl AsRef<[u8]>) -> Self {
        self.key = Some(key.as_ref().to_vec());
        self
    }

    /// What a value does whose detector blocks: an error by default.
    pub fn on_block(mut self, on_block: OnBlock) -> Self {
        self.on_block = on_block;
        self
    }

    /// Whether messages, answers and outside results are looked at that a reply is given. Yes by default.
    pub fn input(mut self, look: bool) -> Self {
        self.places.input = look;
        self
    }

    /// Whether the model's text and thinking are looked at. Yes by default.
    pub fn output(mut self, look: bool) -> Self {
        self.places.output = look;
        self
    }

    /// Whether the arguments of tool calls are looked at. Yes by default. A tool that needs the value gets what stands
    /// in its place.
    pub fn tool_arguments(mut self, look: bool) -> Self {
        self.places.tool_arguments = look;
        self
    }

    /// Whether tool results are looked at. Yes by default.
    pub fn tool_results(mut self, look: bool) -> Self {
        self.places.tool_results = look;
        self
    }

    /// Whether each request's messages are looked at before the model gets them, and changed in the state too: hints of
    /// other layers, a summary, what an agent has observed. Yes by default.
    pub fn requests(mut self, look: bool) -> Self {
        self.places.requests = look;
        self
    }

    /// Whether the system prompt is looked at, with the requests. No by default: it is the developer's own.
    pub fn system_prompt(mut self, look: bool) -> Self {
        self.places.system_prompt = look;
        self
    }

    /// Checks all and builds the layer.
    ///
    /// # Errors
    /// The first thing that is wrong: a pattern, a length, no detector, no key or a short one.
    pub fn build(self) -> std::result::Result<PiiGuard, ScreenError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let cleaner = Cleaner::new(self.detectors, Writer::new(self.key.as_deref())?)?;
        let screening = Screening {
            guard: "PiiGuard",
            cleaner: Arc::new(cleaner),
            places: self.places,
            on_block: self.on_block,
        };
        Ok(PiiGuard { screening })
    }
}

#[middleware]
impl Middleware for PiiGuard {
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

impl fmt::Debug for PiiGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiiGuard").field("screening", &self.screening).finish()
    }
}

impl fmt::Debug for PiiGuardBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiiGuardBuilder")
            .field("detectors", &self.detectors)
            .field("has_key", &self.key.is_some())
            .field("places", &self.places)
            .field("on_block", &self.on_block)
            .finish_non_exhaustive()
    }
}
