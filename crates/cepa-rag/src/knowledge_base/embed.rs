//! Texts to vectors, and whether the answer is one.

use cepa_core::{ErrorType, ModelError};
use cepa_models::Embeddings;

use super::KnowledgeBase;
use crate::RagError;

impl KnowledgeBase {
    /// A vector for each text: as many, of one length, of finite numbers.
    pub(super) async fn embed(&self, texts: &[String]) -> Result<Embeddings, RagError> {
        let Some(model) = &self.inner.model else { return Ok(Embeddings::default()) };
        let embed = || async { model.embed(texts).await.map_err(RagError::Model) };
        let embeddings = self.call_model(model.name(), embed).await?;
        let vectors = &embeddings.vectors;
        if vectors.len() != texts.len() {
            let (found, asked) = (vectors.len(), texts.len());
            return Err(wrong(format!("{} answered {asked} texts with {found} vectors", model.name())));
        }
        let expected = model.dimensions().or(self.inner.collection.get().and_then(|made| made.dimensions));
        let expected = expected.or(vectors.first().map(Vec::len)).unwrap_or_default();
        if let Some(other) = vectors.iter().find(|vector| vector.len() != expected) {
            return Err(RagError::Dimensions {
                place: model.name().to_owned(),
                expected,
                found: other.len(),
            });
        }
        if vectors.iter().flatten().any(|value| !value.is_finite()) {
            return Err(wrong(format!("{} answered with something that is no number", model.name())));
        }
        Ok(embeddings)
    }
}

fn wrong(text: String) -> RagError {
    RagError::Model(ModelError::new(ErrorType::Upstream, text).into())
}
