//! Interrupting a reply from outside.

use tokio_util::sync::CancellationToken;

/// Interrupts the replies it was given to. Clones are the same token.
///
/// ```
/// let token = cepa_core::CancelToken::new();
/// let for_the_reply = token.clone(); // agent.reply("…").cancel_on(for_the_reply)
/// token.cancel();
/// assert!(for_the_reply.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(CancellationToken);

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Interrupts. Cannot be taken back.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }

    /// A token that is cancelled with this one, and can be cancelled alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(self.0.child_token())
    }
}
