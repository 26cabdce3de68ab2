//! all-MiniLM-L6-v2 on real texts, where its files are (`CEPA_MINILM`: `cargo xtask fetch` says where).

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may fail, and say why")]

use std::{fs, path::PathBuf, sync::OnceLock, time::Duration};

use cepa_models::{EmbeddingModel, MiniLmEmbedding};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("CEPA_MINILM").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: CEPA_MINILM is not set; `cargo xtask fetch` gets the files");
    }
    folder
}

fn model() -> Option<&'static MiniLmEmbedding> {
    static MODEL: OnceLock<Option<MiniLmEmbedding>> = OnceLock::new();
    MODEL.get_or_init(|| Some(MiniLmEmbedding::load_folder(folder()?).unwrap())).as_ref()
}

async fn vectors(model: &MiniLmEmbedding, texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    model.embed(&texts).await.unwrap().vectors
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[tokio::test]
async fn the_nearest_text_is_the_one_that_is_meant() {
    let Some(model) = model() else { return };
    let texts = [
        "The warranty of the pump ends after two years.",
        "Bake the bread for forty minutes.",
        "The capital of France is Paris.",
        "Our train leaves the station at noon.",
        "A cat sleeps on the sofa.",
    ];
    let questions = [
        "How long is the water pump guaranteed?",
        "How much time does a loaf need in the oven?",
        "Which city is the seat of the French government?",
        "When does the railway journey begin?",
        "Where is the pet resting?",
    ];
    let (texts, questions) = (vectors(model, &texts).await, vectors(model, &questions).await);
    for (number, question) in questions.iter().enumerate() {
        assert_eq!(question.len(), 384);
        assert!((cosine(question, question) - 1.0).abs() < 1e-5);
        let nearest = texts
            .iter()
            .enumerate()
            .max_by(|(_, one), (_, other)| cosine(question, one).total_cmp(&cosine(question, other)));
        assert_eq!(nearest.unwrap().0, number);
    }
    assert!(cosine(&texts[0], &questions[0]) > 0.4);
    assert!(cosine(&texts[0], &texts[4]) < 0.2);
}

#[tokio::test]
async fn a_text_has_the_same_vector_in_every_company() {
    let Some(model) = model() else { return };
    let alone = vectors(model, &["An onion is a bulb."]).await;
    let among = vectors(model, &["x", "An onion is a bulb.", &"long ".repeat(300)]).await;
    assert_eq!(alone[0], among[1]);
    assert!(model.embed(&[]).await.unwrap().vectors.is_empty());
}

#[tokio::test]
async fn odd_texts_have_vectors_too() {
    let Some(model) = model() else { return };
    let odd = ["", " ", "\0", "🧅🧅🧅", "е́", "玉ねぎ", "a\u{301}\u{301}\u{301}"];
    for (text, vector) in odd.iter().zip(vectors(model, &odd).await) {
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5, "{text:?}");
    }
}

#[tokio::test]
async fn what_comes_after_the_limit_has_no_influence() {
    let Some(model) = model() else { return };
    let beginning = "The pump has a warranty of two years. ".repeat(60);
    let huge = format!("{beginning}{}", "Cats sleep. ".repeat(500_000));
    let texts = [beginning, huge];
    let embedded = tokio::time::timeout(Duration::from_secs(60), model.embed(&texts));
    let embedded = embedded.await.unwrap().unwrap();
    assert_eq!(embedded.vectors[0], embedded.vectors[1]);
    assert_eq!(embedded.tokens, Some(2 * MiniLmEmbedding::MAX_TOKENS as u64));
}

#[test]
fn files_that_are_missing_or_wrong_are_named() {
    let error = MiniLmEmbedding::load_folder("there is no such folder").unwrap_err().to_string();
    assert!(error.contains("tokenizer.json") && error.contains("cargo xtask fetch"), "{error}");
    let Some(folder) = folder() else { return };
    let broken = tempfile::tempdir().unwrap();
    let tokenizer = folder.join("tokenizer.json");
    let error = MiniLmEmbedding::load(broken.path().join("model.onnx"), &tokenizer).unwrap_err().to_string();
    assert!(error.contains("model.onnx"), "{error}");
    fs::write(broken.path().join("model.onnx"), "<title>Not found</title>").unwrap();
    let error = MiniLmEmbedding::load(broken.path().join("model.onnx"), &tokenizer).unwrap_err().to_string();
    assert!(error.contains("no ONNX model"), "{error}");
    let error = MiniLmEmbedding::load(folder.join("model.onnx"), folder.join("model.onnx")).unwrap_err();
    assert!(error.to_string().contains("model.onnx cannot be used"), "{error}");
}
