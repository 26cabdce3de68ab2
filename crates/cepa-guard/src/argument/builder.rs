//! Setting an [`ArgumentGuard`] up.

use super::{ArgumentGuard, rule::ArgumentRule};

/// Sets an [`ArgumentGuard`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone, Debug, Default)]
pub struct ArgumentGuardBuilder {
    rules: Vec<ArgumentRule>,
}

/// A rule that cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// There is no rule at all.
    #[error("the guard has no rule: it would let every call pass")]
    NoRules,
    /// A rule names no tool, or one without a name.
    #[error("a rule names no tool: use `of_any()` for a rule on all of them")]
    NoTool,
    /// What is not a JSON pointer.
    #[error("rule on {tool}: `{pointer}` is no JSON pointer, which begins with `/`")]
    Pointer {
        /// The rule's tools.
        tool: String,
        /// What was given.
        pointer: String,
    },
    /// A rule that nothing can break.
    #[error("rule on {tool}: it asks nothing of `{pointer}`")]
    Empty {
        /// The rule's tools.
        tool: String,
        /// Where it looks.
        pointer: String,
    },
    /// What is not a regular expression.
    #[error("rule on {tool}: {source}")]
    Regex {
        /// The rule's tools.
        tool: String,
        /// What is wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What is not a JSON schema.
    #[error("rule on {tool}: the schema cannot be used: {reason}")]
    Schema {
        /// The rule's tools.
        tool: String,
        /// What is wrong.
        reason: String,
    },
    /// A bound that is infinite or none.
    #[error("rule on {tool}: the bound {bound} must be a finite number")]
    Bound {
        /// The rule's tools.
        tool: String,
        /// The bound.
        bound: f64,
    },
}

impl ArgumentGuardBuilder {
    /// Adds a rule. A call must keep all of them; the strictest that it breaks says what happens.
    pub fn rule(mut self, rule: ArgumentRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Checks the rules and builds the guard.
    ///
    /// # Errors
    /// The first rule that cannot be used.
    pub fn build(self) -> Result<ArgumentGuard, RuleError> {
        if self.rules.is_empty() {
            return Err(RuleError::NoRules);
        }
        let rules = self.rules.into_iter().map(ArgumentRule::compile).collect::<Result<_, _>>()?;
        Ok(ArgumentGuard { rules })
    }
}
