//! **Cepa** is agent middleware for Rust: a plain reasoning-acting loop, and every concern around it a layer of an
//! onion. *Allium cepa* is the onion.
//!
//! ```text
//!            ┌── Timing ────────────────────────────────────────────┐
//!            │  ┌── Budget ───────────────────────────────────────┐ │
//!   message ─┼──┼─► on_reply ►─┬─► on_reasoning ─► on_model_call ─┼─┼─► the model
//!            │  │              │        ▲                │        │ │
//!    events ◄┼──┼──────────────┤        └── next round ──┤        │ │
//!            │  │              └─► on_check_permission ─►│        │ │
//!            │  │                      on_acting ────────┼────────┼─┼─► a tool
//!            │  └────────────────────────────────────────┴────────┘ │
//!            └──────────────────────────────────────────────────────┘
//! ```
//!
//! A layer wraps the hooks it implements: code before, `next`, code after, or no `next` at all. Events flow past a
//! layer by themselves; it pays only for what it looks at.
//!
//! ```
//! use cepa::prelude::*;
//!
//! struct Timing;
//!
//! #[middleware]
//! impl Middleware for Timing {
//!     async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
//!         let start = std::time::Instant::now();
//!         let msg = next.run(input).await?;
//!         println!("{} took {:?}", cx.agent_name(), start.elapsed());
//!         Ok(msg)
//!     }
//! }
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(a: i64, b: i64) -> String {
//!     (a + b).to_string()
//! }
//!
//! # fn model() -> impl ChatModel { Silent }
//! # #[derive(Debug)] struct Silent;
//! # impl ChatModel for Silent {
//! #     fn name(&self) -> &str { "silent" }
//! #     fn call(&self, _: ModelRequest, _: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
//! #         Box::pin(async { Ok(ChatResponse::own_text("5")) })
//! #     }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut agent = Agent::builder("Friday")
//!     .system_prompt("You are good at sums.")
//!     .model(model()) // cepa::models::OpenAiChat::from_env("gpt-4o-mini")?
//!     .tool(add)
//!     .middleware(Timing)
//!     .build()?;
//! let answer = agent.reply("What is 2 + 3?").await?;
//! assert_eq!(answer.text().as_deref(), Some("5"));
//! # Ok(()) }
//! ```
//!
//! | module | feature | what it holds |
//! |---|---|---|
//! | (this one) | | the onion, the agent, the traits: all of `cepa-core` |
//! | `models` | `models` (default), `realtime`, `espeak`, `extractive`, `minilm` | chat, embeddings and speech over any OpenAI-compatible API; speech over DashScope's realtime API, or by a local program; a model that only extracts; embeddings in process |
//! | `budget` | `budget` | token budgets per reply and per session |
//! | `guard` | `guard` | personal data and secrets, paths and arguments of tools, an audit log |
//! | `resilience` | `resilience` | retries, fallbacks, limits, time limits, circuit breakers, background tools |
//! | `router` | `router` | the model of a reply, the tools and the context of a request |
//! | `tracing` | `tracing`, `otlp`, `terminal`, `html` | traces and metrics, time per hook, tokens and cost |
//! | `memory` | `agentic`, `mem0`, `reme` | long-term memory: in Markdown files, in mem0, in ReMe |
//! | `rag` | `rag`; stores: `embedded`, `pgvector`, `chroma`, `qdrant`; files: `rag-html`, `pdf`, `office` | knowledge bases: documents that an agent can search |
//! | `tts` | `tts` | speech: the reply, spoken while it is written |
//! | `testing` | `testing` | a scripted model and expectations of events |
//!
//! `full` turns everything on.
#![forbid(unsafe_code)]

#[cfg(feature = "budget")]
#[doc(inline)]
pub use cepa_budget as budget;
#[doc(hidden)]
pub use cepa_core::__private;
pub use cepa_core::*;
#[cfg(feature = "guard")]
#[doc(inline)]
pub use cepa_guard as guard;
#[cfg(any(feature = "agentic", feature = "mem0", feature = "reme"))]
#[doc(inline)]
pub use cepa_memory as memory;
#[cfg(any(
    feature = "models",
    feature = "espeak",
    feature = "extractive",
    feature = "minilm",
    feature = "rag",
    feature = "tts"
))]
#[doc(inline)]
pub use cepa_models as models;
#[cfg(feature = "rag")]
#[doc(inline)]
pub use cepa_rag as rag;
#[cfg(feature = "resilience")]
#[doc(inline)]
pub use cepa_resilience as resilience;
#[cfg(feature = "router")]
#[doc(inline)]
pub use cepa_router as router;
#[cfg(feature = "tracing")]
#[doc(inline)]
pub use cepa_tracing as tracing;
#[cfg(feature = "tts")]
#[doc(inline)]
pub use cepa_tts as tts;

/// What most programs and layers need: `use cepa::prelude::*;`.
pub mod prelude {
    pub use cepa_core::{
        Acting, ActingInput, Agent, AgentDefinition, AgentEvent, AgentState, BoxFuture, CancelToken,
        ChatChunk, ChatModel, ChatResponse, CheckPermission, Compress, CompressInput, Cx, Error, EventKind,
        Flow, Inputs, Middleware, MiddlewareExt, MiddlewareKey, ModelCall, ModelOptions, ModelOutlet,
        ModelRequest, Msg, Next, PermissionDecision, PermissionRequest, Reasoning, ReasoningInput, Reply,
        ReplyInput, Result, SystemPrompt, Tool, ToolCx, ToolError, ToolMiddleware, ToolResponse, middleware,
        tool,
    };
}
