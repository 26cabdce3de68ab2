//! How often what is looked for is found: by meaning, by words, and by both.
//!
//! The questions are real ones with real answers: those of the FAQs of Perl, Python and Debian. Each answer, without its
//! question, is a document; what is right for a question is the answer that stands under it, and nothing else, though
//! another one may help as well. So the figures compare ways of searching, and say little of other documents.

mod faq;

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use cepa_core::{OutputBlock, TextBlock};
use cepa_models::{EmbeddingModel, MiniLmEmbedding};
use cepa_rag::{
    CachedEmbedding, EmbeddedStore, File, KnowledgeBase, Retriever as _, SearchBy, SearchOptions,
    TokenChunker, VectorStore,
};

use self::faq::Faq;
use crate::{Error, Figure, Report};

/// Fewer questions say nothing.
const LEAST: usize = 500;
/// So many chunks are looked at for the ten best documents.
const CHUNKS: usize = 50;

/// Asks every question in each way.
///
/// # Errors
/// Where the files are missing, or something fails.
pub fn run() -> Result<Report, Error> {
    let folder = |variable: &str| {
        std::env::var_os(variable).map(PathBuf::from).ok_or_else(|| {
            format!(
                "{variable} is not set: `cargo xtask bench retrieval` gets the files and says where they are"
            )
        })
    };
    let (minilm, faqs) = (folder("CEPA_MINILM")?, folder("CEPA_FAQ")?);
    let questions = faq::read(&faqs)?;
    if questions.len() < LEAST {
        return Err(format!("there are only {} questions in {}", questions.len(), faqs.display()).into());
    }
    let model = CachedEmbedding::new(MiniLmEmbedding::load_folder(minilm)?, faqs.join("embeddings"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(all(&questions, Arc::new(model)))
}

async fn all(questions: &[Faq], model: Arc<dyn EmbeddingModel>) -> Result<Report, Error> {
    #[expect(clippy::cast_precision_loss, reason = "there are not that many")]
    let mut figures = vec![counted("questions", questions.len() as f64)];
    let store: Arc<dyn VectorStore> = Arc::new(EmbeddedStore::in_memory());
    let base = |search_by| {
        KnowledgeBase::builder("faq", "Questions that are asked often.", store.clone())
            .embedding_model(model.clone())
            .chunker(TokenChunker::builder().max_tokens(200).overlap(20).build()?)
            .search_by(search_by)
            .build()
    };
    let answers = questions.iter().map(|faq| File::new(faq.id.as_str(), faq.answer.as_bytes()));
    base(SearchBy::Hybrid)?.index(answers).await?;
    let ways = [
        (SearchBy::Vector, "vectors_recall5", "vectors_ndcg10"),
        (SearchBy::Keywords, "bm25_recall5", "bm25_ndcg10"),
        (SearchBy::Hybrid, "hybrid_recall5", "hybrid_ndcg10"),
    ];
    for (search_by, recall, ndcg) in ways {
        let Quality { recall_5, ndcg_10 } = ask(&base(search_by)?, questions).await?;
        figures.extend([counted(recall, recall_5), counted(ndcg, ndcg_10)]);
    }
    Ok(Report { name: "retrieval", figures })
}

fn counted(name: &'static str, value: f64) -> Figure {
    Figure { name, goal: None, best: value, median: None }
}

#[derive(Default)]
struct Quality {
    recall_5: f64,
    ndcg_10: f64,
}

async fn ask(base: &KnowledgeBase, questions: &[Faq]) -> Result<Quality, Error> {
    let mut sum = Quality::default();
    for faq in questions {
        let question = OutputBlock::from(TextBlock::new(faq.question.as_str()));
        let hits = base.search(&[question], &SearchOptions::top_k(CHUNKS)).await?;
        let mut ranks: HashMap<&str, u32> = HashMap::new();
        for hit in &hits {
            let next = u32::try_from(ranks.len())? + 1;
            ranks.entry(&hit.document_id).or_insert(next);
        }
        if let Some(&rank) = ranks.get(faq.id.as_str()) {
            sum.recall_5 += f64::from(u8::from(rank <= 5));
            // One document is right, so the best that could be is 1.
            sum.ndcg_10 += if rank <= 10 { 1.0 / f64::from(rank + 1).log2() } else { 0.0 };
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "there are not that many")]
    let count = questions.len() as f64;
    Ok(Quality { recall_5: sum.recall_5 / count, ndcg_10: sum.ndcg_10 / count })
}
