//! Retrieval, from knowledge bases that hold what the case says.

use std::sync::Arc;

use cepa_core::{BoxFuture, OutputBlock, TextBlock};
use cepa_rag::{Chunk, Hit, RagError, RagMiddleware, RagMode, Retriever, SearchOptions};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{super::options::Options, BuiltinLayer};
use crate::{
    case::{DataSpec, LayerSpec},
    error::RunError,
    log::Log,
    models::data_block,
    world::World,
};

pub(super) fn build(spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    let options = Options::new(spec);
    let bases: Vec<Script> = options.or_default("knowledge_bases")?;
    let log = &world.log;
    let mut builder =
        RagMiddleware::builder(bases.into_iter().map(|script| KnowledgeBase { script, log: log.clone() }));
    if let Some(label) = options.get::<String>("rerank_model")? {
        builder = builder.rerank_model(world.model(&label)?);
    }
    let parameters: Map<String, Value> = options.or_default("parameters")?;
    let parameters = LayerSpec { options: parameters, ..spec.clone() };
    let parameters = Options::new(&parameters);
    if let Some(mode) = parameters.get::<RagMode>("mode")? {
        builder = builder.mode(mode);
    }
    if let Some(hits) = parameters.get("top_k")? {
        builder = builder.top_k(hits);
    }
    if let Some(score) = parameters.get("score_threshold")? {
        builder = builder.score_threshold(score);
    }
    if let Some(hits) = parameters.get("rerank_candidate_k")? {
        builder = builder.rerank_candidate_k(hits);
    }
    if let Some(prompt) = parameters.get::<String>("rerank_prompt")? {
        builder = builder.rerank_prompt(prompt);
    }
    if let Some(emit) = parameters.get("emit_hint_event")? {
        builder = builder.emit_hint_event(emit);
    }
    if let Some(persist) = parameters.get("persist_hint")? {
        builder = builder.persist_hint(persist);
    }
    if let Some(template) = parameters.get::<String>("hint_template")? {
        builder = builder.hint_template(template);
    }
    Ok(Box::new(Arc::new(builder.build().map_err(RunError::layer(spec))?)))
}

/// What a knowledge base of a case holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    hits: Vec<ScriptedHit>,
    raise: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedHit {
    text: Option<String>,
    data: Option<DataSpec>,
    source: String,
    score: f32,
}

#[derive(Debug)]
struct KnowledgeBase {
    script: Script,
    log: Log,
}

impl Retriever for KnowledgeBase {
    fn name(&self) -> &str {
        &self.script.name
    }

    fn description(&self) -> &str {
        &self.script.description
    }

    /// All bases of a case have one embedding model.
    fn scale(&self) -> Option<&str> {
        Some("scripted")
    }

    fn search<'a>(
        &'a self,
        queries: &'a [OutputBlock],
        options: &'a SearchOptions,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        let queries: Vec<_> = queries
            .iter()
            .map(|query| match query {
                OutputBlock::Text(text) => json!(text.text),
                other => json!({"data": other.id()}),
            })
            .collect();
        // As it was written in the case, and not with the digits that its conversion adds.
        let threshold = options.score_threshold.and_then(|score| score.to_string().parse::<f64>().ok());
        self.log.backend(json!({"backend": "kb", "op": "search", "kb": self.script.name, "queries": queries,
            "top_k": options.top_k, "score_threshold": threshold}));
        Box::pin(async move {
            match &self.script.raise {
                Some(message) => Err(RagError::Settings(message.clone())),
                None => Ok(self.script.hits.iter().map(ScriptedHit::hit).collect()),
            }
        })
    }
}

impl ScriptedHit {
    fn hit(&self) -> Hit {
        let content: OutputBlock = match &self.data {
            Some(data) => data_block(data).into(),
            None => TextBlock::new(self.text.as_deref().unwrap_or_default()).into(),
        };
        Hit::new(self.score, &self.source, Chunk::new(&self.source, content))
    }
}
