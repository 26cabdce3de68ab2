//! What the stores behind a network have in common.

mod record;
mod test;

#[cfg(any(feature = "chroma", feature = "qdrant"))]
mod http;

#[cfg(any(feature = "chroma", feature = "qdrant"))]
pub(crate) use self::{
    http::{Pages, failure, is_too_large},
    record::{Row, page_of, plain, summaries},
};
pub(crate) use self::{
    record::{Ready, Store, batches, best, fields, metadata, tag},
    test::{Comparison, Test},
};
