//! Calls of the store and the model: each within a limit of time, and again when it may help.

use std::{future::Future, time::Duration};

use backon::{ExponentialBuilder, Retryable as _};
use cepa_core::{ErrorType, ModelError};

use super::KnowledgeBase;
use crate::RagError;

impl KnowledgeBase {
    /// Calls the store.
    pub(super) async fn call<T, F>(&self, call: impl FnMut() -> F) -> Result<T, RagError>
    where
        F: Future<Output = Result<T, RagError>>,
    {
        let store = self.inner.store.name();
        let too_slow = |reason| RagError::Service {
            service: store.to_owned(),
            reason,
            is_transient: true,
            source: None,
        };
        self.call_of(too_slow, call).await
    }

    /// Calls the model.
    pub(super) async fn call_model<T, F>(&self, name: &str, call: impl FnMut() -> F) -> Result<T, RagError>
    where
        F: Future<Output = Result<T, RagError>>,
    {
        let too_slow = |reason| {
            RagError::Model(ModelError::new(ErrorType::Connection, format!("{name}: {reason}")).into())
        };
        self.call_of(too_slow, call).await
    }

    /// Calls; what may succeed later is tried again, after a wait that grows.
    async fn call_of<T, F>(
        &self,
        too_slow: impl Fn(String) -> RagError,
        call: impl FnMut() -> F,
    ) -> Result<T, RagError>
    where
        F: Future<Output = Result<T, RagError>>,
    {
        let (limits, mut call) = (self.inner.limits, call);
        let too_slow = &too_slow;
        let attempt = || {
            let answer = call();
            async move {
                match tokio::time::timeout(limits.timeout, answer).await {
                    Ok(answer) => answer,
                    Err(_) => Err(too_slow(format!("no answer within {:?}", limits.timeout))),
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
}
