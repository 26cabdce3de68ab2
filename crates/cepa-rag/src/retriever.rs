//! [`Retriever`]: whatever can search.

use std::{fmt, sync::Arc};

use cepa_core::{BoxFuture, OutputBlock};

use crate::{Chunk, Filter, RagError};

/// Something an agent can search: a knowledge base, or a search service of your own.
///
/// ```
/// use cepa_core::{BoxFuture, OutputBlock, TextBlock};
/// use cepa_rag::{Chunk, Hit, RagError, Retriever, SearchOptions};
///
/// /// Knows one thing.
/// #[derive(Debug)]
/// struct OneThing;
///
/// impl Retriever for OneThing {
///     fn name(&self) -> &str {
///         "trivia"
///     }
///
///     fn description(&self) -> &str {
///         "One thing about onions."
///     }
///
///     fn search<'a>(
///         &'a self,
///         _queries: &'a [OutputBlock],
///         _options: &'a SearchOptions,
///     ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
///         let chunk = Chunk::new("botany.txt", TextBlock::new("Allium cepa is the onion."));
///         Box::pin(async move { Ok(vec![Hit::new(1.0, "botany", chunk)]) })
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), RagError> {
/// let hits = OneThing.search(&[TextBlock::new("onion?").into()], &SearchOptions::default()).await?;
/// assert_eq!(hits[0].chunk.text(), Some("Allium cepa is the onion."));
/// # Ok(()) }
/// ```
pub trait Retriever: fmt::Debug + Send + Sync + 'static {
    /// Its name, by which a model chooses it.
    fn name(&self) -> &str;

    /// What can be found here and when to look, for the model.
    fn description(&self) -> &str;

    /// Finds at most [`top_k`](SearchOptions::top_k) chunks for all queries together, the best first, none twice.
    ///
    /// Queries are texts and other content; what cannot be searched for (an image, where only texts are known) is left
    /// out. Without a query left there are no hits.
    ///
    /// # Errors
    /// What kept it from searching.
    fn search<'a>(
        &'a self,
        queries: &'a [OutputBlock],
        options: &'a SearchOptions,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>>;

    /// Whether it can be searched with such options at all, which a layer asks when it is built. By default it can.
    ///
    /// # Errors
    /// What [`search`](Self::search) would always say.
    fn check(&self, _options: &SearchOptions) -> Result<(), RagError> {
        Ok(())
    }

    /// What its scores can be compared with: two retrievers of the same scale give comparable ones. `None`, the
    /// default: with nothing else, so that hits are merged by their ranks.
    fn scale(&self) -> Option<&str> {
        None
    }
}

impl<R: Retriever + ?Sized> Retriever for Arc<R> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn description(&self) -> &str {
        (**self).description()
    }

    fn search<'a>(
        &'a self,
        queries: &'a [OutputBlock],
        options: &'a SearchOptions,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        (**self).search(queries, options)
    }

    fn check(&self, options: &SearchOptions) -> Result<(), RagError> {
        (**self).check(options)
    }

    fn scale(&self) -> Option<&str> {
        (**self).scale()
    }
}

/// How to search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// The most hits. Default 5.
    pub top_k: usize,
    /// The least score of a hit; `None` takes all. Its scale is the retriever's.
    pub score_threshold: Option<f32>,
    /// Which chunks may be found.
    pub filter: Option<Filter>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { top_k: 5, score_threshold: None, filter: None }
    }
}

impl SearchOptions {
    /// At most so many hits.
    pub fn top_k(top_k: usize) -> Self {
        Self { top_k, ..Self::default() }
    }

    /// None below this score.
    pub fn with_score_threshold(mut self, score_threshold: impl Into<Option<f32>>) -> Self {
        self.score_threshold = score_threshold.into();
        self
    }

    /// Only chunks that pass this filter.
    pub fn with_filter(mut self, filter: impl Into<Option<Filter>>) -> Self {
        self.filter = filter.into();
        self
    }
}

/// A chunk that was found (AgentScope's `VectorSearchResult`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// How well it fits: the more the better.
    pub score: f32,
    /// The document it is from.
    pub document_id: String,
    /// What was found.
    pub chunk: Chunk,
}

impl Hit {
    /// This chunk of this document, with this score.
    pub fn new(score: f32, document_id: impl Into<String>, chunk: Chunk) -> Self {
        Self { score, document_id: document_id.into(), chunk }
    }
}
