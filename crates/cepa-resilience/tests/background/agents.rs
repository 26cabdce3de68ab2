//! Agents and tools for the tests.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, BoxFuture, CancelToken, ContentBlock, Id, InjectionConfig, PermissionContext,
    PermissionDecision, Tool, ToolCx, ToolError, ToolResponse, ToolResultState,
    serde_json::{Map, Value, from_value, json, to_value},
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{BackgroundTools, BackgroundToolsBuilder};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// After 10 s, to the end of a minute.
pub(crate) fn background() -> BackgroundToolsBuilder {
    BackgroundTools::builder().after(10 * SECOND).deadline(60 * SECOND)
}

pub(crate) fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// Calls `train` in its first round, and says something in each later one.
pub(crate) fn trains() -> ScriptedModel {
    ScriptedModel::answering(|request| {
        let began = request
            .messages
            .iter()
            .any(|message| message.content.iter().any(|block| matches!(block, ContentBlock::ToolCall(_))));
        if began { Answer::new().text("I see.") } else { Answer::new().tool_call("train", json!({})) }
    })
}

/// A tool `train` that is done after so long.
pub(crate) fn train(time: Duration) -> ScriptedTool {
    ScriptedTool::new("train", [ToolAnswer::new().text("begun, ").delay(time).text("98 %")])
}

/// An agent with `train` that tells of what comes in the background.
pub(crate) fn agent(tool: ScriptedTool, layer: impl Into<Arc<BackgroundTools>>) -> Agent {
    builder(&trains()).tool(tool).middleware(layer.into()).build().unwrap()
}

/// The result of the first call in the context: its state and its text.
pub(crate) fn result(agent: &Agent) -> (ToolResultState, String) {
    let state = agent.state().unwrap();
    let mut blocks = state.context.iter().flat_map(|message| &message.content);
    let result = blocks.find_map(|block| block.as_tool_result()).unwrap();
    (result.state, result.output.text().into_owned())
}

/// The hints in the context.
pub(crate) fn hints(agent: &Agent) -> Vec<String> {
    let state = agent.state().unwrap();
    let blocks = state.context.iter().flat_map(|message| &message.content);
    let hints = blocks.filter_map(|block| match block {
        ContentBlock::Hint(hint) => Some(hint.hint.text().into_owned()),
        _ => None,
    });
    hints.collect()
}

pub(crate) fn session(agent: &Agent) -> Id {
    agent.state().unwrap().session_id.clone()
}

/// The state as another process would load it.
pub(crate) fn saved(agent: &Agent) -> cepa_core::AgentState {
    from_value(to_value(&*agent.state().unwrap()).unwrap()).unwrap()
}

/// A token that is cancelled after so long.
pub(crate) fn cancelled_after(time: Duration) -> CancelToken {
    let token = CancelToken::new();
    let later = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(time).await;
        later.cancel();
    });
    token
}

type Run = dyn Fn(ToolCx) -> BoxFuture<'static, Result<ToolResponse, ToolError>> + Send + Sync;

/// A tool `train` that does whatever it is told to.
pub(crate) struct Does {
    run: Box<Run>,
    external: bool,
}

impl Does {
    pub(crate) fn new<F>(run: impl Fn(ToolCx) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ToolResponse, ToolError>> + Send + 'static,
    {
        Self { run: Box::new(move |cx| Box::pin(run(cx))), external: false }
    }

    pub(crate) fn external() -> Self {
        Self { external: true, ..Self::new(|_| async { Ok(ToolResponse::text("never")) }) }
    }
}

static ANYTHING: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));

impl Tool for Does {
    fn name(&self) -> &str {
        "train"
    }
    fn description(&self) -> &str {
        "Does whatever it is told to."
    }
    fn input_schema(&self) -> &Value {
        &ANYTHING
    }
    fn is_external(&self) -> bool {
        self.external
    }
    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        Box::pin(std::future::ready(PermissionDecision::allow("a test")))
    }
    fn call(
        self: Arc<Self>,
        _input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        (self.run)(cx)
    }
}

impl std::fmt::Debug for Does {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Does")
    }
}
