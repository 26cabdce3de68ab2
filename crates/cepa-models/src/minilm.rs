//! all-MiniLM-L6-v2, in process.

mod network;
mod worker;

use std::path::Path;

use cepa_core::{BoxFuture, ErrorType, ModelError, Result};

use self::worker::Worker;
use crate::{ConfigError, EmbeddingModel, Embeddings};

/// Embeddings by all-MiniLM-L6-v2 in process: no key, no server, 384 dimensions, vectors of length 1.
///
/// It reads two files, `model.onnx` (quantised to 8 bits, 23 MB) and `tokenizer.json`. In Cepa's repository
/// `cargo xtask fetch` gets them and says where they are; otherwise any ONNX export of the model will do.
///
/// The model was made for English sentences and short paragraphs. **It sees the first 256 tokens of a text**, about
/// 200 words; the rest has no influence. A text takes tens of milliseconds on one core. They are embedded one after the
/// other, on a thread of the model's own that ends with its last clone.
///
/// ```no_run
/// use cepa_models::{EmbeddingModel, MiniLmEmbedding};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let model = MiniLmEmbedding::load("minilm/model.onnx", "minilm/tokenizer.json")?;
/// let vectors = model.embed(&["an onion".into(), "a leek".into()]).await?.vectors;
/// let cosine: f32 = vectors[0].iter().zip(&vectors[1]).map(|(one, other)| one * other).sum();
/// println!("{cosine}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct MiniLmEmbedding {
    worker: Worker,
}

impl MiniLmEmbedding {
    /// How many tokens of a text the model sees, with the two that mark its ends.
    pub const MAX_TOKENS: usize = 256;

    /// The model of these two files. It takes a tenth of a second.
    ///
    /// # Errors
    /// When a file cannot be read, or is not what it should be; the text names it.
    pub fn load(model: impl AsRef<Path>, tokenizer: impl AsRef<Path>) -> Result<Self, ConfigError> {
        Ok(Self { worker: Worker::start(model.as_ref(), tokenizer.as_ref())? })
    }

    /// The model of `model.onnx` and `tokenizer.json` in this folder.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn load_folder(folder: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let folder = folder.as_ref();
        Self::load(folder.join("model.onnx"), folder.join("tokenizer.json"))
    }
}

impl EmbeddingModel for MiniLmEmbedding {
    fn name(&self) -> &str {
        "all-MiniLM-L6-v2"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(network::DIMENSIONS)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>> {
        Box::pin(async move {
            let mut all = Embeddings::new(Vec::with_capacity(texts.len())).with_tokens(0);
            for text in texts {
                let (vector, tokens) = self.worker.embed(text.clone()).await.map_err(|reason| {
                    ModelError::new(ErrorType::Internal, format!("all-MiniLM-L6-v2: {reason}"))
                })?;
                all.vectors.push(vector);
                all.tokens = all.tokens.map(|sum| sum + tokens);
            }
            Ok(all)
        })
    }
}
