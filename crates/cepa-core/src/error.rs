//! The one error of the chain, the loop and its layers.

mod model;

use std::{fmt, sync::Arc, time::Duration};

pub use self::model::ModelError;
use crate::{
    id::Id,
    message::{ErrorInfo, ErrorType, MessageError, ReplyFinishedReason},
    model::ChatUsage,
    store::StoreError,
};

/// A result of the chain.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error that can be carried.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong in a hook, in the loop or around them, and where.
///
/// Hooks return it. A layer's own errors go in by [`Error::other`]; the innermost layer that an error comes out of
/// is named in it: ``on_model_call of `Retry` (layer 2 of 4): …``.
///
/// ```
/// use cepa_core::{Error, Origin};
///
/// let error = Error::other(std::io::Error::other("disk full"));
/// assert_eq!(error.to_string(), "disk full");
/// assert_eq!(error.origin(), Origin::Layer);
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    place: Place,
    usage: Option<ChatUsage>,
}

enum Place {
    Unknown,
    /// The middle of the onion.
    Core,
    /// A model.
    Model,
    Layer {
        hook: &'static str,
        name: Arc<str>,
        position: usize,
        total: usize,
    },
}

/// Whose fault an error is. Only the model's errors are retried by the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The model request failed.
    Model,
    /// A tool failed in a way that is meant for the developer.
    Tool,
    /// A layer failed, or was used wrongly.
    Layer,
    /// The agent refused: what it was given does not fit its state.
    Agent,
    /// The reply was interrupted.
    Interrupt,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A model request failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A tool failed in a way that is meant for the developer, not for the model.
    #[error("tool `{name}`: {source}")]
    Tool {
        /// The tool's name.
        name: String,
        /// What it said.
        source: BoxError,
    },
    /// Several tools of one batch failed in a way that is meant for the developer.
    #[error("{} tools failed; the first: {}", .0.len(), .0.first().map(ToString::to_string).unwrap_or_default())]
    Tools(Vec<Error>),
    /// The reply was interrupted and the agent is set to make an error of it.
    #[error("the reply was interrupted")]
    Interrupted,
    /// The agent is parked: it waits for an answer and got something else.
    #[error(
        "the agent waits for {confirmations} confirmation(s) and {external} external result(s): answer with a \
         `UserConfirmResultEvent`, an `ExternalExecutionResultEvent` or a `UserInterruptEvent`"
    )]
    AgentIsWaiting {
        /// Tool calls that wait for a person.
        confirmations: usize,
        /// Tool calls that wait for an outside result.
        external: usize,
    },
    /// A confirmation came that nobody asked for.
    #[error("the agent is not waiting for a confirmation")]
    NotWaitingForConfirmation,
    /// An external result came that nobody asked for.
    #[error("the agent is not waiting for an external result")]
    NotWaitingForExternalResult,
    /// A confirmation names tool calls that do not wait for one.
    #[error("these tool calls do not wait for a confirmation: {}", list(.0))]
    UnknownConfirmIds(Vec<Id>),
    /// An external result names tool calls that do not wait for one.
    #[error("these tool calls do not wait for an external result: {}", list(.0))]
    UnknownExternalIds(Vec<Id>),
    /// An answer belongs to another reply than the one that is parked.
    #[error(
        "the answer is for reply {got}, but reply {parked} is the one that waits: the card is out of date"
    )]
    StaleAnswer {
        /// The reply the answer names.
        got: Id,
        /// The reply that is parked.
        parked: Id,
    },
    /// An interrupt came although nothing waits: the state stays as it is, and there is no message.
    #[error("there is no parked reply to interrupt, so there is no final message")]
    NoFinalMessage,
    /// A message of the input may not be one.
    #[error("message {id} cannot be an input: {reason}")]
    InvalidInputMessage {
        /// The message's id.
        id: Id,
        /// What is wrong with it.
        reason: String,
    },
    /// Something does not match its JSON schema.
    #[error("{what} does not match its schema: {reason}")]
    SchemaViolation {
        /// What was checked.
        what: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// A message holds no structured output: its reply is parked, or ended without one.
    #[error("there is no structured output: {}", why_no_output(*.finished_reason))]
    NoStructuredOutput {
        /// Why the reply ended; `None` when it has not.
        finished_reason: Option<ReplyFinishedReason>,
    },
    /// The system prompt and the summary alone are over the compression threshold.
    #[error(
        "the system prompt{} take(s) {tokens} tokens, over the compression threshold of {threshold}: there is \
         nothing left to compress", if *.with_summary { " and the summary" } else { "" }
    )]
    SystemPromptExceedsThreshold {
        /// Estimated tokens.
        tokens: u64,
        /// The threshold in tokens.
        threshold: u64,
        /// Whether there is a summary.
        with_summary: bool,
    },
    /// Layers dropped the end of the reply twice without a step in between.
    #[error(
        "a layer dropped REPLY_END twice without a reasoning or acting step in between: change what ends the \
         reply (`cur_iter`, the iteration limit, the structured output) before dropping it again"
    )]
    ReplyEndSwallowedTwice,
    /// The model answered with nothing, twice.
    #[error("model `{model}` answered with nothing, twice")]
    EmptyAnswer {
        /// The model's name.
        model: String,
    },
    /// A context was used after its reply had ended.
    #[error("the reply is over: its context gives no access to the state any more")]
    ReplyOver,
    /// The state was locked again by the thread that holds it.
    #[error("the state is in use by this very thread: finish the first access, then start the next")]
    Reentrant,
    /// A layer used its place in the store without having a key.
    #[error("this layer keeps state but has no `MiddlewareKey`: return one from `key()`")]
    NoMiddlewareKey,
    /// A second call of `next` while the first one runs.
    #[error("`next` of {hook} was called while an earlier call of it still runs: one reply has one writer")]
    SecondWriter {
        /// The hook.
        hook: &'static str,
    },
    /// A further attempt after items had gone out.
    #[error("items of an earlier attempt have gone out already: a further attempt would show them twice")]
    ItemsAlreadySent,
    /// A layer returned other content than what went through it.
    #[error(
        "the returned content is not what was sent as items: change items in `next.tap`, or the whole response \
         with `next.hold`"
    )]
    ContentChanged,
    /// A message that may not be.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A saved session is not one, or is damaged.
    #[error("the saved session cannot be read: {0}")]
    SavedSession(#[source] serde_json::Error),
    /// A time limit was reached.
    #[error("{what} took longer than {limit:?}")]
    Timeout {
        /// What was waited for.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// A future was polled after it had ended.
    #[error("polled after its end")]
    PolledAfterEnd,
    /// Any other error, of a layer or of the caller's own parts.
    #[error(transparent)]
    Other(BoxError),
}

fn why_no_output(finished_reason: Option<ReplyFinishedReason>) -> &'static str {
    match finished_reason {
        None => {
            "the reply is parked; answer what it waits for (`Agent::waiting_for`), then ask the message of that call"
        }
        Some(ReplyFinishedReason::Completed) => "the reply ended without one, or none was asked for",
        Some(ReplyFinishedReason::Interrupted) => "the reply was interrupted",
        Some(ReplyFinishedReason::ExceedMaxIters) => "the reply used up its rounds before it gave one",
        Some(ReplyFinishedReason::Error) => "the reply failed",
    }
}

fn list(ids: &[Id]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// An error of this kind.
    pub fn new(kind: impl Into<ErrorKind>) -> Self {
        Self(Box::new(Inner { kind: kind.into(), place: Place::Unknown, usage: None }))
    }

    /// Wraps any error: `io_call().map_err(Error::other)?`. Also takes a plain text.
    pub fn other(error: impl Into<BoxError>) -> Self {
        Self::new(ErrorKind::Other(error.into()))
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Whose fault it is.
    pub fn origin(&self) -> Origin {
        match (&self.0.kind, &self.0.place) {
            (ErrorKind::Interrupted, _) => Origin::Interrupt,
            (ErrorKind::Model(_) | ErrorKind::EmptyAnswer { .. }, _) | (_, Place::Model) => Origin::Model,
            (ErrorKind::Tool { .. } | ErrorKind::Tools(_), _) => Origin::Tool,
            (_, Place::Layer { .. }) => Origin::Layer,
            (ErrorKind::Other(_), Place::Unknown) => Origin::Layer,
            _ => Origin::Agent,
        }
    }

    /// The hook and the layer it came out of, if it came out of one.
    pub fn layer(&self) -> Option<(&'static str, &str)> {
        match &self.0.place {
            Place::Layer { hook, name, .. } => Some((hook, name)),
            _ => None,
        }
    }

    /// What the failed model request has cost, as far as the server had said so before it failed.
    pub fn usage(&self) -> Option<&ChatUsage> {
        self.0.usage.as_ref()
    }

    /// The wrapped error of this type, if there is one.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match &self.0.kind {
            ErrorKind::Other(error) | ErrorKind::Tool { source: error, .. } => error.downcast_ref(),
            _ => None,
        }
    }

    /// What `REPLY_END` carries of it (`ErrorInfo` of AgentScope 2.0.11). The message holds no secrets as long as
    /// the wrapped errors hold none.
    pub fn info(&self) -> ErrorInfo {
        let kind = match &self.0.kind {
            ErrorKind::Model(error) => error.kind,
            ErrorKind::EmptyAnswer { .. } => ErrorType::Upstream,
            _ if self.origin() == Origin::Model => ErrorType::Upstream,
            ErrorKind::SystemPromptExceedsThreshold { .. } => ErrorType::Setup,
            ErrorKind::InvalidInputMessage { .. } => ErrorType::InvalidRequest,
            _ => ErrorType::Internal,
        };
        ErrorInfo::new(kind, self.to_string())
    }

    pub(crate) fn is_unplaced(&self) -> bool {
        matches!(self.0.place, Place::Unknown)
    }

    pub(crate) fn at_layer(
        mut self,
        hook: &'static str,
        name: &Arc<str>,
        position: usize,
        total: usize,
    ) -> Self {
        if self.is_unplaced() {
            self.0.place = Place::Layer { hook, name: name.clone(), position, total };
        }
        self
    }

    pub(crate) fn at_core(mut self) -> Self {
        if self.is_unplaced() {
            self.0.place = Place::Core;
        }
        self
    }

    pub(crate) fn at_model(mut self) -> Self {
        if self.is_unplaced() {
            self.0.place = Place::Model;
        }
        self
    }

    pub(crate) fn with_usage(mut self, usage: Option<ChatUsage>) -> Self {
        self.0.usage = usage.or(self.0.usage);
        self
    }

    #[cold]
    pub(crate) fn content_changed() -> Self {
        Self::new(ErrorKind::ContentChanged)
    }

    #[cold]
    pub(crate) fn items_already_sent() -> Self {
        Self::new(ErrorKind::ItemsAlreadySent)
    }

    #[cold]
    pub(crate) fn polled_after_end() -> Self {
        Self::new(ErrorKind::PolledAfterEnd)
    }

    #[cold]
    pub(crate) fn no_middleware_key() -> Self {
        Self::new(ErrorKind::NoMiddlewareKey)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Place::Layer { hook, name, position, total } = &self.0.place {
            write!(f, "{hook} of `{name}` (layer {position} of {total}): ")?;
        }
        self.0.kind.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        Self::new(error)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::new(error)
    }
}

impl From<MessageError> for Error {
    fn from(error: MessageError) -> Self {
        Self::new(error)
    }
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
