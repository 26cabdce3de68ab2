//! [`PermissionContext`]: the mode and rules of a session.

use std::collections::BTreeMap;

use super::{PermissionMode, PermissionRule};
use crate::{fields::Fields, wire::wire};

/// The permissions of a session, part of its state (AgentScope 2.0.11).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PermissionContext {
    /// What decides when no rule matches.
    pub mode: PermissionMode,
    /// Directories whose files may be worked on, by path.
    pub working_directories: BTreeMap<String, AdditionalWorkingDirectory>,
    /// Rules that allow, by tool name.
    pub allow_rules: BTreeMap<String, Vec<PermissionRule>>,
    /// Rules that deny, by tool name.
    pub deny_rules: BTreeMap<String, Vec<PermissionRule>>,
    /// Rules that ask, by tool name.
    pub ask_rules: BTreeMap<String, Vec<PermissionRule>>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl PermissionContext {
    /// The given mode without any rule.
    #[must_use]
    pub fn new(mode: PermissionMode) -> Self {
        Self { mode, ..Self::default() }
    }
}

wire!(PermissionContext, "a permission context", {
    mode = PermissionMode::Default,
    working_directories = BTreeMap::new(),
    allow_rules = BTreeMap::new(),
    deny_rules = BTreeMap::new(),
    ask_rules = BTreeMap::new(),
});

/// A directory whose files may be worked on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdditionalWorkingDirectory {
    /// The absolute path.
    pub path: String,
    /// Where the permission comes from, such as `session`.
    pub source: String,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl AdditionalWorkingDirectory {
    /// A directory and where its permission comes from.
    pub fn new(path: impl Into<String>, source: impl Into<String>) -> Self {
        Self { path: path.into(), source: source.into(), extra: Fields::new() }
    }
}

wire!(AdditionalWorkingDirectory, "a working directory", { path, source });
