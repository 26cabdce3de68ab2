//! Both attributes where they belong: in an agent.
#![cfg(feature = "macros")]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use cepa_core::{
    Agent, BoxFuture, ChatChunk, ChatModel, ChatResponse, Cx, Error, Middleware, ModelOutlet, ModelRequest,
    Msg, Next, Reply, ReplyInput, Result, SystemPrompt, ToolCx, middleware, serde_json, tool,
};

/// Calls `whoami` and then tells all it was sent.
#[derive(Debug, Default)]
struct Tells {
    calls: AtomicUsize,
}

impl ChatModel for Tells {
    fn name(&self) -> &str {
        "tells"
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(async move {
            let chunk = match self.calls.fetch_add(1, Relaxed) {
                0 => ChatChunk::tool_call("call-1", "whoami", r#"{"greeting": "Hello"}"#),
                _ => ChatChunk::text(serde_json::to_string(&request.messages).map_err(Error::other)?),
            };
            out.emit(chunk).await;
            Ok(ChatResponse::streamed())
        })
    }
}

struct Tenant(&'static str);

/// Says whose agent this is.
#[tool(read_only)]
async fn whoami(greeting: String, cx: ToolCx) -> String {
    format!("{greeting}, {}!", cx.context::<Tenant>().map_or("nobody", |tenant| tenant.0))
}

struct Counting;

#[middleware]
impl Middleware for Counting {
    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let replies = cx.my_state().update(|replies: &mut u32| {
            *replies += 1;
            *replies
        })?;
        let msg = next.run(input).await?;
        assert_eq!(cx.my_state().get::<u32>()?, replies);
        Ok(msg)
    }

    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(prompt + " Be polite.")
    }
}

#[tokio::test]
async fn an_agent_runs_its_layer_and_its_tool() {
    let built = Agent::builder("Ada")
        .system_prompt("Answer.")
        .model(Tells::default())
        .tool(whoami)
        .middleware(Counting)
        .build();
    let mut agent = built.unwrap();

    let msg = agent.reply("Who am I?").with(Tenant("Grace")).await.unwrap();

    let told = msg.text().unwrap_or_default();
    assert!(told.contains("Answer. Be polite."), "{told}");
    assert!(told.contains("Hello, Grace!"), "{told}");
    let state = serde_json::to_value(&*agent.state().unwrap()).unwrap();
    assert_eq!(state["middle_context"]["Counting"], 1, "{state}");
}
