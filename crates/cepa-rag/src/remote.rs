//! What the stores behind a network have in common.

mod record;
mod test;

#[cfg(any(feature = "chroma", feature = "qdrant"))]
mod http;

#[cfg(any(feature = "chroma", feature = "qdrant"))]
pub(crate) use self::{
    http::failure,
    record::{Row, page_of, summaries},
};
pub(crate) use self::{
    record::{Ready, Store, batches, best, fields, metadata, tag},
    test::{Comparison, Test},
};
