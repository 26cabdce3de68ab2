//! The knowledge base: its store, its embedding model, and the folder that goes into it.

use std::{path::Path, sync::Arc};

use cepa::{
    models::{EmbeddingModel, MiniLmEmbedding, OpenAiEmbedding},
    rag::{
        CachedEmbedding, ChromaStore, EmbeddedStore, KnowledgeBase, PgVectorStore, Progress, QdrantStore,
        VectorStore,
    },
};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    Outcome,
    options::{Embedding, Options, Store},
};

pub(crate) fn open(options: &Options) -> Outcome<KnowledgeBase> {
    let url = |usual: &str| options.url.clone().unwrap_or_else(|| usual.to_owned());
    let store: Arc<dyn VectorStore> = match options.store {
        Store::Embedded => Arc::new(EmbeddedStore::open(options.index.join("store"))?),
        Store::Qdrant => Arc::new(QdrantStore::builder(url("http://127.0.0.1:6333")).build()?),
        Store::Chroma => Arc::new(ChromaStore::builder(url("http://127.0.0.1:8000")).build()?),
        Store::PgVector => {
            Arc::new(PgVectorStore::builder(url("postgres://postgres@127.0.0.1/postgres")).build()?)
        }
    };
    let model: Option<Arc<dyn EmbeddingModel>> = match options.embedding {
        Embedding::None => None,
        Embedding::MiniLm => {
            let folder = std::env::var("CEPA_MINILM")
                .map_err(|_| "CEPA_MINILM is not set: `cargo xtask fetch` gets the model's files and says where they are")?;
            Some(Arc::new(MiniLmEmbedding::load_folder(folder)?))
        }
        Embedding::OpenAi => Some(Arc::new(OpenAiEmbedding::from_env("text-embedding-3-small")?)),
    };
    // Each folder and each embedding model has a collection of its own.
    let folder = options.folder.canonicalize()?;
    let path = folder.display().to_string();
    let name = model.as_ref().map_or("words", |model| model.name());
    let hash = path.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte));
    let collection: String = format!("rag-{hash:08x}-{name}")
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .take(60)
        .collect();
    let collection = collection.trim_end_matches('-');
    let description = format!("The documents of the folder {path}.");
    let mut builder = KnowledgeBase::builder("documents", description, store).collection(collection);
    if let Some(model) = model {
        builder = builder.embedding_model(CachedEmbedding::new(model, options.index.join("embeddings"))?);
    }
    Ok(builder.build()?)
}

/// Brings the knowledge base up to date, and shows how far it is.
pub(crate) async fn index(base: &KnowledgeBase, folder: &Path) -> Outcome {
    let bar = ProgressBar::new(0);
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}")?);
    let show = |progress: &Progress| {
        bar.set_length(progress.documents as u64);
        bar.set_position(progress.documents_done as u64);
        bar.set_message(progress.document.clone());
    };
    let report = base.index_folder(folder).on_progress(show).await;
    bar.finish_and_clear();
    let report = report?;
    println!("{}: {report}", folder.display());
    report.problems.iter().for_each(|problem| println!("  {problem}"));
    Ok(())
}
