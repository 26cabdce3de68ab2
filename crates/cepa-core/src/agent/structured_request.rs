//! Asking a model for an object of a schema, beside the steps of the reply.

use std::{slice, sync::Arc};

use serde_json::{Map, Value};

use super::{
    round::USER,
    scope::{Layers, ReplyScope},
};
use crate::{
    chain::{AgentHook, Cx, ModelCall},
    error::{Error, ErrorKind, Origin, Result},
    message::{ContentBlock, Msg, Role, TextBlock},
    model::{ModelRequest, Purpose, ToolChoice, ToolSchema},
    texts::{self, fill},
    tool::{ToolCx, Validator},
};

/// The tool whose arguments are the answer. Its name is AgentScope's.
const ANSWER_TOOL: &str = "generate_structured_output";

/// The schema of an answer, ready to ask with.
pub(super) struct Question<'a> {
    schema: &'a Value,
    validator: Validator,
    tool: [ToolSchema; 1],
}

impl<'a> Question<'a> {
    /// # Errors
    /// A schema that cannot be used.
    pub(super) fn new(schema: &'a Value) -> Result<Self> {
        let what = "the schema of a structured request".to_owned();
        let validator =
            Validator::new(schema).map_err(|reason| ErrorKind::SchemaViolation { what, reason })?;
        let tool = [ToolSchema::new(ANSWER_TOOL, texts::TOOL_DESCRIPTION_STRUCTURED, schema.clone())];
        Ok(Self { schema, validator, tool })
    }

    /// What such a request offers.
    pub(super) fn tools(&self) -> &[ToolSchema] {
        &self.tool
    }

    /// The object in an answer.
    fn read(&self, model: &str, blocks: &[ContentBlock]) -> Result<Map<String, Value>> {
        let call =
            blocks.iter().filter_map(ContentBlock::as_tool_call).find(|call| *call.name == *ANSWER_TOOL);
        let object = match call {
            Some(call) => self
                .validator
                .read(ANSWER_TOOL, &call.input, self.schema)
                .map_err(|error| error.into_message()),
            None => Err(format!("it holds no call of `{ANSWER_TOOL}`")),
        };
        object.map_err(|reason| {
            let what = format!("the answer of model `{model}`");
            Error::new(ErrorKind::SchemaViolation { what, reason }).at_model()
        })
    }
}

impl ReplyScope {
    /// Puts a question. Some servers refuse a choice of one tool, and some models miss the schema at first: then it is
    /// put once more, with the choice left to the model.
    ///
    /// # Errors
    /// Those of the model, an answer that is no object of the schema among them; those of the layers; *interrupted*.
    pub(super) async fn put_question(
        self: &Arc<Self>,
        layers: Layers,
        request: ModelRequest,
        question: &Question<'_>,
    ) -> Result<Map<String, Value>> {
        let error = match self.put_question_once(layers.clone(), request.clone(), question).await {
            Err(error) if error.origin() == Origin::Model => error,
            other => return other,
        };
        tracing::warn!(purpose = %request.purpose, %error, "a structured request failed: it is made once more");
        let missed = match error.kind() {
            ErrorKind::SchemaViolation { reason, .. } => Some(reason.as_str()),
            _ => None,
        };
        self.put(layers, request, question, ToolChoice::auto(), missed).await
    }

    /// As [`put_question`](Self::put_question), once.
    pub(super) async fn put_question_once(
        self: &Arc<Self>,
        layers: Layers,
        request: ModelRequest,
        question: &Question<'_>,
    ) -> Result<Map<String, Value>> {
        let mut choice = ToolChoice::tool(ANSWER_TOOL);
        choice.tools = None; // there is no other to leave out
        self.put(layers, request, question, choice, None).await
    }

    /// `missed` is what was wrong with an earlier answer.
    async fn put(
        self: &Arc<Self>,
        layers: Layers,
        mut request: ModelRequest,
        question: &Question<'_>,
        choice: ToolChoice,
        missed: Option<&str>,
    ) -> Result<Map<String, Value>> {
        let missed =
            missed.map(|reason| fill(texts::ERROR_STRUCTURED_OUTPUT_INVALID, &[("message", reason)]));
        add_instruction(&mut request.messages, missed.as_deref());
        request.tools = question.tool.clone().into();
        request.tool_choice = Some(choice);
        let response = self.call_model(layers, request).await?;
        let model = response.model.as_deref().unwrap_or_else(|| self.definition.model.name());
        question.read(model, response.content.blocks())
    }
}

/// Adds the instruction to the last message, as a block of its own; as a message, if that is not a user's.
fn add_instruction(messages: &mut Vec<Arc<Msg>>, missed: Option<&str>) {
    let texts = slice::from_ref(&texts::PROMPT_STRUCTURED_OUTPUT).iter().copied().chain(missed);
    let blocks = texts.map(|text| TextBlock::new(text).into());
    match messages.last_mut().filter(|last| last.role == Role::User) {
        Some(last) => Arc::make_mut(last).content.extend(blocks),
        None => messages.push(Arc::new(Msg::user(USER, blocks.collect::<Vec<ContentBlock>>()))),
    }
}

impl<H: AgentHook> Cx<H> {
    /// Asks a model for an object of a JSON schema, on the layer's own account: as
    /// [`call_model`](Self::call_model), with the answer read and checked. If it does not fit the schema, or the
    /// server refuses to have a tool chosen for the model, the question is put once more.
    ///
    /// Tools and tool choice of the request are set here.
    ///
    /// ```
    /// # use cepa_core::{Cx, ModelRequest, Msg, Purpose, Reasoning, Result, serde_json::json};
    /// # async fn in_a_hook(cx: Cx<Reasoning>) -> Result<()> {
    /// let schema = json!({"type": "object", "required": ["easy"], "properties": {"easy": {"type": "boolean"}}});
    /// let request = ModelRequest::new([Msg::user("user", "Is `1 + 1 = ?` easy?")]);
    /// let answer = cx.call_structured(Purpose::Routing, request, &schema).await?;
    /// let is_easy = answer["easy"] == true;
    /// # let _ = is_easy; Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`call_model`](Self::call_model), and a *schema violation* of the second answer (with the origin
    /// *model*) or of the schema itself.
    pub async fn call_structured(
        &self,
        purpose: Purpose,
        request: ModelRequest,
        schema: &Value,
    ) -> Result<Map<String, Value>> {
        let question = Question::new(schema)?;
        self.scope().put_question(self.others(), request.with_purpose(purpose), &question).await
    }
}

impl ToolCx {
    /// Asks a model for an object of a JSON schema, on the tool's own account: as a layer does by
    /// [`Cx::call_structured`](Cx::call_structured), through the `on_model_call` of all layers.
    ///
    /// # Errors
    /// As there; *reply over* also when the tool was called without an agent.
    pub async fn call_structured(
        &self,
        purpose: Purpose,
        request: ModelRequest,
        schema: &Value,
    ) -> Result<Map<String, Value>> {
        let reply = self.scope().reply().ok_or_else(|| Error::new(ErrorKind::ReplyOver))?;
        let question = Question::new(schema)?;
        let layers = reply.definition.layers::<ModelCall>().clone();
        reply.put_question(layers, request.with_purpose(purpose), &question).await
    }
}
