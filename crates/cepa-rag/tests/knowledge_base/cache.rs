//! Embeddings that are kept.

use std::{fs, sync::Arc};

use cepa_models::EmbeddingModel as _;
use cepa_rag::CachedEmbedding;

use crate::parts::{Words, base, folder, in_memory};

fn texts(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| format!("onion number {n}")).collect()
}

#[tokio::test]
async fn no_text_is_embedded_twice() {
    let (cache, model) = (tempfile::tempdir().unwrap(), Words::default());
    let cached = || CachedEmbedding::new(model.clone(), cache.path()).unwrap();
    let first = cached();
    let made = first.embed(&texts(0..10)).await.unwrap().vectors;
    assert_eq!(made, model.embed(&texts(0..10)).await.unwrap().vectors);
    let before = model.texts();
    let mut shuffled = texts(0..12);
    shuffled.rotate_left(5);
    let vectors = cached().embed(&shuffled).await.unwrap().vectors;
    assert_eq!(model.texts() - before, 2);
    assert_eq!(vectors, model.embed(&shuffled).await.unwrap().vectors);
    // The first sees what the second has added.
    let before = model.texts();
    first.embed(&texts(0..12)).await.unwrap();
    assert_eq!((model.texts() - before, first.found()), (0, 12));
}

#[tokio::test]
async fn a_collection_that_is_lost_costs_no_embedding() {
    let folder = folder(&[("a.md", "Onions."), ("b.md", "Leeks.")]);
    let (cache, model) = (tempfile::tempdir().unwrap(), Words::default());
    for texts in [2, 2] {
        let (store, cached) = (in_memory(), CachedEmbedding::new(model.clone(), cache.path()).unwrap());
        let base = base(&store).embedding_model(cached).build().unwrap();
        let report = base.index_folder(folder.path()).await.unwrap();
        assert_eq!((report.added, model.texts()), (2, texts));
    }
}

#[tokio::test]
async fn damage_is_noticed_and_made_good() {
    let (cache, model) = (tempfile::tempdir().unwrap(), Words::default());
    let right = model.embed(&texts(0..20)).await.unwrap().vectors;
    let path = cache.path().join("embeddings.bin");
    CachedEmbedding::new(model.clone(), cache.path()).unwrap().embed(&texts(0..20)).await.unwrap();
    let whole = fs::read(&path).unwrap();
    // Cut off anywhere, or one byte changed anywhere.
    let cut = (0..whole.len()).step_by(97).map(|end| whole[..end].to_vec());
    let changed = (0..whole.len()).step_by(97).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        bytes
    });
    for bytes in cut.chain(changed) {
        fs::write(&path, bytes).unwrap();
        for _ in 0..2 {
            let cached = CachedEmbedding::new(model.clone(), cache.path()).unwrap();
            assert_eq!(cached.embed(&texts(0..20)).await.unwrap().vectors, right);
        }
        let cached = CachedEmbedding::new(model.clone(), cache.path()).unwrap();
        cached.embed(&texts(0..20)).await.unwrap();
        assert_eq!(cached.found(), 20);
    }
}

#[tokio::test]
async fn the_file_stays_within_its_limit() {
    let (cache, model) = (tempfile::tempdir().unwrap(), Words::default());
    let one = 16 + 4 + 4 * 64 + 16;
    let cached = CachedEmbedding::new(model.clone(), cache.path()).unwrap().with_max_bytes(24 + 10 * one);
    let other = cached.clone();
    for begin in (0..50).step_by(5) {
        cached.embed(&texts(begin..begin + 5)).await.unwrap();
        assert!(fs::metadata(cache.path().join("embeddings.bin")).unwrap().len() <= 24 + 10 * one);
    }
    let right = model.embed(&texts(0..50)).await.unwrap().vectors;
    assert_eq!(other.embed(&texts(0..50)).await.unwrap().vectors, right);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_share_a_folder() {
    let cache = Arc::new(tempfile::tempdir().unwrap());
    let tasks: Vec<_> = (0..8)
        .map(|writer: u32| {
            let cache = cache.clone();
            tokio::spawn(async move {
                let model = Words::default();
                let cached = CachedEmbedding::new(model.clone(), cache.path()).unwrap();
                for step in 0..20 {
                    let texts = texts(step * 5..step * 5 + 10 + writer);
                    let right = model.embed(&texts).await.unwrap().vectors;
                    assert_eq!(cached.embed(&texts).await.unwrap().vectors, right);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let last = CachedEmbedding::new(Words::default(), cache.path()).unwrap();
    last.embed(&texts(0..105)).await.unwrap();
    assert_eq!(last.found(), 105);
}
