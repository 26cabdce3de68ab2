//! What goes wrong on the way to a service.

use cepa_http::ServerError;

use crate::RagError;

/// As the error of a store.
pub(crate) fn failure(store: &str, error: ServerError) -> RagError {
    match error {
        ServerError::Settings(reason) => RagError::Settings(reason),
        error => RagError::Service {
            service: store.to_owned(),
            reason: error.to_string(),
            is_transient: error.is_transient(),
            source: Some(error.into()),
        },
    }
}
