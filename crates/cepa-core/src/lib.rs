//! The core of Cepa.
#![forbid(unsafe_code)]

pub mod event;
pub mod fields;
pub mod id;
pub mod message;
pub mod model;
pub mod permission;
pub mod state;
pub mod store;
pub mod time;
mod wire;

pub use event::{
    AgentEvent, ConfirmResult, DataDelta, EventKind, ExternalExecutionResultEvent, Ticket,
    UserConfirmResultEvent, UserInterruptEvent,
};
pub use fields::Fields;
pub use id::Id;
pub use message::{
    ContentBlock, DataBlock, ErrorInfo, ErrorType, HintBlock, HintContent, MessageError, Msg, MsgContent,
    OutputBlock, ReplyFinishedReason, Role, Source, TextBlock, TextOrBlocks, ThinkingBlock, ToolCallBlock,
    ToolCallState, ToolOutput, ToolResultBlock, ToolResultState, Usage,
};
pub use model::{ChatUsage, FinishedReason, ToolChoice, ToolChoiceMode};
pub use permission::{
    AdditionalWorkingDirectory, PermissionBehavior, PermissionContext, PermissionDecision, PermissionMode,
    PermissionRule,
};
pub use state::{
    AgentState, ReadCacheEntry, ReplyContext, Task, TaskContext, TaskState, ToolContext, ToolContextError,
};
pub use store::{MiddlewareKey, Store, StoreError};
pub use time::Timestamp;
