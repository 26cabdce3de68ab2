//! [`ArgumentGuard`]: rules on what tools may be called with.

mod builder;
mod condition;
pub(crate) mod pointer;
mod rule;

use std::sync::Arc;

use cepa_core::{
    Acting, ActingInput, CheckPermission, Cx, IntoShared, Middleware, MiddlewareKey, Next, OrderRule,
    PermissionDecision, PermissionRequest, Result, Tool, ToolCallInput, ToolCalling, ToolMiddleware,
    ToolResponse, middleware,
};
use serde_json::{Map, Value};

pub use self::{
    builder::{ArgumentGuardBuilder, RuleError},
    rule::ArgumentRule,
};
use crate::{
    judge::{self, Judge, Violation},
    protect::Protected,
};

/// Holds the arguments of tool calls to rules. A call that breaks one is refused with the reason, or put to a person, or
/// ends the reply, as the rule says.
///
/// Rules are looked at when a call is decided on and again right before it runs, so what a layer outside changes is held
/// to them as well. Put it inside of all layers that change calls. For a layer further inside, give the tools to
/// [`protect`](Self::protect) too: then nothing can change the call behind the check.
///
/// ```
/// use cepa_core::{Agent, testing::{Answer, ScriptedModel, ScriptedTool}};
/// use cepa_guard::{ArgumentGuard, ArgumentRule};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = ArgumentGuard::builder()
///     .rule(ArgumentRule::of("transfer").at("/amount").required().at_least(1).at_most(500))
///     .rule(ArgumentRule::of("transfer").at("/currency").one_of(["EUR", "CHF"]).or_ask())
///     .build()?;
/// let model = ScriptedModel::new([
///     Answer::new().tool_call("transfer", json!({"amount": 9000, "currency": "EUR"})),
///     Answer::new().text("That is too much."),
/// ]);
/// let transfer = ScriptedTool::echo("transfer");
/// let mut agent = Agent::builder("Friday").model(model).tool(transfer.clone()).middleware(guard).build()?;
/// agent.reply("Send Bob 9000 euros").await?;
/// assert!(transfer.calls().is_empty());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ArgumentGuard {
    pub(crate) rules: Vec<rule::Compiled>,
}

impl ArgumentGuard {
    /// A guard without rules yet.
    pub fn builder() -> ArgumentGuardBuilder {
        ArgumentGuardBuilder::default()
    }

    /// The tool with this guard right around it, inside of all its layers. What would be put to a person is refused here,
    /// unless a person has allowed that very call, which only the guard among the agent's layers knows.
    pub fn protect(self: &Arc<Self>, tool: impl IntoShared<dyn Tool>) -> Arc<dyn Tool> {
        Arc::new(Protected::new(tool.into_shared(), self.clone()))
    }
}

impl Judge for ArgumentGuard {
    const NAME: &'static str = "ArgumentGuard";

    fn judge(&self, name: &str, _tool: Option<&dyn Tool>, input: &Map<String, Value>) -> Option<Violation> {
        let mut worst: Option<Violation> = None;
        for rule in self.rules.iter().filter(|rule| rule.is_about(name)) {
            if worst.as_ref().is_some_and(|worst| worst.action >= rule.action) {
                continue;
            }
            worst = rule.check(name, input).or(worst);
        }
        worst
    }
}

#[middleware]
impl Middleware for ArgumentGuard {
    fn key(&self) -> Option<MiddlewareKey> {
        None // keeps nothing, so that several may stand in one agent
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of("PiiGuard", "outside, it looks at values that are changed afterwards"),
            OrderRule::inside_of("SecretScrub", "outside, it looks at values that are changed afterwards"),
            OrderRule::inside_of("AuditLog", "outside, what it refuses is logged without its reason"),
        ];
        RULES
    }

    async fn on_check_permission(
        &self,
        cx: Cx<CheckPermission>,
        request: PermissionRequest,
        next: Next<CheckPermission>,
    ) -> Result<PermissionDecision> {
        judge::check_permission(self, cx, request, next).await
    }

    async fn on_acting(
        &self,
        cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> Result<ToolResponse> {
        judge::acting(self, cx, input, next).await
    }
}

#[middleware]
impl ToolMiddleware for ArgumentGuard {
    async fn on_tool_call(
        &self,
        cx: Cx<ToolCalling>,
        input: ToolCallInput,
        next: Next<ToolCalling>,
    ) -> Result<ToolResponse> {
        judge::tool_call(self, cx, input, next).await
    }
}
