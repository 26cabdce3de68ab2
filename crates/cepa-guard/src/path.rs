//! [`PathGuard`]: paths among the arguments stay within folders.

mod builder;
mod place;
mod schema;
mod select;
mod spelling;

use std::{path::Path, sync::Arc};

use cepa_core::{
    Acting, ActingInput, CheckPermission, Cx, IntoShared, Middleware, MiddlewareKey, Next, OrderRule,
    PermissionDecision, PermissionRequest, Result, Tool, ToolCallInput, ToolCalling, ToolMiddleware,
    ToolResponse, middleware,
};
use serde_json::{Map, Value};

pub use self::builder::{Access, PathError, PathGuardBuilder};
use crate::{
    judge::{self, Judge, OnViolation, Violation},
    protect::Protected,
};

/// Keeps the arguments that are paths within given folders: those that are named, those whose schema says so
/// (`"format": "path"`), and those that are called like a path (`path`, `file`, `output_dir`, …).
///
/// A path counts where it is spelt and where it really leads: `..` and links are followed, also by the name of a file that
/// does not exist yet, and both places must be inside. Spellings that mean different things to different programs are
/// refused: `~`, `$HOME`, another system's separators and drives, `file:` addresses, percent-encoded separators, signs that
/// only look like a separator or that cannot be seen, NUL and other control characters.
///
/// It looks at a call when it is decided on, right before it runs, and, for tools given to [`protect`](Self::protect), at
/// the tool itself, where no layer can change the path any more. Whether a call reads or writes is the tool's word
/// ([`Tool::is_read_only_call`]).
///
/// Between this look and the tool's own a link may be put there, and a hard link leads anywhere on its disk: against
/// somebody who can write to the folders by other means it is no protection. A tool that opens files relative to an open
/// folder (as `cap-std` does) has none of this.
///
/// ```
/// use cepa_core::{Agent, testing::{Answer, ScriptedModel, ScriptedTool}};
/// use cepa_guard::PathGuard;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = PathGuard::builder().root(std::env::temp_dir()).build()?;
/// let model = ScriptedModel::new([
///     Answer::new().tool_call("read", json!({"path": "/etc/passwd"})),
///     Answer::new().text("I may not read that."),
/// ]);
/// let read = ScriptedTool::echo("read").read_only();
/// let mut agent = Agent::builder("Friday").model(model).tool(read.clone()).middleware(guard).build()?;
/// agent.reply("Who has an account here?").await?;
/// assert!(read.calls().is_empty());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PathGuard {
    /// The folders with what may be done in them, links followed.
    folders: Vec<builder::Folder>,
    /// Where relative paths begin.
    base: std::path::PathBuf,
    select: select::Select,
    action: OnViolation,
}

impl PathGuard {
    /// A guard without folders yet.
    pub fn builder() -> PathGuardBuilder {
        PathGuardBuilder::default()
    }

    /// The tool with this guard right around it, inside of all its layers.
    pub fn protect(self: &Arc<Self>, tool: impl IntoShared<dyn Tool>) -> Arc<dyn Tool> {
        Arc::new(Protected::new(tool.into_shared(), self.clone()))
    }

    /// Whether a path may be used so, as the guard judges it in a call.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, path: &str, access: Access) -> Result<(), PathError> {
        spelling::check(path)?;
        let spelt = place::spelt(&self.base.join(path));
        self.check_place(&spelt, access)?;
        let real = place::real(&self.base.join(path))?;
        self.check_place(&real, access)
    }

    fn check_place(&self, path: &Path, access: Access) -> Result<(), PathError> {
        // The innermost folder has the word.
        let inside = self.folders.iter().filter(|folder| folder.holds(path));
        let Some(folder) = inside.max_by_key(|folder| folder.depth()) else { return Err(PathError::Outside) };
        match (folder.access, access) {
            (None, _) => Err(PathError::Forbidden),
            (Some(Access::Read), Access::Write) => Err(PathError::ReadOnly),
            _ => Ok(()),
        }
    }
}

impl Judge for PathGuard {
    const NAME: &'static str = "PathGuard";

    fn judge(&self, name: &str, tool: Option<&dyn Tool>, input: &Map<String, Value>) -> Option<Violation> {
        let objection = |place: &str, why: &dyn std::fmt::Display| {
            let reason = format!("This call of `{name}` is not allowed: `{place}` {why}.");
            Some(Violation { action: self.action, reason })
        };
        let Ok(found) = self.select.paths(name, tool, input) else {
            return objection("/", &"holds more values than can be looked at");
        };
        if found.is_empty() {
            return None;
        }
        let reads = tool.is_some_and(|tool| tool.is_read_only_call(input));
        let by_call = if reads { Access::Read } else { Access::Write };
        found.into_iter().find_map(|found| {
            let Some(path) = found.value.as_str() else {
                return objection(&found.place, &"must be a path, as a text");
            };
            let error = self.check(path, found.access.unwrap_or(by_call)).err()?;
            objection(&found.place, &error)
        })
    }
}

#[middleware]
impl Middleware for PathGuard {
    fn key(&self) -> Option<MiddlewareKey> {
        None // keeps nothing, so that several may stand in one agent
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] = &[
            OrderRule::inside_of("PiiGuard", "outside, it looks at paths that are changed afterwards"),
            OrderRule::inside_of("SecretScrub", "outside, it looks at paths that are changed afterwards"),
            OrderRule::inside_of("AuditLog", "outside, what it refuses is logged without its reason"),
            OrderRule::inside_of(
                "ToolRetry",
                "outside, it looks once at what runs several times, and a link may have changed meanwhile",
            ),
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
impl ToolMiddleware for PathGuard {
    async fn on_tool_call(
        &self,
        cx: Cx<ToolCalling>,
        input: ToolCallInput,
        next: Next<ToolCalling>,
    ) -> Result<ToolResponse> {
        judge::tool_call(self, cx, input, next).await
    }
}
