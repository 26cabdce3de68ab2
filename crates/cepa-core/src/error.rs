//! The one error of the chain, the loop and its layers.

mod kind;
mod model;

use std::{fmt, sync::Arc};

pub use self::{kind::ErrorKind, model::ModelError};
use crate::{
    message::{ErrorInfo, ErrorType, MessageError},
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

    /// Says what the failed model request has cost; what was known stays where `usage` is `None`. For layers that make
    /// several requests of one.
    #[must_use]
    pub fn with_usage(mut self, usage: Option<ChatUsage>) -> Self {
        self.0.usage = usage.or(self.0.usage);
        self
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
