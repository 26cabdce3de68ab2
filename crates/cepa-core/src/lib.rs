//! The core of Cepa: the onion, the agent's loop, and the traits that everything else is written against.
//!
//! A newcomer finds a hook's whole way by reading [`chain`], [`agent`] and one layer. Applications use the facade
//! `cepa`; libraries that offer layers, models or tools need only this crate.
#![forbid(unsafe_code)]

// So that what `#[tool]` writes finds this crate under one name, also in the crate itself.
#[allow(unused_extern_crates)]
extern crate self as cepa_core;

#[doc(hidden)]
pub mod __private;
pub mod agent;
mod body;
pub mod chain;
mod error;
pub mod event;
mod fields;
mod id;
pub mod message;
pub mod middleware;
pub mod model;
pub mod permission;
mod schema;
mod shared;
pub mod state;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
#[doc(hidden)]
pub mod texts;
mod time;
pub mod tool;
mod wire;

#[cfg(feature = "macros")]
pub use cepa_macros::{middleware, tool};
#[doc(no_inline)]
pub use {schemars, serde_json};

pub use self::{
    agent::{
        Agent, AgentBuilder, AgentDefinition, AgentStream, BuildError, CancelToken, ContextConfig,
        GENERATE_STRUCTURED_OUTPUT, InjectionConfig, Offloader, ReactConfig, ReplyCall, ReplyScope,
        ReplyStream, Scratch, TypedReplyCall, Waiting,
    },
    body::Body,
    chain::{
        Acting, BoxFuture, CheckPermission, Compress, Cx, Emit, Flow, Hook, Items, Meter, ModelCall, Next,
        Outlet, Reasoning, Reply, StateGuard, SystemPrompt, ToolCalling,
    },
    error::{BoxError, Error, ErrorKind, ModelError, Origin, Result},
    event::{
        AgentEvent, ConfirmResult, DataDelta, EventKind, ExternalExecutionResultEvent, Ticket,
        UserConfirmResultEvent, UserInterruptEvent,
    },
    fields::Fields,
    id::Id,
    message::{
        ContentBlock, DataBlock, ErrorInfo, ErrorType, HintBlock, HintContent, MessageError, Msg, MsgContent,
        OutputBlock, ReplyFinishedReason, Role, Source, TextBlock, TextOrBlocks, ThinkingBlock,
        ToolCallBlock, ToolCallState, ToolOutput, ToolResultBlock, ToolResultState, Usage,
    },
    middleware::{
        CompressInput, FnLayer, HookSet, Inputs, Jump, Keyed, Middleware, MiddlewareExt, MiddlewareKey,
        OrderRule, PermissionRequest, ReasoningInput, ReplyInput, after_agent, after_model, before_agent,
        before_model, on_acting, on_check_permission, on_compress_context, on_model_call, on_reasoning,
        on_reply, on_system_prompt, wrap_model_call, wrap_tool_call,
    },
    model::{
        ChatChunk, ChatModel, ChatResponse, ChatUsage, ContentDelta, FinishedReason, ModelOptions,
        ModelOutlet, ModelRequest, Purpose, ToolChoice, ToolChoiceMode, ToolSchema, estimate_tokens,
        generate,
    },
    permission::{
        AdditionalWorkingDirectory, PermissionBehavior, PermissionContext, PermissionDecision,
        PermissionMode, PermissionRule, RuleMatch, is_within_working_directories,
    },
    shared::IntoShared,
    state::{
        AgentState, ReadCacheEntry, ReplyContext, Task, TaskContext, TaskState, ToolContext, ToolContextError,
    },
    store::{Store, StoreError},
    time::Timestamp,
    tool::{
        ActingInput, SchemaTool, Tool, ToolCallInput, ToolChunk, ToolCx, ToolError, ToolGroup,
        ToolMiddleware, ToolResponse, Toolkit, ToolkitError, on_tool_call, task_tools,
    },
};
