//! Searching a knowledge base.

use std::collections::HashMap;

use cepa_core::{BoxFuture, OutputBlock};
use futures_util::future::try_join_all;

use super::KnowledgeBase;
use crate::{Hit, RagError, Retriever, SearchOptions, SearchRequest};

/// How a knowledge base is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchBy {
    /// By meaning. Scores are cosine similarities, from -1 to 1.
    Vector,
    /// By words. Scores are BM25's, from 0, and depend on what else is in the collection.
    Keywords,
    /// By both, fused by rank. Scores are made of ranks and have no scale, so a threshold is refused.
    Hybrid,
}

/// All queries are embedded in one batch and searched at the same time. A chunk that several of them find counts with its
/// best score.
///
/// A [`score_threshold`](SearchOptions::score_threshold) is a cosine similarity where meaning is searched
/// ([`SearchBy::Vector`]), and one of BM25 where words are. Where both are it is refused: [`RagError::Unsupported`].
impl Retriever for KnowledgeBase {
    fn name(&self) -> &str {
        &self.inner.name
    }

    fn description(&self) -> &str {
        &self.inner.description
    }

    fn search<'a>(
        &'a self,
        queries: &'a [OutputBlock],
        options: &'a SearchOptions,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        Box::pin(self.find(queries, options))
    }

    fn check(&self, options: &SearchOptions) -> Result<(), RagError> {
        if self.inner.search_by != SearchBy::Hybrid || options.score_threshold.is_none() {
            return Ok(());
        }
        Err(RagError::Unsupported {
            store: format!("knowledge base `{}`", self.inner.name),
            reason:
                "it is searched by meaning and by words, and what is made of both ranks has no score that a \
                     threshold could be compared with; leave the threshold out, or take `SearchBy::Vector`"
                    .to_owned(),
        })
    }

    fn scale(&self) -> Option<&str> {
        let model = self.inner.model.as_ref().filter(|_| self.inner.search_by == SearchBy::Vector);
        model.map(|model| model.name())
    }
}

impl KnowledgeBase {
    async fn find(&self, queries: &[OutputBlock], options: &SearchOptions) -> Result<Vec<Hit>, RagError> {
        let texts: Vec<String> = queries
            .iter()
            .filter_map(OutputBlock::as_text)
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
            .collect();
        let (search_by, top_k) = (self.inner.search_by, options.top_k);
        self.check(options)?;
        if texts.is_empty() || top_k == 0 {
            return Ok(Vec::new());
        }
        let collection = self.collection().await?;
        let filter = self.inner.scope.filter(options.filter.as_ref());
        let vectors = match search_by {
            SearchBy::Keywords => Vec::new(),
            SearchBy::Vector | SearchBy::Hybrid => self.embed(&texts).await?.vectors,
        };
        let request = |at: usize| {
            let (text, vector) = (texts[at].as_str(), vectors.get(at).map(Vec::as_slice));
            let request = match (search_by, vector) {
                (SearchBy::Vector, Some(vector)) => SearchRequest::vector(vector, top_k),
                (SearchBy::Hybrid, Some(vector)) => SearchRequest::hybrid(vector, text, top_k),
                (_, _) => SearchRequest::text(text, top_k),
            };
            request.with_score_threshold(options.score_threshold).with_filter(filter.as_ref())
        };
        let searches =
            (0..texts.len()).map(|at| self.call(move || self.inner.store.search(collection, request(at))));
        Ok(best(try_join_all(searches).await?, top_k))
    }
}

/// Each chunk once, with its best score, the best first. The text belongs to it: while a document is replaced, two of
/// its chunks have one number.
fn best(found: Vec<Vec<Hit>>, top_k: usize) -> Vec<Hit> {
    let mut places: HashMap<(String, u32, Option<String>), usize> = HashMap::new();
    let mut hits: Vec<Hit> = Vec::new();
    for hit in found.into_iter().flatten() {
        let key = (hit.document_id.clone(), hit.chunk.chunk_index, hit.chunk.text().map(str::to_owned));
        let place = *places.entry(key).or_insert(hits.len());
        match hits.get_mut(place) {
            None => hits.push(hit),
            Some(other) if other.score < hit.score => *other = hit,
            Some(_) => {}
        }
    }
    // Stable: what scores the same stays in the order of the queries.
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    hits.truncate(top_k);
    hits
}
