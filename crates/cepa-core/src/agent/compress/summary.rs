//! Having the older part of the context summed up.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Cut, Measure, Older, holds_something};
use crate::{
    agent::{clock, config::ContextConfig, round::USER, scope::ReplyScope, structured_request::Question},
    chain::ModelCall,
    error::{Error, Origin, Result},
    message::{HintBlock, Msg},
    model::{ModelRequest, Purpose},
    texts::fill,
};

/// How much of the context size a request may take that was too long before: the rest is for the answer.
const SHARE_OF_REQUEST: f64 = 0.9;

impl ReplyScope {
    /// The summary of the older part. `None` when none could be made and the context is to be cut without one.
    pub(super) async fn sum_up(
        self: &Arc<Self>,
        config: &ContextConfig,
        prompt: Arc<Msg>,
        older: &Older,
        instructions: Option<HintBlock>,
    ) -> Result<Option<String>> {
        let mut head = vec![prompt];
        head.extend(older.summary.clone());
        let instructions = instructions.map(|hint| Msg::assistant(self.definition.name.clone(), hint));
        let (time, zone) = clock::now_text(&self.definition.injection);
        let now = format!("{time} ({zone})");
        let question = Msg::user(USER, fill(&config.compression_prompt, &[("current_time", &now)]));
        let tail: Vec<_> = instructions.into_iter().chain([question]).map(Arc::new).collect();
        match self.ask_for_summary(&config.summary_schema, &head, &older.messages, &tail).await {
            Ok(fields) => Ok(Some(written(config, &fields))),
            Err(error) if is_models(&error) && config.compression_fallback_to_truncation => {
                let agent = &*self.definition.name;
                tracing::warn!(agent, %error, "no summary could be made: the older messages are left out without one");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn ask_for_summary(
        self: &Arc<Self>,
        schema: &Value,
        head: &[Arc<Msg>],
        older: &[Arc<Msg>],
        tail: &[Arc<Msg>],
    ) -> Result<Map<String, Value>> {
        let question = Question::new(schema)?;
        let request = |messages: &[Arc<Msg>]| {
            ModelRequest::new([head, messages, tail].concat())
                .with_purpose(Purpose::Summary)
                .with_options(self.definition.options.clone())
        };
        let whole = request(older);
        let model = &*self.definition.model;
        let layers = self.definition.layers::<ModelCall>().clone();
        let measure = Measure { model, tools: question.tools(), head, tail };
        if model.count_tokens(&whole.messages, question.tools()) <= model.context_size() {
            return self.put_question(layers.clone(), whole, &question).await;
        }
        // It is an estimate only: the model may still take all of it. If not, the oldest messages are left out.
        let error = match self.put_question_once(layers.clone(), whole, &question).await {
            Err(error) if is_models(&error) => error,
            other => return other,
        };
        let cut: Cut = measure.cut(older, SHARE_OF_REQUEST * model.context_size() as f64);
        let newest = cut.after(older);
        if !holds_something(&newest) {
            return Err(error);
        }
        tracing::warn!(%error, "the request for a summary was too long: it is made again without the oldest messages");
        self.put_question(layers, request(&newest), &question).await
    }
}

/// Whether another way of asking, or going without an answer, is the right thing to do: not so for an interrupt, and
/// for a layer that refuses.
fn is_models(error: &Error) -> bool {
    error.origin() == Origin::Model
}

/// Puts the summary together. A field that the model may leave out, and did, is empty.
fn written(config: &ContextConfig, fields: &Map<String, Value>) -> String {
    let declared = config.summary_schema.get("properties").and_then(Value::as_object);
    let left_out = declared.into_iter().flat_map(Map::keys).filter(|name| !fields.contains_key(*name));
    let mut values: Vec<(&str, String)> = left_out.map(|name| (name.as_str(), String::new())).collect();
    values.extend(fields.iter().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.as_str(), text)
    }));
    let values: Vec<_> = values.iter().map(|(name, text)| (*name, text.as_str())).collect();
    fill(&config.summary_template, &values)
}
