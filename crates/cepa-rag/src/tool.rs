//! The tool by which a model searches.

use std::{collections::BTreeSet, future::ready, sync::Arc};

use cepa_core::{
    BoxFuture, OutputBlock, PermissionContext, PermissionDecision, TextBlock, Tool, ToolCx, ToolError,
    ToolResponse,
    serde_json::{self, Map, Value, json},
    texts::fill,
};
use serde::Deserialize;

use crate::{
    asker::Asker,
    passages::{one_line, passages},
    search::{Outcome, Search},
    texts,
};

/// AgentScope 2.0.11's name.
const NAME: &str = "search_knowledge";

#[derive(Debug)]
pub(crate) struct SearchKnowledge {
    search: Arc<Search>,
    description: String,
    schema: Value,
}

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default)]
    knowledge_bases: Option<BTreeSet<String>>,
}

impl SearchKnowledge {
    pub(crate) fn new(search: Arc<Search>) -> Self {
        let mut description = texts::TOOL_SEARCH_KNOWLEDGE.to_owned();
        for base in &search.retrievers {
            for part in ["\n- **", &one_line(base.name()), "**: ", &one_line(base.description())] {
                description.push_str(part);
            }
        }
        let names: Vec<_> = search.retrievers.iter().map(|base| base.name()).collect();
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": texts::TOOL_SEARCH_QUERY},
                "knowledge_bases": {
                    "type": ["array", "null"],
                    "items": {"type": "string", "enum": names},
                    "description": texts::TOOL_SEARCH_BASES,
                },
            },
            "required": ["query"],
        });
        Self { search, description, schema }
    }

    async fn answer(&self, Arguments { query, knowledge_bases }: Arguments, cx: &ToolCx) -> ToolResponse {
        if query.trim().is_empty() {
            return ToolResponse::text(texts::TOOL_RAG_NO_QUERY);
        }
        let queries: [OutputBlock; 1] = [TextBlock::new(query).into()];
        // Some models send an empty list for "no choice".
        let knowledge_bases = knowledge_bases.filter(|wanted| !wanted.is_empty());
        let wanted = |name: &str| knowledge_bases.as_ref().is_none_or(|wanted| wanted.contains(name));
        let Outcome { hits, failures } = self.search.run(Asker::Tool(cx), &queries, wanted).await;
        match (hits.is_empty(), failures.is_empty()) {
            (false, _) => ToolResponse::own(passages(&hits)),
            (true, true) => ToolResponse::text(texts::TOOL_RAG_EMPTY),
            // That nothing is there cannot be said where not all was searched.
            (true, false) => {
                let error = failures.join("; ");
                ToolResponse::error(fill(texts::TOOL_ERROR_RAG_SEARCH, &[("error", &error)]))
            }
        }
    }
}

impl Tool for SearchKnowledge {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        Box::pin(ready(PermissionDecision::allow("an agent may always search its knowledge bases")))
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            let arguments = serde_json::from_value(input.into())?;
            Ok(self.answer(arguments, &cx).await)
        })
    }
}
