//! Changes what goes in, or what comes out.

use std::sync::Arc;

use cepa_core::{
    Acting, ActingInput, BoxFuture, ChatModel, ChatResponse, CheckPermission, Compress, CompressInput,
    ContentBlock, Cx, HintBlock, Inputs, ModelCall, ModelRequest, Msg, Next, PermissionBehavior,
    PermissionDecision, PermissionRequest, PermissionRule, Reasoning, ReasoningInput, Reply, ReplyInput,
    Result, TextBlock, ToolChoice, ToolResponse,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{behaviour::Behaviour, options::Options, step::Step};
use crate::{error::RunError, models::json_of, world::World};

/// The id of a message that was rewritten.
const REWRITTEN: &str = "rewritten";

/// A scripted decision.
#[derive(Clone, Deserialize)]
pub(super) struct DecisionSpec {
    behavior: PermissionBehavior,
    #[serde(default)]
    message: String,
    decision_reason: Option<String>,
    updated_input: Option<Map<String, Value>>,
    suggested_rules: Option<Vec<PermissionRule>>,
    #[serde(default)]
    bypass_immune: bool,
}

impl DecisionSpec {
    pub(super) fn decision(&self) -> PermissionDecision {
        let mut decision = PermissionDecision::new(self.behavior, self.message.clone());
        decision.decision_reason.clone_from(&self.decision_reason);
        decision.updated_input.clone_from(&self.updated_input);
        decision.suggested_rules.clone_from(&self.suggested_rules);
        decision.bypass_immune = self.bypass_immune;
        decision
    }
}

/// Changes what goes in, or what comes out. (How the change is written down, the case's `style`, makes no
/// difference here: inputs are owned.)
pub(super) struct Rewrite {
    user_text: Option<String>,
    tool_choice: Option<ToolChoice>,
    model: Option<Arc<dyn ChatModel>>,
    tools: Option<Vec<String>>,
    tool_input: Option<Map<String, Value>>,
    decision: Option<DecisionSpec>,
    input: Option<String>,
    name: Option<String>,
    instructions: Option<String>,
    prompt: Prompt,
}

/// How the system prompt is changed.
struct Prompt {
    replace: Option<String>,
    prepend: String,
    append: String,
    append_count: bool,
}

impl Rewrite {
    pub(super) fn new(options: &Options<'_>, world: &World) -> Result<Self, RunError> {
        let model = match options.get::<String>("model")? {
            Some(label) => Some(world.model(&label)?),
            None => None,
        };
        Ok(Self {
            user_text: options.get("user_text")?,
            tool_choice: options.get("tool_choice")?,
            model,
            tools: options.get("tools")?,
            tool_input: options.get("tool_input")?,
            decision: options.get("decision")?,
            input: options.get("input")?,
            name: options.get("name")?,
            instructions: options.get("instructions")?,
            prompt: Prompt {
                replace: options.get("replace")?,
                prepend: options.or_default("prepend")?,
                append: options.or_default("append")?,
                append_count: options.or_default("append_count")?,
            },
        })
    }
}

impl Behaviour for Rewrite {
    fn on_reply(
        self: Arc<Self>,
        _step: Step,
        _cx: Cx<Reply>,
        mut input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        if let (Some(text), Inputs::Messages(messages)) = (&self.user_text, &mut input.inputs) {
            for message in messages {
                let message = Arc::make_mut(message);
                message.content = vec![ContentBlock::Text(TextBlock::new(text))];
                message.id = REWRITTEN.into();
            }
        }
        Box::pin(next.run(input))
    }

    fn on_reasoning(
        self: Arc<Self>,
        _step: Step,
        _cx: Cx<Reasoning>,
        mut input: ReasoningInput,
        next: Next<Reasoning>,
    ) -> BoxFuture<'static, Result<Option<Msg>>> {
        if self.tool_choice.is_some() {
            input.tool_choice.clone_from(&self.tool_choice);
        }
        Box::pin(next.run(input))
    }

    fn on_model_call(
        self: Arc<Self>,
        _step: Step,
        _cx: Cx<ModelCall>,
        mut request: ModelRequest,
        next: Next<ModelCall>,
    ) -> BoxFuture<'static, Result<ChatResponse>> {
        if self.model.is_some() {
            request.model.clone_from(&self.model);
        }
        if self.tool_choice.is_some() {
            request.tool_choice.clone_from(&self.tool_choice);
        }
        if let Some(tools) = &self.tools {
            let kept = request.tools.iter().filter(|tool| tools.iter().any(|name| **name == **tool.name()));
            request.tools = kept.cloned().collect();
        }
        Box::pin(next.run(request))
    }

    fn on_check_permission(
        self: Arc<Self>,
        step: Step,
        _cx: Cx<CheckPermission>,
        mut request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> BoxFuture<'static, Result<PermissionDecision>> {
        if let Some(input) = &self.tool_input {
            request.input.clone_from(input);
        }
        Box::pin(async move {
            let decision = next.run(request).await?;
            let Some(spec) = &self.decision else { return Ok(decision) };
            // The trace has what came out of the chain, not what was made of it.
            let behaviour = json_of(&decision.behavior);
            step.end_with(&format!("exit {}", behaviour.as_str().unwrap_or_default()));
            Ok(spec.decision())
        })
    }

    fn on_acting(
        self: Arc<Self>,
        _step: Step,
        _cx: Cx<Acting>,
        mut input: ActingInput,
        next: Next<Acting>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        if let Some(text) = &self.input {
            input.tool_call.input.clone_from(text);
        }
        if let Some(name) = &self.name {
            input.tool_call.name = name.as_str().into();
        }
        Box::pin(next.run(input))
    }

    fn on_compress_context(
        self: Arc<Self>,
        _step: Step,
        _cx: Cx<Compress>,
        mut input: CompressInput,
        next: Next<Compress>,
    ) -> BoxFuture<'static, Result<()>> {
        if let Some(text) = &self.instructions {
            input.instructions = Some(instructions(text));
        }
        Box::pin(next.run(input))
    }

    fn on_system_prompt(&self, prompt: String, nth: usize) -> Result<String> {
        let Prompt { replace, prepend, append, append_count } = &self.prompt;
        let prompt = replace.clone().unwrap_or(prompt);
        let count = if *append_count { format!(" #{}", nth + 1) } else { String::new() };
        Ok(format!("{prepend}{prompt}{append}{count}"))
    }
}

/// Instructions for a summary, as the cases give them.
pub(crate) fn instructions(text: &str) -> HintBlock {
    HintBlock::new(text).with_source("case")
}
