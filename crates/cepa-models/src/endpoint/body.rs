//! Reading a body that is not a stream of events.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use cepa_core::{ErrorType, ModelError};
use reqwest::Response;

use super::{Endpoint, Patience};

/// How long to wait for the words of an error.
const LONGEST_BEGINNING: Duration = Duration::from_secs(5);

impl Endpoint {
    /// The whole body, if it is not too long.
    pub(crate) async fn body(
        &self,
        response: &mut Response,
        patience: &mut Patience,
    ) -> Result<Bytes, ModelError> {
        let limit = self.settings.max_body_bytes;
        let announced = response.content_length().unwrap_or(0);
        if announced > limit as u64 {
            return Err(self.too_long());
        }
        let mut body = BytesMut::with_capacity(announced.min(1 << 20) as usize);
        while let Some(chunk) = self.chunk(response, patience).await? {
            if body.len() + chunk.len() > limit {
                return Err(self.too_long());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    /// The beginning of a body, of which only the words count: reading it may fail without harm.
    pub(super) async fn beginning(
        &self,
        response: &mut Response,
        patience: &mut Patience,
        limit: usize,
    ) -> Vec<u8> {
        let mut body = Vec::new();
        let reading = async {
            while body.len() < limit
                && let Ok(Some(chunk)) = self.chunk(response, patience).await
            {
                body.extend_from_slice(&chunk[..chunk.len().min(limit - body.len())]);
            }
        };
        // Too late is as good as too long: what came until now has to do.
        let _ = tokio::time::timeout(LONGEST_BEGINNING, reading).await;
        body
    }

    /// An answer that is longer than the model takes.
    pub(crate) fn too_long(&self) -> ModelError {
        let limit = self.settings.max_body_bytes;
        let mut error = self.error(
            ErrorType::Upstream,
            format_args!("the answer is longer than {limit} bytes (`max_body_bytes`)"),
        );
        error.retryable = false;
        error
    }

    /// The most bytes of one answer.
    pub(crate) fn max_body_bytes(&self) -> usize {
        self.settings.max_body_bytes
    }
}
