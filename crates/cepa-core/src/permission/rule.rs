//! Modes, behaviours and rules.

use std::sync::Arc;

use crate::{
    fields::Fields,
    wire::{names, wire},
};

/// How tool calls are decided when no rule matches (AgentScope 2.0.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PermissionMode {
    /// Read-only tools run; everything else is asked unless a rule or the tool itself allows it.
    #[default]
    Default,
    /// As `Default`; file tools allow edits inside the working directories by themselves.
    AcceptEdits,
    /// Read-only tools run, everything else is denied.
    Explore,
    /// Everything runs that no deny rule, ask rule or tool stops.
    Bypass,
    /// Nobody can be asked: what would be asked is denied.
    DontAsk,
}

names!(PermissionMode, "a permission mode", {
    Default = "default",
    AcceptEdits = "accept_edits",
    Explore = "explore",
    Bypass = "bypass",
    DontAsk = "dont_ask",
});

/// What happens to a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PermissionBehavior {
    /// It runs.
    Allow,
    /// It does not run.
    Deny,
    /// A person is asked.
    Ask,
    /// No opinion: rules and mode decide. Only a tool's own check says so.
    Passthrough,
}

names!(PermissionBehavior, "a permission behavior", {
    Allow = "allow",
    Deny = "deny",
    Ask = "ask",
    Passthrough = "passthrough",
});

/// A rule: what happens to calls of one tool, or to those of its calls that match a pattern.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PermissionRule {
    /// The tool the rule is for.
    pub tool_name: Arc<str>,
    /// A pattern in the tool's own terms; `None` matches every call.
    pub rule_content: Option<String>,
    /// What happens to the calls that match.
    pub behavior: PermissionBehavior,
    /// Where the rule comes from, such as `suggested` or `session`.
    pub source: String,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl PermissionRule {
    /// A rule for every call of a tool.
    pub fn new(
        tool_name: impl Into<Arc<str>>,
        behavior: PermissionBehavior,
        source: impl Into<String>,
    ) -> Self {
        Self {
            tool_name: tool_name.into(),
            rule_content: None,
            behavior,
            source: source.into(),
            extra: Fields::new(),
        }
    }

    /// The rule for calls that match `pattern` only.
    #[must_use]
    pub fn with_content(mut self, pattern: impl Into<String>) -> Self {
        self.rule_content = Some(pattern.into());
        self
    }
}

wire!(PermissionRule, "a permission rule", { tool_name, rule_content = None, behavior, source });
