//! Calls that a layer of this crate did not let through.

use std::time::Duration;

use cepa_core::Error;

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
