//! Calls of the store and the model: each within a limit of time, and again when it may help.

use std::{future::Future, time::Duration};

use backon::{ExponentialBuilder, Retryable as _};

use super::KnowledgeBase;
use crate::RagError;

impl KnowledgeBase {
    /// Calls; what may succeed later is tried again, after a wait that grows.
    pub(super) async fn call<T, F>(&self, call: impl FnMut() -> F) -> Result<T, RagError>
    where
        F: Future<Output = Result<T, RagError>>,
    {
        let (limits, mut call) = (self.inner.limits, call);
        let attempt = || {
            let answer = call();
            async move {
                match tokio::time::timeout(limits.timeout, answer).await {
                    Ok(answer) => answer,
                    Err(_) => Err(self.too_slow(limits.timeout)),
                }
            }
        };
        attempt
            .retry(
                ExponentialBuilder::default()
                    .with_jitter()
                    .with_min_delay(Duration::from_millis(200))
                    .with_max_delay(Duration::from_secs(10))
                    .with_max_times(limits.retries),
            )
            .when(RagError::is_transient)
            .notify(|error, wait| tracing::debug!(%error, ?wait, knowledge_base = self.inner.name, "trying again"))
            .await
    }

    fn too_slow(&self, limit: Duration) -> RagError {
        RagError::Service {
            service: self.inner.store.name().to_owned(),
            reason: format!("no answer within {limit:?}"),
            is_transient: true,
            source: None,
        }
    }
}
