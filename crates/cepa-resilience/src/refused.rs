//! Calls that a layer of this crate did not let through.

use std::time::Duration;

use cepa_core::{Error, ToolResponse, ToolResultState};

use crate::CircuitOpen;

/// A shared limit did not let a call through in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{layer}` let no call of {what} through for {waited:?}: raise its limit or its `max_wait`, or call less"
)]
#[non_exhaustive]
pub struct WaitTooLong {
    /// The layer's name.
    pub layer: &'static str,
    /// What was to be called: the model's or the tool's name.
    pub what: String,
    /// How long the call waited: the layer's `max_wait`.
    pub waited: Duration,
}

/// Whether a layer of this crate refused the call, so that the model was not even asked.
pub(crate) fn is_refusal(error: &Error) -> bool {
    error.downcast_ref::<WaitTooLong>().is_some() || error.downcast_ref::<CircuitOpen>().is_some()
}

/// In the metadata of a result: the layer that has refused the call. Such a result is no failure of the tool: it is
/// neither tried again nor put in other words.
const REFUSED_BY: &str = "refused_by";

/// The error result of a call that a layer refuses.
pub(crate) fn refuse(layer: &str, text: String) -> ToolResponse {
    as_refused(layer, ToolResponse::error(text))
}

/// The result of a call that a layer ended for a reason that is none of the tool's.
pub(crate) fn as_refused(layer: &str, response: ToolResponse) -> ToolResponse {
    response.with_metadata(REFUSED_BY, layer)
}

/// Whether a layer of this crate refused the call, so that the tool was not even asked.
pub(crate) fn was_refused(response: &ToolResponse) -> bool {
    response.metadata.contains_key(REFUSED_BY)
}

/// Whether a result says that the tool itself has failed.
pub(crate) fn tool_failed(response: &ToolResponse) -> bool {
    response.state == ToolResultState::Error && !was_refused(response)
}
