//! The model of a reply, chosen by a chat model of the case or by a classifier that says what the case says.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use cepa_core::{BoxError, BoxFuture};
use cepa_router::{ChatModelCandidate, ChoiceQuestion, Classifier, ModelRouterMiddleware};
use serde::Deserialize;
use serde_json::json;

use super::{super::options::Options, BuiltinLayer};
use crate::{case::LayerSpec, error::RunError, log::Log, world::World};

pub(super) fn build(spec: &LayerSpec, world: &World) -> Result<Box<dyn BuiltinLayer>, RunError> {
    let options = Options::new(spec);
    let candidates: Vec<Candidate> = options.or_default("candidates")?;
    let candidates = candidates
        .into_iter()
        .map(|Candidate { name, model, description }| {
            Ok(ChatModelCandidate::new(name, world.model(&model)?, description))
        })
        .collect::<Result<Vec<_>, RunError>>()?;
    let mut builder = ModelRouterMiddleware::builder(candidates);
    if let Some(label) = options.get::<String>("router_model")? {
        builder = builder.router_model(world.model(&label)?);
    }
    if let Some(answers) = options.get::<VecDeque<String>>("classifier_answers")? {
        builder = builder.classifier(FakeClassifier { answers: Mutex::new(answers), log: world.log.clone() });
    }
    Ok(Box::new(Arc::new(builder.build().map_err(RunError::layer(spec))?)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    name: String,
    model: String,
    description: String,
}

struct FakeClassifier {
    answers: Mutex<VecDeque<String>>,
    log: Log,
}

impl Classifier for FakeClassifier {
    fn classify(&self, question: ChoiceQuestion) -> BoxFuture<'_, Result<Option<String>, BoxError>> {
        let mut choices: Vec<&str> = question.criteria().map(|(name, _)| name).collect();
        choices.sort_unstable();
        // A question of ours has no name, as there is only one.
        self.log.backend(json!({"backend": "classifier", "op": "classify", "state": question.text(),
            "questions": ["chat_model"], "choices": choices}));
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(async move { answer.map(Some).ok_or_else(|| "the classifier has no answer left".into()) })
    }
}
