//! How a knowledge base is searched.

use cepa_core::{OutputBlock, TextBlock};
use cepa_rag::{
    Chunk, Collection, KnowledgeBase, RagError, RagMiddleware, Retriever as _, SearchBy, SearchOptions,
    VectorRecord, VectorStore as _,
};

use crate::parts::{Words, base, folder, in_memory, search};

async fn filled(search_by: Option<SearchBy>) -> (KnowledgeBase, Words) {
    let folder =
        folder(&[("a.md", "Onions are bulbs."), ("b.md", "Pumps hum at night."), ("c.md", "Cats sleep.")]);
    let (store, model) = (in_memory(), Words::default());
    let mut builder = base(&store).embedding_model(model.clone());
    if let Some(search_by) = search_by {
        builder = builder.search_by(search_by);
    }
    let base = builder.build().unwrap();
    base.index_folder(folder.path()).await.unwrap();
    (base, model)
}

#[tokio::test]
async fn all_queries_are_embedded_in_one_call_and_found_together() {
    for search_by in [None, Some(SearchBy::Vector), Some(SearchBy::Keywords)] {
        let (base, model) = filled(search_by).await;
        let before = model.calls();
        let queries =
            ["onions bulbs", "pumps night", "", "onions"].map(|text| OutputBlock::from(TextBlock::new(text)));
        let hits = base.search(&queries, &SearchOptions::top_k(2)).await.unwrap();
        assert_eq!(model.calls() - before, usize::from(search_by != Some(SearchBy::Keywords)));
        let mut sources: Vec<&str> = hits.iter().map(|hit| hit.chunk.source.as_str()).collect();
        sources.sort_unstable();
        assert_eq!(sources, ["a.md", "b.md"], "{search_by:?}");
    }
}

#[tokio::test]
async fn a_threshold_means_one_thing_or_is_refused() {
    let (base, _) = filled(Some(SearchBy::Vector)).await;
    assert_eq!(base.scale(), Some("words"));
    let near = SearchOptions::default().with_score_threshold(0.9);
    let hits = search(&base, "Onions are bulbs.", &near).await.unwrap();
    assert_eq!(hits.len(), 1);
    assert!((hits[0].score - 1.0).abs() < 1e-5);

    let (base, _) = filled(None).await;
    assert_eq!(base.scale(), None);
    let error = search(&base, "Onions are bulbs.", &near).await.unwrap_err();
    assert!(matches!(error, RagError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("SearchBy::Vector"), "{error}");
    // An agent that would find nothing, ever, is not built.
    let layer = || RagMiddleware::builder([base.clone()]);
    let error = layer().score_threshold(0.5).build().unwrap_err();
    assert!(error.to_string().contains("knowledge base `docs` cannot do this"), "{error}");
    layer().build().unwrap();
    let (vectors, _) = filled(Some(SearchBy::Vector)).await;
    RagMiddleware::builder([vectors]).score_threshold(0.5).build().unwrap();
}

#[tokio::test]
async fn both_versions_of_a_document_are_found_while_it_is_replaced() {
    let store = in_memory();
    let base = base(&store).build().unwrap();
    base.ensure_collection().await.unwrap();
    let collection = Collection::new("docs", None).unwrap();
    for (version, text) in [("1", "Onions are roots."), ("2", "Onions are bulbs.")] {
        let record = VectorRecord::new("a.md", version, Chunk::new("a.md", TextBlock::new(text)), None);
        store.insert(&collection, vec![record]).await.unwrap();
    }
    let queries = ["onions", "onions are"].map(|text| OutputBlock::from(TextBlock::new(text)));
    let hits = base.search(&queries, &SearchOptions::default()).await.unwrap();
    let mut texts: Vec<_> = hits.iter().map(|hit| hit.chunk.text().unwrap()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["Onions are bulbs.", "Onions are roots."]);
}
