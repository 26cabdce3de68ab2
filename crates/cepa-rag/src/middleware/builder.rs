//! Setting the layer up.

use std::{collections::HashSet, sync::Arc, time::Duration};

use cepa_core::{ChatModel, IntoShared};
use cepa_models::RerankModel;

use super::{RagMiddleware, RagMode};
use crate::{
    Filter, RagError, Retriever, SearchOptions,
    passages::CONTEXT,
    rerank::{Reranker, Reranking},
    search::Search,
    texts,
};

/// The most hits of a search, and the most that are reranked (AgentScope 2.0.11's limit).
const MAX_K: usize = 50;
/// How many hits a search gives, unless told otherwise.
const TOP_K: usize = 5;
/// How long a retriever may take, unless told otherwise.
const SEARCH_DEADLINE: Duration = Duration::from_secs(10);
/// How long reranking may take, unless told otherwise.
const RERANK_DEADLINE: Duration = Duration::from_secs(20);

/// Sets a [`RagMiddleware`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Debug)]
pub struct RagMiddlewareBuilder {
    retrievers: Vec<Arc<dyn Retriever>>,
    mode: RagMode,
    top_k: usize,
    score_threshold: Option<f32>,
    filter: Option<Filter>,
    search_deadline: Duration,
    chat_reranker: Option<Arc<dyn ChatModel>>,
    endpoint_reranker: Option<Arc<dyn RerankModel>>,
    rerank_candidate_k: Option<usize>,
    rerank_prompt: String,
    rerank_deadline: Duration,
    emit_hint_event: bool,
    persist_hint: bool,
    hint_template: String,
}

impl RagMiddlewareBuilder {
    pub(super) fn new(retrievers: Vec<Arc<dyn Retriever>>) -> Self {
        Self {
            retrievers,
            mode: RagMode::default(),
            top_k: TOP_K,
            score_threshold: None,
            filter: None,
            search_deadline: SEARCH_DEADLINE,
            chat_reranker: None,
            endpoint_reranker: None,
            rerank_candidate_k: None,
            rerank_prompt: texts::PROMPT_RERANK.to_owned(),
            rerank_deadline: RERANK_DEADLINE,
            emit_hint_event: true,
            persist_hint: false,
            hint_template: texts::HINT_RAG.to_owned(),
        }
    }

    /// Who decides to search: the model by a tool (the default), or the layer.
    pub fn mode(mut self, mode: RagMode) -> Self {
        self.mode = mode;
        self
    }

    /// The most hits of a search, over all retrievers: 1 to 50, 5 by default.
    pub fn top_k(mut self, hits: usize) -> Self {
        self.top_k = hits;
        self
    }

    /// The least score of a hit. Every retriever gets it as it is: it must mean the same to all. A knowledge base that is
    /// searched by both meaning and words takes none.
    pub fn score_threshold(mut self, score: f32) -> Self {
        self.score_threshold = Some(score);
        self
    }

    /// Which chunks may be found, by their metadata. It comes from the program alone: no model can change it.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// How long a retriever may take; 10 s by default. One that takes longer is left out of this search.
    pub fn search_deadline(mut self, limit: Duration) -> Self {
        self.search_deadline = limit;
        self
    }

    /// A chat model that puts what was found in order once more (AgentScope's name), by value or in an [`Arc`]. A small one will do. What
    /// it costs belongs to the reply. If it fails, the order stays as it was.
    pub fn rerank_model(mut self, model: impl IntoShared<dyn ChatModel>) -> Self {
        self.chat_reranker = Some(model.into_shared());
        self
    }

    /// A rerank model that puts what was found in order once more, such as `HttpRerank` of `cepa-models` (its feature
    /// `openai`). It reads texts: hits that are none come after those. If it fails, the order stays as it was.
    pub fn rerank_endpoint(mut self, model: impl RerankModel) -> Self {
        self.endpoint_reranker = Some(Arc::new(model));
        self
    }

    /// How many hits are reranked: from `top_k` to 50, twice `top_k` by default. Of no effect without a model for it.
    pub fn rerank_candidate_k(mut self, hits: usize) -> Self {
        self.rerank_candidate_k = Some(hits);
        self
    }

    /// What a chat model that reranks is asked. `{query}` must be in it, and `{top_k}` may be; every other brace is
    /// text. The passages come after it.
    pub fn rerank_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.rerank_prompt = prompt.into();
        self
    }

    /// How long reranking may take; 20 s by default. Then the order stays as it was.
    pub fn rerank_deadline(mut self, limit: Duration) -> Self {
        self.rerank_deadline = limit;
        self
    }

    /// Whether the caller is told what was found, by a `HINT_BLOCK` event. `true` by default; for [`RagMode::Static`].
    pub fn emit_hint_event(mut self, emit: bool) -> Self {
        self.emit_hint_event = emit;
        self
    }

    /// Whether what was found stays in the context after the first round. `false` by default; for [`RagMode::Static`].
    pub fn persist_hint(mut self, persist: bool) -> Self {
        self.persist_hint = persist;
        self
    }

    /// What stands around what was found: `{context}` must be in it once; every other brace is text. For
    /// [`RagMode::Static`].
    pub fn hint_template(mut self, template: impl Into<String>) -> Self {
        self.hint_template = template.into();
        self
    }

    /// Checks the settings and builds the layer.
    ///
    /// # Errors
    /// [`RagError::Settings`] says which setting cannot be, and what to do; [`RagError::Unsupported`], as a rule, which
    /// retriever cannot be searched like this ([`Retriever::check`]).
    pub fn build(self) -> Result<RagMiddleware, RagError> {
        self.check().map_err(RagError::Settings)?;
        let by = match (self.chat_reranker, self.endpoint_reranker) {
            (Some(model), _) => Some(Reranker::Chat(model)),
            (None, Some(model)) => Some(Reranker::Model(model)),
            (None, None) => None,
        };
        // A reranker needs more than is wanted in the end, or it could only change the order.
        let candidates = match &by {
            Some(_) => self.rerank_candidate_k.unwrap_or((2 * self.top_k).min(MAX_K)),
            None => self.top_k,
        };
        let options = SearchOptions::top_k(candidates)
            .with_score_threshold(self.score_threshold)
            .with_filter(self.filter);
        for retriever in &self.retrievers {
            retriever.check(&options)?;
        }
        let reranking =
            by.map(|by| Reranking { by, prompt: self.rerank_prompt, deadline: self.rerank_deadline });
        Ok(RagMiddleware {
            search: Arc::new(Search {
                retrievers: self.retrievers,
                options,
                deadline: self.search_deadline,
                top_k: self.top_k,
                reranking,
            }),
            mode: self.mode,
            hint_template: self.hint_template,
            emit_hint_event: self.emit_hint_event,
            persist_hint: self.persist_hint,
        })
    }

    fn check(&self) -> Result<(), String> {
        let wrong = if self.retrievers.is_empty() {
            "there is nothing to search: give at least one retriever".to_owned()
        } else if let Some(wrong) = self.wrong_name() {
            wrong
        } else if !(1..=MAX_K).contains(&self.top_k) {
            format!("`top_k` is {}: it must be from 1 to {MAX_K}", self.top_k)
        } else if self.score_threshold.is_some_and(f32::is_nan) {
            "`score_threshold` is no number".to_owned()
        } else if let Some(hits) = self.rerank_candidate_k.filter(|hits| !(self.top_k..=MAX_K).contains(hits))
        {
            format!(
                "`rerank_candidate_k` is {hits}: it must be from `top_k`, which is {}, to {MAX_K}",
                self.top_k
            )
        } else if self.chat_reranker.is_some() && self.endpoint_reranker.is_some() {
            "there are two rerankers: give `rerank_model` or `rerank_endpoint`, not both".to_owned()
        } else if self.search_deadline.is_zero() || self.rerank_deadline.is_zero() {
            "a deadline is 0: give it some time".to_owned()
        } else if let count @ (0 | 2..) = self.hint_template.matches(CONTEXT).count() {
            format!(
                "`hint_template` has `{CONTEXT}` {count} times: it must have it once, where the passages go"
            )
        } else if !self.rerank_prompt.contains("{query}") {
            "`rerank_prompt` has no `{query}`, the place where the query goes".to_owned()
        } else {
            return Ok(());
        };
        Err(wrong)
    }

    fn wrong_name(&self) -> Option<String> {
        let mut known = HashSet::new();
        self.retrievers.iter().map(|retriever| retriever.name()).find_map(|name| {
            if name.trim().is_empty() {
                Some("a retriever has no name: a model chooses it by its name".to_owned())
            } else if !known.insert(name) {
                Some(format!("two retrievers are called `{name}`: give each a name of its own"))
            } else {
                None
            }
        })
    }
}
