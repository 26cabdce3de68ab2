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

/// Whether the answer would have been more than is read.
pub(crate) fn is_too_large(error: &RagError) -> bool {
    let RagError::Service { source: Some(source), .. } = error else { return false };
    matches!(source.downcast_ref(), Some(ServerError::TooLarge { .. }))
}

/// Records that are fetched by their ids, in pages. One whose answer is too large is halved.
pub(crate) struct Pages<'a> {
    left: &'a [String],
    most: usize,
}

impl<'a> Pages<'a> {
    pub(crate) fn of(ids: &'a [String], most: usize) -> Self {
        Self { left: ids, most }
    }

    /// The ids of the page that is to be fetched.
    pub(crate) fn page(&self) -> Option<&'a [String]> {
        (!self.left.is_empty()).then(|| &self.left[..self.left.len().min(self.most)])
    }

    /// Goes on to the next page.
    pub(crate) fn next(&mut self) {
        self.left = &self.left[self.left.len().min(self.most)..];
    }

    /// Fetches this page in halves.
    ///
    /// # Errors
    /// This one, where that does not help.
    pub(crate) fn halve(&mut self, error: RagError) -> Result<(), RagError> {
        let count = self.left.len().min(self.most);
        if count < 2 || !is_too_large(&error) {
            return Err(error);
        }
        self.most = count / 2;
        Ok(())
    }
}
