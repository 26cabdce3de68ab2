//! What can go wrong, and what is said of it.

use std::time::Duration;

use super::{BoxError, Error, ModelError};
use crate::{
    id::Id,
    message::{MessageError, ReplyFinishedReason},
    store::StoreError,
};

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
