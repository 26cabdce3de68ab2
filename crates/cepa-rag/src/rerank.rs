//! A second look at what was found, by a model that reads query and passage together.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use cepa_core::{
    BoxError, ChatModel, ContentBlock, ModelRequest, Msg, OutputBlock, TextBlock,
    serde_json::{Value, json},
    texts::fill,
};
use cepa_models::RerankModel;

use crate::{
    Hit,
    asker::{Asker, Trouble},
    passages::citation,
    texts,
};

/// How hits are put in order once more.
#[derive(Debug)]
pub(crate) struct Reranking {
    pub(crate) by: Reranker,
    /// What a chat model is asked.
    pub(crate) prompt: String,
    pub(crate) deadline: Duration,
}

/// Who does it.
#[derive(Clone, Debug)]
pub(crate) enum Reranker {
    Chat(Arc<dyn ChatModel>),
    Model(Arc<dyn RerankModel>),
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "ids": {"type": "array", "items": {"type": "string"}, "description": texts::RERANK_IDS},
        },
        "required": ["ids"],
    })
});

impl Reranking {
    /// The best `top_k` hits, the best first. Where no order can be had, the given one.
    pub(crate) async fn order(
        &self,
        asker: Asker<'_>,
        queries: &[OutputBlock],
        hits: Vec<Hit>,
        top_k: usize,
    ) -> Vec<Hit> {
        if hits.is_empty() {
            return hits;
        }
        let ranking = async {
            match &self.by {
                Reranker::Chat(model) => self.by_chat(asker, model, queries, &hits, top_k).await,
                Reranker::Model(model) => by_model(&**model, queries, &hits, top_k).await,
            }
        };
        let ranking = match tokio::time::timeout(self.deadline, ranking).await {
            Ok(ranking) => ranking,
            Err(_) => Err(format!("there was no answer within {:?}", self.deadline).into()),
        };
        match ranking {
            Ok(places) => reordered(hits, &places),
            Err(error) => {
                if asker.is_news(Trouble::Reranking) {
                    tracing::warn!(error, "what was found is not reranked");
                } else {
                    tracing::debug!(error, "what was found is not reranked");
                }
                hits
            }
        }
    }

    async fn by_chat(
        &self,
        asker: Asker<'_>,
        model: &Arc<dyn ChatModel>,
        queries: &[OutputBlock],
        hits: &[Hit],
        top_k: usize,
    ) -> Result<Vec<usize>, BoxError> {
        let count = top_k.min(hits.len()).to_string();
        let prompt = fill(&self.prompt, &[("query", &query_text(queries)), ("top_k", &count)]);
        let mut content: Vec<ContentBlock> = vec![TextBlock::new(prompt).into()];
        let is_data = |query: &&OutputBlock| matches!(query, OutputBlock::Data(_));
        content.extend(queries.iter().filter(is_data).cloned().map(ContentBlock::from));
        // Ids are of our own making, so that no passage can pass for another.
        for (number, hit) in (1..).zip(hits) {
            let source = citation(hit).replace('"', "&quot;").replace('<', "&lt;");
            let begin = format!("<candidate id=\"c{number}\" source=\"{source}\">");
            const END: &str = "</candidate>";
            match &hit.chunk.content {
                OutputBlock::Text(text) => {
                    content.push(TextBlock::new(format!("{begin}\n{}\n{END}", untagged(&text.text))).into());
                }
                other => {
                    let parts =
                        [TextBlock::new(begin).into(), other.clone().into(), TextBlock::new(END).into()];
                    content.extend::<[ContentBlock; 3]>(parts);
                }
            }
        }
        let request = ModelRequest::new([Msg::user("user", content)]).with_model(model.clone());
        let answer = asker.call_structured(request, &SCHEMA).await?;
        let ids = answer.get("ids").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        Ok(ids.filter_map(|id| id.trim().strip_prefix('c')?.parse::<usize>().ok()?.checked_sub(1)).collect())
    }
}

/// By a rerank model, which reads texts only: what is no text comes after them.
async fn by_model(
    model: &dyn RerankModel,
    queries: &[OutputBlock],
    hits: &[Hit],
    top_k: usize,
) -> Result<Vec<usize>, BoxError> {
    let query = query_text(queries);
    let texts =
        hits.iter().enumerate().filter_map(|(place, hit)| Some((place, hit.chunk.text()?.to_owned())));
    let (places, texts): (Vec<_>, Vec<_>) = texts.unzip();
    if query.trim().is_empty() || texts.is_empty() {
        return Ok(Vec::new());
    }
    let ranked = model.rerank(&query, &texts, top_k).await?;
    let mut order: Vec<_> = ranked.iter().filter_map(|ranked| places.get(ranked.index).copied()).collect();
    order.extend(places);
    Ok(order)
}

/// The text without tags that would end its own passage, or begin another one.
fn untagged(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (number, part) in text.split('<').enumerate() {
        if number > 0 {
            let name = part.trim_start_matches(|letter: char| letter == '/' || letter.is_whitespace());
            let is_ours = name.get(..9).is_some_and(|name| name.eq_ignore_ascii_case("candidate"));
            safe.push_str(if is_ours { "&lt;" } else { "<" });
        }
        safe.push_str(part);
    }
    safe
}

fn query_text(queries: &[OutputBlock]) -> String {
    queries.iter().filter_map(OutputBlock::as_text).collect::<Vec<_>>().join("\n")
}

/// The hits at these places first, each once, and then the others in the order they had.
fn reordered(hits: Vec<Hit>, places: &[usize]) -> Vec<Hit> {
    let mut left: Vec<_> = hits.into_iter().map(Some).collect();
    let mut ordered: Vec<_> =
        places.iter().filter_map(|place| left.get_mut(*place).and_then(Option::take)).collect();
    ordered.extend(left.into_iter().flatten());
    ordered
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Chunk;

    proptest! {
        #[test]
        fn whatever_a_model_says_no_hit_is_lost_or_there_twice(
            count in 0usize..20,
            places in proptest::collection::vec(prop_oneof![0usize..25, Just(usize::MAX)], 0..40),
        ) {
            let hit = |n: usize| Hit::new(0.0, n.to_string(), Chunk::new("s", TextBlock::new("t")));
            let hits: Vec<_> = (0..count).map(hit).collect();
            let ids = |hits: &[Hit]| hits.iter().map(|hit| hit.document_id.parse().unwrap()).collect::<Vec<usize>>();
            let ordered = ids(&reordered(hits, &places));
            let mut expected = Vec::new();
            for place in places.into_iter().filter(|place| *place < count).chain(0..count) {
                if !expected.contains(&place) {
                    expected.push(place);
                }
            }
            prop_assert_eq!(ordered, expected);
        }
    }
}
