//! Models that order texts by how well they answer a query: the trait and its answer.

use std::{fmt, sync::Arc};

use cepa_core::{BoxFuture, Result};

/// A model that orders texts by how well they answer a query (a cross-encoder, as a rule).
///
/// ```
/// use cepa_core::{BoxFuture, Result};
/// use cepa_models::{Ranked, RerankModel};
///
/// /// The shortest first.
/// #[derive(Debug)]
/// struct Brevity;
///
/// impl RerankModel for Brevity {
///     fn name(&self) -> &str {
///         "brevity"
///     }
///
///     fn rerank<'a>(
///         &'a self,
///         _query: &'a str,
///         documents: &'a [String],
///         top_n: usize,
///     ) -> BoxFuture<'a, Result<Vec<Ranked>>> {
///         let score = |text: &String| 1.0 / (1.0 + text.len() as f64);
///         let mut ranked: Vec<_> =
///             documents.iter().enumerate().map(|(index, text)| Ranked::new(index, score(text))).collect();
///         ranked.sort_by(|a, b| b.relevance_score.total_cmp(&a.relevance_score));
///         ranked.truncate(top_n);
///         Box::pin(async move { Ok(ranked) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let ranked = Brevity.rerank("?", &["an onion".into(), "a leek".into()], 1).await?;
/// assert_eq!(ranked[0].index, 1);
/// # Ok(()) }
/// ```
pub trait RerankModel: fmt::Debug + Send + Sync + 'static {
    /// The model's name, as the server knows it.
    fn name(&self) -> &str;

    /// Orders documents, the best first: at most `top_n` of them, each once. Those that are left out are the least
    /// relevant. No documents give an empty answer.
    ///
    /// # Errors
    /// A [`ModelError`](cepa_core::ModelError) (as [`Error`](cepa_core::Error)) when the request fails, or when its
    /// answer is about other documents.
    fn rerank<'a>(
        &'a self,
        query: &'a str,
        documents: &'a [String],
        top_n: usize,
    ) -> BoxFuture<'a, Result<Vec<Ranked>>>;
}

impl<M: RerankModel + ?Sized> RerankModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn rerank<'a>(
        &'a self,
        query: &'a str,
        documents: &'a [String],
        top_n: usize,
    ) -> BoxFuture<'a, Result<Vec<Ranked>>> {
        (**self).rerank(query, documents, top_n)
    }
}

/// Where a document stands.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranked {
    /// Which of the documents, from 0.
    pub index: usize,
    /// How relevant it is: the more the better, on the model's own scale.
    pub relevance_score: f64,
}

impl Ranked {
    /// This document is this relevant.
    pub fn new(index: usize, relevance_score: f64) -> Self {
        Self { index, relevance_score }
    }
}
