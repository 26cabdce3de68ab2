//! The model of a reply, chosen among several.

mod builder;
mod candidate;
mod classifier;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use cepa_core::{
    ChatModel, Cx, Error, ErrorKind, Inputs, Middleware, ModelRequest, Msg, Next, OrderRule, Purpose,
    Reasoning, ReasoningInput, Reply, ReplyInput, Result, Role, middleware, texts::fill,
};
use serde_json::Value;

pub use self::{
    builder::{ModelRouterBuilder, RouterError},
    candidate::ChatModelCandidate,
    classifier::{ChoiceQuestion, Classifier},
};
use crate::texts;

/// Chooses the chat model of each reply among named candidates, by what the user asks for (AgentScope 2.0.11's
/// middleware of the same name).
///
/// A chat model chooses (by default the agent's own), or a [`Classifier`], which may be a function. It is asked once
/// per reply, in the reply's first round, with the latest message of the user; the choice holds for all rounds of the
/// reply, also when it goes on after a pause, in another process. It is kept with the session, as `{reply id: name}`.
///
/// The agent's own model is never touched: agents of one definition are routed each by itself. Where there is nothing to
/// choose by, where the choice fails, takes longer than the deadline, or names no candidate, the agent's own model
/// answers, and a warning is logged. The agent's retries and its fallback model are there for the chosen model too. What
/// the choice costs belongs to the reply, and the other layers see it as a model call with the purpose *routing*.
///
/// The context is compressed for the context size of the agent's own model: no candidate's should be smaller.
///
/// ```
/// use cepa_core::{Agent, testing::{ScriptedModel}};
/// use cepa_router::{ChatModelCandidate, ChoiceQuestion, ModelRouterMiddleware};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let router = ModelRouterMiddleware::builder([
///     ChatModelCandidate::new("fast", ScriptedModel::new(["Quick."]).named("small"), "small talk, short questions"),
///     ChatModelCandidate::new("deep", ScriptedModel::new(["Thorough."]).named("large"), "proofs, plans, code"),
/// ])
/// .classifier(|question: ChoiceQuestion| async move {
///     Ok(Some(if question.text().contains("prove") { "deep" } else { "fast" }.to_owned()))
/// })
/// .build()?;
/// let mut agent = Agent::builder("Friday").model(ScriptedModel::new(["Own."])).middleware(router).build()?;
/// assert_eq!(agent.reply("Please prove it.").await?.text().as_deref(), Some("Thorough."));
/// assert_eq!(agent.reply("Thanks!").await?.text().as_deref(), Some("Quick."));
/// # Ok(()) }
/// ```
pub struct ModelRouterMiddleware {
    chooser: Chooser,
    candidates: Arc<[ChatModelCandidate]>,
    instructions: Arc<str>,
    /// The system prompt and the schema of the answer, for a chat model.
    prompt: String,
    schema: Value,
    deadline: Duration,
    text_limit: usize,
}

/// Who chooses.
#[derive(Clone)]
enum Chooser {
    OwnModel,
    Model(Arc<dyn ChatModel>),
    Classifier(Arc<dyn Classifier>),
}

/// The names by reply id, as they are kept (AgentScope's form); `None` for the agent's own model.
type Routed = BTreeMap<String, Option<String>>;

/// What the user asks for in the reply that begins, if anything.
#[derive(Clone)]
struct Asked(Option<Arc<str>>);

impl ModelRouterMiddleware {
    /// A router among these models.
    pub fn builder(candidates: impl IntoIterator<Item = ChatModelCandidate>) -> ModelRouterBuilder {
        ModelRouterBuilder::new(candidates.into_iter().collect())
    }

    /// The name that holds for the reply at hand: the one that was chosen before, or a new one.
    async fn name(&self, cx: &Cx<Reasoning>) -> Result<Option<String>> {
        let reply_id = cx.reply_id()?.to_string();
        match cx.my_state().update(|routed: &mut Routed| routed.get(&reply_id).cloned()) {
            Ok(Some(name)) => return Ok(name),
            Ok(None) => {}
            Err(error) if matches!(error.kind(), ErrorKind::ReplyOver) => return Err(error),
            Err(error) => tracing::warn!(%error, "the model that was chosen before cannot be read"),
        }
        // A reply that goes on, and was begun without this layer.
        let Some(Asked(text)) = cx.scratch().get() else { return Ok(None) };
        let name = match text {
            Some(text) => self.choose(cx, text).await?,
            None => None,
        };
        // Entries of other replies are of no use any more.
        cx.my_state().set(Routed::from([(reply_id, name.clone())]))?;
        Ok(name)
    }

    /// Has a candidate chosen; `None` for the agent's own model.
    async fn choose(&self, cx: &Cx<Reasoning>, text: Arc<str>) -> Result<Option<String>> {
        let agent = cx.agent_name();
        let name = match tokio::time::timeout(self.deadline, self.ask(cx, text)).await {
            Ok(Ok(Some(name))) => name,
            Ok(Ok(None)) => return Ok(None),
            Ok(Err(error)) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ReplyOver) => {
                return Err(error);
            }
            Ok(Err(error)) => {
                tracing::warn!(agent, %error, "no model is chosen: the agent's own answers");
                return Ok(None);
            }
            Err(_) => {
                let deadline = self.deadline;
                tracing::warn!(agent, ?deadline, "no model is chosen in time: the agent's own answers");
                return Ok(None);
            }
        };
        if self.candidate(&name).is_none() {
            let name: String = name.chars().take(64).collect();
            tracing::warn!(
                agent,
                name,
                "there is no candidate of the chosen name: the agent's own model answers"
            );
            return Ok(None);
        }
        tracing::debug!(agent, name, "the model of the reply is chosen");
        Ok(Some(name))
    }

    async fn ask(&self, cx: &Cx<Reasoning>, text: Arc<str>) -> Result<Option<String>> {
        let model = match &self.chooser {
            Chooser::Classifier(classifier) => {
                let question = ChoiceQuestion::new(text, self.instructions.clone(), self.candidates.clone());
                return classifier.classify(question).await.map_err(Error::other);
            }
            Chooser::Model(model) => model,
            Chooser::OwnModel => cx.model(),
        };
        let messages = [Msg::system("system", self.prompt.as_str()), Msg::user("user", &*text)];
        let request = ModelRequest::new(messages).with_model(model.clone());
        let answer = cx.call_structured(Purpose::Routing, request, &self.schema).await?;
        Ok(answer.get("choice").and_then(Value::as_str).map(str::to_owned))
    }

    fn candidate(&self, name: &str) -> Option<&ChatModelCandidate> {
        self.candidates.iter().find(|candidate| candidate.name() == name)
    }

    /// The text of the latest message of a user, as the router reads it.
    fn asked(&self, messages: &[Arc<Msg>]) -> Option<Arc<str>> {
        let message = messages.iter().rev().find(|message| message.role == Role::User)?;
        let text = message.text()?;
        (!text.trim().is_empty()).then(|| shortened(text, self.text_limit).into())
    }
}

#[middleware]
impl Middleware for ModelRouterMiddleware {
    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of(
                "PiiGuard (input)",
                "outside, what the user says is given to the classifier before it is redacted",
            ),
            OrderRule::inside_of(
                "SecretScrub (input)",
                "outside, what the user says is given to the classifier before it is scrubbed",
            ),
            OrderRule::inside_of(
                "ReplyBudgetControlMiddleware",
                "outside, a session whose budget is spent still pays for the choice of a model",
            ),
        ];
        RULES
    }

    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        if let Inputs::Nothing | Inputs::Messages(_) = &input.inputs {
            cx.scratch().insert(Asked(self.asked(input.inputs.messages())));
        }
        next.run(input).await
    }

    async fn on_reasoning(
        &self,
        cx: Cx<Reasoning>,
        mut input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> Result<Option<Msg>> {
        if let Some(name) = self.name(&cx).await? {
            match self.candidate(&name) {
                Some(candidate) => input.model = Some(candidate.model().clone()),
                None => tracing::warn!(name, "the model that was chosen before is no candidate any more"),
            }
        }
        next.run(input).await
    }
}

/// At most so many characters, of the beginning and the end: what is wanted stands before or after what is pasted.
fn shortened(text: String, limit: usize) -> String {
    let mut places = text.char_indices().map(|(at, _)| at);
    // Most texts are short in bytes already.
    if text.len() <= limit || places.nth(limit).is_none() {
        return text;
    }
    let head = text.char_indices().nth(limit / 2).map_or(0, |(at, _)| at);
    let kept = limit - limit / 2;
    let tail = text.char_indices().nth_back(kept - 1).map_or(text.len(), |(at, _)| at);
    [&text[..head], texts::LEFT_OUT, &text[tail..]].concat()
}

/// The routing model's system prompt.
fn prompt(instructions: &str, candidates: &[ChatModelCandidate]) -> String {
    let criteria: serde_json::Map<String, Value> = candidates
        .iter()
        .map(|candidate| (candidate.name().to_owned(), candidate.description().into()))
        .collect();
    let criteria = format!("{:#}", Value::Object(criteria));
    fill(texts::PROMPT_MODEL_ROUTER, &[("instructions", instructions), ("criteria", &criteria)])
}

impl fmt::Debug for ModelRouterMiddleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelRouterMiddleware")
            .field("candidates", &self.candidates)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_long_text_keeps_its_beginning_and_its_end(text in "\\PC{0,60}", limit in 1usize..80) {
            let short = shortened(text.clone(), limit);
            if text.chars().count() <= limit {
                prop_assert_eq!(short, text);
            } else {
                let (head, tail) = short.split_once(texts::LEFT_OUT).unwrap();
                prop_assert_eq!(head.chars().count() + tail.chars().count(), limit);
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
            }
        }
    }
}
