//! Compressing a context of ten thousand messages, and of twice as many: it must take twice as long.

use std::sync::Arc;

use cepa_core::{
    Agent, AgentDefinition, AgentState, BoxFuture, ChatModel, ChatResponse, CompressInput, ModelOutlet,
    ModelRequest, Msg, Result, ToolCallBlock,
};
use tokio::runtime::Builder;

use super::{MS, timed};
use crate::{Error, Figure};

const MESSAGES: usize = 10_000;
const TIMES: usize = 15;

/// Sums everything up in the same few words.
#[derive(Debug)]
struct Brief;

impl ChatModel for Brief {
    fn name(&self) -> &str {
        "brief"
    }

    fn call(&self, _request: ModelRequest, _out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        let summary = concat!(
            r#"{"task_overview": "a", "current_state": "b", "important_discoveries": "c", "#,
            r#""next_steps": "d", "context_to_preserve": "e"}"#
        );
        let call = ToolCallBlock::new("s", "generate_structured_output", summary);
        Box::pin(std::future::ready(Ok(ChatResponse::own(vec![call.into()]))))
    }
}

pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let definition = Agent::builder("a").model(Brief).define()?;
    Ok(vec![
        of(&definition, "compress_ms", MESSAGES)?,
        of(&definition, "compress_ms_at_20000", 2 * MESSAGES)?,
    ])
}

fn of(definition: &AgentDefinition, name: &'static str, messages: usize) -> Result<Figure, Error> {
    let runtime = Builder::new_current_thread().build()?;
    let text = "please look at the report and tell me what changed since last week. ".repeat(3);
    let agent = || {
        let mut state = AgentState::new();
        let messages = (0..messages).map(|_| Arc::new(Msg::user("user", text.as_str())));
        state.context.extend(messages);
        Ok(definition.agent_with(state))
    };
    timed(name, None, MS, TIMES, agent, |mut agent| {
        runtime.block_on(agent.compress(CompressInput::default()))?;
        if agent.state()?.context.len() >= messages {
            return Err("nothing was compressed".into());
        }
        Ok(agent)
    })
}
