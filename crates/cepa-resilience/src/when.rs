//! Which errors a layer is for.

use std::{fmt, sync::Arc};

use cepa_core::{Error, ErrorKind, Origin};

/// A test of errors. Copies share it.
#[derive(Clone)]
pub(crate) struct When(Arc<dyn Fn(&Error) -> bool + Send + Sync>);

impl When {
    pub(crate) fn new(test: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(test))
    }

    /// Never of an interrupt: what was stopped is not begun anew.
    pub(crate) fn holds(&self, error: &Error) -> bool {
        error.origin() != Origin::Interrupt && (self.0)(error)
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("When")
    }
}

/// Whether the same request to the same model may work later.
pub(crate) fn is_retryable(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Model(error) if error.retryable)
}
