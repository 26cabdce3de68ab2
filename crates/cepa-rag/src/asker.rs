//! Who searches: the layer or its tool. Both can ask a model, and both belong to a reply.

use std::collections::HashSet;

use cepa_core::{
    Cx, ModelRequest, Purpose, Reasoning, Result, Scratch, ToolCx,
    serde_json::{Map, Value},
};

/// Who searches.
#[derive(Clone, Copy)]
pub(crate) enum Asker<'a> {
    Layer(&'a Cx<Reasoning>),
    Tool(&'a ToolCx),
}

/// What does not work, and is told once in a reply.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Trouble {
    /// A knowledge base of this name.
    Base(String),
    Reranking,
}

/// What the log was told in this reply.
#[derive(Default)]
struct Told(HashSet<Trouble>);

impl Asker<'_> {
    pub(crate) async fn call_structured(
        self,
        request: ModelRequest,
        schema: &Value,
    ) -> Result<Map<String, Value>> {
        match self {
            Self::Layer(cx) => cx.call_structured(Purpose::Reranking, request, schema).await,
            Self::Tool(cx) => cx.call_structured(Purpose::Reranking, request, schema).await,
        }
    }

    /// Whether the log was not told of this in this reply. It is from now on.
    pub(crate) fn is_news(self, trouble: Trouble) -> bool {
        self.scratch().is_none_or(|scratch| scratch.update(|Told(told)| told.insert(trouble)))
    }

    fn scratch<'a>(self) -> Option<&'a Scratch>
    where
        Self: 'a,
    {
        match self {
            Self::Layer(cx) => Some(cx.scratch()),
            Self::Tool(cx) => cx.scratch(),
        }
    }
}
