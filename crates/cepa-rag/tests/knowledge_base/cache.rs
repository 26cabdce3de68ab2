//! Embeddings that are kept.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{BoxFuture, Result};
use cepa_models::{EmbeddingModel, Embeddings};
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

/// A model whose first answer is wrong in one vector.
#[derive(Debug)]
struct WrongAtFirst {
    wrong: Vec<f32>,
    knows_dimensions: bool,
    calls: AtomicUsize,
}

impl EmbeddingModel for WrongAtFirst {
    fn name(&self) -> &str {
        "wrong"
    }

    fn dimensions(&self) -> Option<usize> {
        self.knows_dimensions.then_some(2)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>> {
        let mut vectors = vec![vec![0.6, 0.8]; texts.len()];
        if self.calls.fetch_add(1, SeqCst) == 0 {
            vectors[1].clone_from(&self.wrong);
        }
        Box::pin(async move { Ok(Embeddings::new(vectors)) })
    }
}

#[tokio::test]
async fn what_is_no_vector_is_not_kept() {
    for wrong in [vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0], vec![1.0], vec![1.0; 3], vec![]] {
        for knows_dimensions in [true, false] {
            let cache = tempfile::tempdir().unwrap();
            let model = WrongAtFirst { wrong: wrong.clone(), knows_dimensions, calls: AtomicUsize::new(0) };
            let cached = CachedEmbedding::new(model, cache.path()).unwrap();
            // Whoever asks sees the answer as it is, and what follows is right.
            let first = cached.embed(&texts(0..3)).await.unwrap().vectors;
            assert_eq!(format!("{:?}", first[1]), format!("{wrong:?}"));
            for _ in 0..2 {
                assert_eq!(cached.embed(&texts(0..3)).await.unwrap().vectors, [[0.6, 0.8]; 3]);
            }
            assert_eq!(cached.found(), 3);
        }
    }
}

#[tokio::test]
async fn a_program_that_hangs_with_the_lock_costs_its_help_only() {
    let (cache, model) = (tempfile::tempdir().unwrap(), Words::default());
    let lock = fs::File::create(cache.path().join("embeddings.lock")).unwrap();
    lock.lock().unwrap();
    let cached = CachedEmbedding::new(model.clone(), cache.path()).unwrap();
    let right = model.embed(&texts(0..3)).await.unwrap().vectors;
    let answer = tokio::time::timeout(Duration::from_secs(20), async { cached.embed(&texts(0..3)).await });
    assert_eq!(answer.await.expect("it waits for the lock").unwrap().vectors, right);
    drop(lock);
    cached.embed(&texts(0..3)).await.unwrap();
    cached.embed(&texts(0..3)).await.unwrap();
    assert_eq!(cached.found(), 3);
}
