//! [`PermissionDecision`]: what was decided on one tool call.

use serde_json::{Map, Value};

use super::{PermissionBehavior, PermissionRule};

/// The decision on one tool call; it lives in the process only and is never part of the state.
///
/// ```
/// use cepa_core::{PermissionBehavior, PermissionDecision};
///
/// let decision = PermissionDecision::deny("no writes on Sundays");
/// assert_eq!(decision.behavior, PermissionBehavior::Deny);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PermissionDecision {
    /// What happens to the call.
    pub behavior: PermissionBehavior,
    /// The decision in words, for the person or the model.
    pub message: String,
    /// Why it was decided so.
    pub decision_reason: Option<String>,
    /// Arguments to run the tool with, or to ask about, instead of the model's. They must fit the tool's schema, and
    /// stand in the stored call.
    pub updated_input: Option<Map<String, Value>>,
    /// Rules a person may accept together with the call.
    pub suggested_rules: Option<Vec<PermissionRule>>,
    /// Whether an `ask` stands against allow rules: only the person may let such a call pass.
    pub bypass_immune: bool,
}

impl PermissionDecision {
    /// A decision with nothing but its message.
    pub fn new(behavior: PermissionBehavior, message: impl Into<String>) -> Self {
        Self {
            behavior,
            message: message.into(),
            decision_reason: None,
            updated_input: None,
            suggested_rules: None,
            bypass_immune: false,
        }
    }

    /// The call runs.
    pub fn allow(message: impl Into<String>) -> Self {
        Self::new(PermissionBehavior::Allow, message)
    }

    /// The call does not run.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::new(PermissionBehavior::Deny, message)
    }

    /// A person is asked.
    pub fn ask(message: impl Into<String>) -> Self {
        Self::new(PermissionBehavior::Ask, message)
    }

    /// Rules and mode decide.
    pub fn passthrough(message: impl Into<String>) -> Self {
        Self::new(PermissionBehavior::Passthrough, message)
    }

    /// The decision with a reason.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.decision_reason = Some(reason.into());
        self
    }

    /// The decision, running the tool with other arguments.
    #[must_use]
    pub fn with_updated_input(mut self, input: Map<String, Value>) -> Self {
        self.updated_input = Some(input);
        self
    }

    /// The decision with rules to offer to the person.
    #[must_use]
    pub fn with_suggested_rules(mut self, rules: impl IntoIterator<Item = PermissionRule>) -> Self {
        self.suggested_rules = Some(rules.into_iter().collect());
        self
    }

    /// An `ask` that no allow rule may answer.
    #[must_use]
    pub const fn bypass_immune(mut self) -> Self {
        self.bypass_immune = true;
        self
    }
}
