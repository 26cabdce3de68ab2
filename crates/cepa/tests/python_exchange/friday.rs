//! The agent that both sides have; AgentScope's half is in `session.py`.

use std::sync::{Arc, Mutex};

use cepa::{
    Agent, AgentDefinition, BoxFuture, ChatChunk, ChatModel, ChatResponse, ChatUsage, ModelOutlet,
    ModelRequest, Result, SchemaTool, ToolCx, ToolGroup, budget::ReplyBudgetControlMiddleware, schemars,
    serde_json::json, task_tools, tool,
};
use serde::Deserialize;

use crate::turn::{Request, Round, Said};

/// What the structured replies give.
#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "cepa::schemars")]
pub(crate) struct Verdict {
    pub(crate) answer: String,
    pub(crate) score: i64,
}

/// The tools that ran, with their arguments.
pub(crate) type Ran = Arc<Mutex<Vec<String>>>;

fn note(cx: &ToolCx, what: String) {
    if let Some(ran) = cx.context::<Ran>() {
        ran.lock().unwrap().push(what);
    }
}

/// Pays an amount.
#[tool]
async fn pay(
    cx: ToolCx,
    /// How much.
    amount: i64,
) -> String {
    note(&cx, format!("pay {amount}"));
    format!("paid {amount}")
}

/// Looks around.
#[tool(permission = "allow")]
async fn look(cx: ToolCx) -> &'static str {
    note(&cx, "look".to_owned());
    "all quiet"
}

/// Digs.
#[tool(permission = "allow")]
async fn dig(cx: ToolCx) -> &'static str {
    note(&cx, "dig".to_owned());
    "gold"
}

pub(crate) fn friday(model: Arc<Scripted>) -> AgentDefinition {
    let fetch = json!({"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]});
    let fetch = SchemaTool::new("fetch", "Fetches something from outside.", fetch).external().allowed();
    let agent = Agent::builder("Friday")
        .system_prompt("Be helpful.")
        .model(model)
        .tool(pay)
        .tool(look)
        .tool(fetch)
        .tools(task_tools())
        .tool_group(ToolGroup::new("digging", "To dig.").tool(dig))
        .middleware(ReplyBudgetControlMiddleware::builder(100).build().unwrap());
    agent.define().unwrap()
}

/// Says what it is told to, round by round, and keeps the requests.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) rounds: Mutex<Vec<Round>>,
    pub(crate) requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) fn new(mut rounds: Vec<Round>) -> Arc<Self> {
        rounds.reverse();
        Arc::new(Self { rounds: Mutex::new(rounds), requests: Mutex::default() })
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn context_size(&self) -> u64 {
        32_768
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        self.requests.lock().unwrap().push(Request::of(&request));
        let round = self.rounds.lock().unwrap().pop();
        Box::pin(async move {
            let Round { said, usage: (input, output) } = round.unwrap();
            out.emit(match said {
                Said::Text { text } => ChatChunk::text(text),
                Said::Call { id, tool, input } => ChatChunk::tool_call(id, tool, input),
            })
            .await;
            Ok(ChatResponse::streamed().with_usage(ChatUsage::new(input, output, 0.0)))
        })
    }
}
