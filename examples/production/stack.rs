//! The recommended stack: which layers, in which order.

use std::{sync::Arc, time::Duration};

use cepa::{
    budget::ReplyBudgetControlMiddleware,
    guard::{
        Action, ArgumentGuard, ArgumentRule, AuditLog, PathGuard, PiiGuard, SecretScrub, ToolOutputLimit,
    },
    models::OpenAiChat,
    prelude::*,
    resilience::{
        BackgroundCalls, BackgroundTools, Backoff, CircuitBreaker, ConcurrencyLimit, ModelCallLimit,
        ModelFallback, ModelRetry, OnToolError, RateLimit, Timeout, ToolCallLimit, ToolErrorPolicy,
        ToolRetry,
    },
    router::{ChatModelCandidate, ContextEditing, DynamicContext, ModelRouterMiddleware, PromptCacheHints},
    tracing::UsageMiddleware,
};

use crate::{
    Outcome,
    server::Server,
    tools::{self, Folder, Notes},
};

/// An agent, and what its layers let one look at.
pub(crate) struct Stack {
    pub(crate) agent: Agent,
    pub(crate) notes: Notes,
    pub(crate) background: BackgroundCalls,
    pub(crate) breaker: CircuitBreaker,
    pub(crate) rate: RateLimit,
    pub(crate) audit_log: std::path::PathBuf,
}

impl Stack {
    pub(crate) fn build(server: &Server, folder: &Folder) -> Outcome<Self> {
        let background =
            BackgroundTools::builder().tool_after("report", Duration::from_millis(200)).build()?;
        let breaker = CircuitBreaker::builder().consecutive_failures(4).open_for(OPEN_FOR).build()?;
        let rate = RateLimit::builder().requests_per_minute(600).tokens_per_minute(1_000_000).build()?;
        let router = ModelRouterMiddleware::builder([
            ChatModelCandidate::new("small", model(server, "small")?, "small talk and questions about files"),
            ChatModelCandidate::new("large", model(server, "large")?, "proofs"),
        ]);
        let calls = background.calls();
        let pii = PiiGuard::builder().detect_all(Action::Redact).build()?;
        let secrets = SecretScrub::builder().build()?;
        let agent = Agent::builder("Friday")
            .system_prompt("You help in the back office. Be brief.")
            .model(model(server, "small")?)
            // Retries are the layers' business: one place to count and limit them.
            .model_retries(0)
            .tool(tools::read_file)
            .tool(tools::customer)
            .tool(tools::server_log)
            .tool(tools::report)
            .tool(tools::stock)
            // What the user says is clean before anything else sees it; what models and tools say is, innermost.
            .middleware(pii.for_input())
            .middleware(secrets.for_input())
            // What the whole reply has used, whoever asked a model.
            .middleware(UsageMiddleware::new())
            // What goes on in the background keeps all layers inside of this one.
            .middleware(background)
            // What changes with the caller.
            .middleware(DynamicContext::builder().fixed("shop", SHOP).date().build()?)
            // What ends a reply, before anything is spent on it.
            .middleware(ReplyBudgetControlMiddleware::builder(500).build()?)
            .middleware(router.router_model(model(server, "chooser")?).deadline(FIRST_WORD).build()?)
            .middleware(ContextEditing::builder().above_tokens(100).keep_last(2).build())
            .middleware(PromptCacheHints::new().min_tokens(1))
            // Models: another one, then another attempt, and each attempt counted, limited and timed.
            .middleware(ModelFallback::builder().model(model(server, "spare")?).build()?)
            .middleware(ModelRetry::builder().attempts(3).backoff(backoff()).build()?)
            // Tools: what is told, what is cut, another attempt, and each attempt written down. The guards inside send what
            // is clean in pieces: without holding it back nothing could be tried again.
            .middleware(ToolErrorPolicy::new().on_developer_error(OnToolError::Hide))
            .middleware(ToolOutputLimit::builder().max_lines(5).build()?)
            .middleware(ToolRetry::builder().backoff(backoff()).hold_output(true).build()?)
            .middleware(AuditLog::builder(folder.audit_log()).build()?)
            .middleware(ModelCallLimit::builder().per_reply(12).build()?)
            .middleware(ToolCallLimit::builder().per_reply(9).tool_per_reply("read_file", 2).build()?)
            .middleware(breaker.clone())
            .middleware(rate.clone())
            .middleware(ConcurrencyLimit::builder().model_calls(8).tool_calls(8).build()?)
            .middleware(Timeout::builder().first_item(FIRST_WORD).tool_calls(Duration::from_secs(5)).build()?)
            .middleware(pii)
            .middleware(secrets)
            // What runs, as it runs.
            .middleware(ArgumentGuard::builder().rule(a_name()).build()?)
            .middleware(PathGuard::builder().root(folder.notes()).base(folder.notes()).build()?)
            .build()?;
        let (notes, audit_log) = (Notes(folder.notes()), folder.audit_log());
        Ok(Self { agent, notes, background: calls, breaker, rate, audit_log })
    }
}

/// Whose back office it is: in the prompt of every request.
pub(crate) const SHOP: &str = "The Onion Shop";

/// Customers are looked up one by one.
fn a_name() -> ArgumentRule {
    ArgumentRule::of("customer")
        .at("/name")
        .matches(r"[\p{L} .-]{3,60}")
        .because("a customer is looked up by the whole name")
}

/// How long the server may be silent: short, as nobody is to wait for an example.
pub(crate) const FIRST_WORD: Duration = Duration::from_millis(500);
/// How long a model that keeps failing is left alone.
pub(crate) const OPEN_FOR: Duration = Duration::from_millis(1_500);

fn backoff() -> Backoff {
    Backoff::new(Duration::from_millis(20), Duration::from_millis(200))
}

fn model(server: &Server, name: &str) -> Outcome<Arc<dyn ChatModel>> {
    Ok(Arc::new(OpenAiChat::builder(name).base_url(&*server.url).max_retries(0).build()?))
}
