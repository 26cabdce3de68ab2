//! Embedding models: the trait and its answer.

use std::{fmt, sync::Arc};

use cepa_core::{BoxFuture, Result};

/// A model that turns texts into vectors.
///
/// ```
/// use cepa_core::{BoxFuture, Result};
/// use cepa_models::{EmbeddingModel, Embeddings};
///
/// /// Counts vowels and other letters.
/// #[derive(Debug)]
/// struct Letters;
///
/// impl EmbeddingModel for Letters {
///     fn name(&self) -> &str {
///         "letters"
///     }
///
///     fn dimensions(&self) -> Option<usize> {
///         Some(2)
///     }
///
///     fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>> {
///         let vector = |text: &String| {
///             let vowels = text.chars().filter(|c| "aeiou".contains(*c)).count();
///             vec![vowels as f32, (text.chars().count() - vowels) as f32]
///         };
///         let vectors = texts.iter().map(vector).collect();
///         Box::pin(async move { Ok(Embeddings::new(vectors)) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let embeddings = Letters.embed(&["onion".into(), "sky".into()]).await?;
/// assert_eq!(embeddings.vectors, [[3.0, 2.0], [0.0, 3.0]]);
/// # Ok(()) }
/// ```
pub trait EmbeddingModel: fmt::Debug + Send + Sync + 'static {
    /// The model's name, as the server knows it.
    fn name(&self) -> &str;

    /// How many numbers a vector has, if that is known before the first call.
    fn dimensions(&self) -> Option<usize>;

    /// Turns texts into vectors: as many, in the same order, all of one length. No texts give no vectors.
    ///
    /// # Errors
    /// A [`ModelError`](cepa_core::ModelError) (as [`Error`](cepa_core::Error)) when a request fails.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>>;
}

impl<M: EmbeddingModel + ?Sized> EmbeddingModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dimensions(&self) -> Option<usize> {
        (**self).dimensions()
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Embeddings>> {
        (**self).embed(texts)
    }
}

/// What an embedding model answers.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Embeddings {
    /// One vector per text.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens spent. `None` when the server did not say.
    pub tokens: Option<u64>,
}

impl Embeddings {
    /// These vectors, at an unknown price.
    pub fn new(vectors: Vec<Vec<f32>>) -> Self {
        Self { vectors, tokens: None }
    }

    /// Adds the tokens spent.
    pub fn with_tokens(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.tokens = tokens.into();
        self
    }
}
