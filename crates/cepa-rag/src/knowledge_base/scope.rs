//! The part of a collection that a knowledge base sees.

use super::both;
use crate::{Chunk, Collection, Filter, Metadata};

/// Values that every chunk of a knowledge base has.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope(pub(super) Metadata);

impl Scope {
    /// What is asked for, and in this scope.
    pub(super) fn filter(&self, asked: Option<&Filter>) -> Option<Filter> {
        let values: Vec<_> = self.0.iter().map(|(key, value)| Filter::eq(key, value.clone())).collect();
        both((!values.is_empty()).then_some(Filter::And(values)), asked)
    }

    /// Puts chunks into this scope, whatever they say of themselves.
    pub(super) fn force(&self, chunks: &mut [Chunk]) {
        for chunk in chunks {
            chunk.metadata.extend(self.0.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }

    /// With an index of what every request filters by.
    pub(super) fn indexed(&self, collection: Collection) -> Collection {
        self.0.iter().fold(collection, |collection, (key, value)| collection.with_index(key, value.kind()))
    }
}
