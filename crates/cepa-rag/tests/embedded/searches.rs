//! What is found, and in which order.

use cepa_rag::{EmbeddedStore, Filter, SearchRequest, VectorStore as _};

use super::{collection, record, texts};

async fn store(texts: &[&str]) -> EmbeddedStore {
    let store = EmbeddedStore::in_memory();
    store.ensure_collection(&collection(None)).await.unwrap();
    let records = (0..).zip(texts).map(|(index, text)| record("d", index, text, None)).collect();
    store.insert(&collection(None), records).await.unwrap();
    store
}

async fn found(store: &EmbeddedStore, query: &str) -> Vec<String> {
    let hits = store.search(&collection(None), SearchRequest::text(query, 5)).await.unwrap();
    texts(&hits).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn rare_words_count_for_more_and_long_texts_for_less() {
    let long = format!("the onion {}", "and the rest of it ".repeat(30));
    let store = store(&["the leek", "the garlic", "the onion", &long]).await;
    assert_eq!(found(&store, "the ONION?").await[..2], ["the onion", &*long]);
    assert_eq!(found(&store, "shallot").await, [""; 0]);
    assert_eq!(found(&store, "... !").await, [""; 0]);
}

#[tokio::test]
async fn words_are_the_same_however_they_are_written() {
    let store = store(&[
        "Grüße aus Köln",
        "Grusse aus Bonn",
        "snake_case and kebab-case",
        "ΟΔΟΣ",
        "ｆｕｌｌ　ｗｉｄｔｈ",
    ])
    .await;
    // Composed, decomposed and in capitals.
    for query in ["köln", "ko\u{308}ln", "KÖLN", "(Köln)"] {
        assert_eq!(found(&store, query).await, ["Grüße aus Köln"], "{query}");
    }
    assert_eq!(found(&store, "kebab").await, ["snake_case and kebab-case"]);
    assert_eq!(found(&store, "snake").await, ["snake_case and kebab-case"]);
    assert_eq!(found(&store, "width").await, ["ｆｕｌｌ　ｗｉｄｔｈ"]);
}

#[tokio::test]
async fn writing_without_spaces_is_found_by_its_parts() {
    let store =
        store(&["洋葱是一种蔬菜", "大蒜和洋葱", "東京タワーへ行く", "หัวหอมเป็นผัก", "양파는 채소다"]).await;
    assert_eq!(found(&store, "大蒜").await, ["大蒜和洋葱"]);
    assert_eq!(found(&store, "洋葱").await.len(), 2);
    assert_eq!(found(&store, "蔬菜有洋葱").await[0], "洋葱是一种蔬菜");
    assert_eq!(found(&store, "タワー").await, ["東京タワーへ行く"]);
    assert_eq!(found(&store, "หัวหอม").await, ["หัวหอมเป็นผัก"]);
    assert_eq!(found(&store, "양파").await, ["양파는 채소다"]);
}

#[tokio::test]
async fn what_is_good_by_both_comes_first() {
    let store = EmbeddedStore::in_memory();
    store.ensure_collection(&collection(2)).await.unwrap();
    let mut odd = record("d", 2, "about the onion too", vec![0.9, 0.1]);
    odd.chunk.metadata.insert("odd".into(), true.into());
    let records = vec![
        record("d", 0, "nearest", vec![1.0, 0.0]),
        record("d", 1, "onion onion onion", vec![-1.0, 0.1]),
        odd,
        record("d", 3, "neither of them", vec![-1.0, -1.0]),
    ];
    store.insert(&collection(2), records).await.unwrap();
    let request = SearchRequest::hybrid(&[1.0, 0.0], "onion", 2);
    let hits = store.search(&collection(2), request).await.unwrap();
    assert_eq!(texts(&hits)[0], "about the onion too");
    assert!((hits[0].score - 2.0 / 62.0).abs() < 1e-6, "second by both: {}", hits[0].score);
    let filter = !Filter::exists("odd");
    let hits = store.search(&collection(2), request.with_filter(&filter)).await.unwrap();
    assert_eq!(texts(&hits), ["onion onion onion", "nearest"]);
    // Without a word that anything has, the vectors are left.
    let request = SearchRequest::hybrid(&[1.0, 0.0], "shallot", 1);
    assert_eq!(texts(&store.search(&collection(2), request).await.unwrap()), ["nearest"]);
}
