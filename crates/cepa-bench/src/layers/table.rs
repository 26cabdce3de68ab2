//! The layers, each as one would have it in a program.

use std::{path::Path, time::Duration};

use cepa_core::AgentBuilder;
use cepa_guard::{
    Action, ArgumentGuard, ArgumentRule, AuditLog, Fsync, PathGuard, PiiGuard, SecretScrub, ToolOutputLimit,
};
use cepa_resilience::{
    BackgroundTools, CircuitBreaker, ConcurrencyLimit, ModelCallLimit, ModelFallback, ModelRetry, RateLimit,
    Timeout, ToolCallLimit, ToolErrorPolicy, ToolRetry,
};
use cepa_router::{
    ChatModelCandidate, ChoiceQuestion, ContextEditing, DynamicContext, ModelRouterMiddleware,
    PromptCacheHints, ToolSelector,
};

use super::Add;
use crate::{Error, onion::Deltas};

/// A layer, and what its figures are called.
pub(super) struct Row {
    pub(super) call: &'static str,
    pub(super) event: &'static str,
    pub(super) add: Add,
}

/// `NAME: |folder| LAYER`, where the layer may fail to be built.
macro_rules! rows {
    ($($name:ident: |$folder:pat_param| $layer:expr;)*) => {
        &[$(Row {
            call: concat!(stringify!($name), "_call_ns"),
            event: concat!(stringify!($name), "_event_ns"),
            add: |agent: AgentBuilder, $folder: &Path| -> Result<AgentBuilder, Error> {
                Ok(agent.middleware($layer))
            },
        }),*]
    };
}

/// More than any benchmark comes to.
const MANY: u64 = 1_000_000_000;
const MINUTE: Duration = Duration::from_secs(60);

pub(super) const ROWS: &[Row] = rows! {
    model_retry: |_| ModelRetry::default();
    model_fallback: |_| ModelFallback::builder().model(Deltas(1)).build()?;
    circuit_breaker: |_| CircuitBreaker::builder().all_tools().build()?;
    rate_limit: |_| RateLimit::builder().requests_per_minute(MANY).tokens_per_minute(MANY).build()?;
    concurrency_limit: |_| ConcurrencyLimit::builder().model_calls(64).tool_calls(64).build()?;
    timeout: |_| Timeout::builder().reply(MINUTE).first_item(MINUTE).idle(MINUTE).tool_calls(MINUTE).build()?;
    model_call_limit: |_| ModelCallLimit::builder().per_reply(MANY).build()?;
    tool_call_limit: |_| ToolCallLimit::builder().per_reply(MANY).build()?;
    tool_retry: |_| ToolRetry::builder().build()?;
    tool_error_policy: |_| ToolErrorPolicy::new();
    background_tools: |_| BackgroundTools::builder().build()?;
    pii_guard: |_| PiiGuard::builder().detect_all(Action::Redact).build()?;
    secret_scrub: |_| SecretScrub::builder().build()?;
    tool_output_limit: |_| ToolOutputLimit::builder().max_bytes(100_000).build()?;
    argument_guard: |_| ArgumentGuard::builder().rule(ArgumentRule::of("instant").at("/x").at_most(1e6)).build()?;
    path_guard: |folder| PathGuard::builder().root(folder).build()?;
    audit_log: |folder| AuditLog::builder(folder.join("audit.jsonl")).fsync(Fsync::Never).build()?;
    context_editing: |_| ContextEditing::builder().build();
    model_router: |_| ModelRouterMiddleware::builder([ChatModelCandidate::new("other", Deltas(1), "other tasks")])
        .classifier(|_: ChoiceQuestion| async { Ok(None) })
        .build()?;
    tool_selector: |_| ToolSelector::builder().model(Deltas(1)).build()?;
    prompt_cache_hints: |_| PromptCacheHints::new().min_tokens(1);
    dynamic_context: |_| DynamicContext::builder().fixed("tenant", "Bread & Co").build()?;
};
