//! Deciding on tool calls: rules, modes, and the tool's own word.

use serde_json::{Map, Value};

use super::{PermissionBehavior, PermissionContext, PermissionDecision, PermissionMode, PermissionRule};
use crate::{
    texts::{self, fill},
    tool::Tool,
};

/// One call to decide on.
pub(crate) struct Call<'a> {
    pub(crate) tool: &'a dyn Tool,
    pub(crate) input: &'a Map<String, Value>,
    pub(crate) context: &'a PermissionContext,
}

/// The rules of one behaviour, by tool.
type Rules = std::collections::BTreeMap<String, Vec<PermissionRule>>;

impl Call<'_> {
    /// The decision, in the order of AgentScope 2.0.11 (`PermissionEngine`).
    ///
    /// `default` and `accept_edits`: deny rules, ask rules, reading is allowed, the tool's own word (yes, no, and a
    /// question for safety are final), allow rules, else a question. `explore`: deny rules, ask rules, reading is
    /// allowed, else no. `bypass`: what no deny rule, no ask rule and not the tool itself stops is allowed. `dont_ask`:
    /// as `default`, and every question is a no.
    pub(crate) async fn decide(&self) -> PermissionDecision {
        match self.context.mode {
            PermissionMode::Default | PermissionMode::AcceptEdits => self.decide_default().await,
            PermissionMode::Explore => self.decide_explore(),
            PermissionMode::Bypass => self.decide_bypass().await,
            PermissionMode::DontAsk => {
                let decision = self.decide_default().await;
                match decision.behavior {
                    PermissionBehavior::Ask | PermissionBehavior::Passthrough => {
                        PermissionDecision::deny(self.text(texts::PERMISSION_DENIED_DONT_ASK))
                    }
                    PermissionBehavior::Allow | PermissionBehavior::Deny => decision,
                }
            }
        }
    }

    /// Whether a deny rule is about this call.
    pub(crate) fn denied_by_rule(&self) -> Option<PermissionDecision> {
        let rule = self.rule(&self.context.deny_rules)?;
        Some(
            PermissionDecision::deny(self.text(texts::PERMISSION_DENIED_BY_RULE))
                .with_reason(rule_reason(rule)),
        )
    }

    async fn decide_default(&self) -> PermissionDecision {
        if let Some(decision) = self.decided_by_rules() {
            return decision;
        }
        let own = self.tool.check_permissions(self.input, self.context).await;
        match own.behavior {
            PermissionBehavior::Allow | PermissionBehavior::Deny => return own,
            PermissionBehavior::Ask if own.bypass_immune => return self.with_suggestions(own),
            PermissionBehavior::Ask | PermissionBehavior::Passthrough => {}
        }
        if let Some(rule) = self.rule(&self.context.allow_rules) {
            let granted = self.text(texts::PERMISSION_GRANTED);
            return PermissionDecision::allow(granted).with_reason(rule_reason(rule));
        }
        self.ask()
    }

    fn decide_explore(&self) -> PermissionDecision {
        self.decided_by_rules()
            .unwrap_or_else(|| PermissionDecision::deny(self.text(texts::PERMISSION_DENIED_EXPLORE)))
    }

    async fn decide_bypass(&self) -> PermissionDecision {
        if let Some(decision) = self.decided_by_rules() {
            return decision;
        }
        let own = self.tool.check_permissions(self.input, self.context).await;
        match own.behavior {
            PermissionBehavior::Deny => own,
            // Also what is asked for safety: this mode is for where nothing can be broken.
            _ => PermissionDecision::allow(self.text(texts::PERMISSION_GRANTED)),
        }
    }

    /// What comes first in every mode: deny rules, ask rules, and that reading is allowed.
    fn decided_by_rules(&self) -> Option<PermissionDecision> {
        if let Some(denied) = self.denied_by_rule() {
            return Some(denied);
        }
        if let Some(rule) = self.rule(&self.context.ask_rules) {
            return Some(self.ask().with_reason(rule_reason(rule)));
        }
        self.tool
            .is_read_only_call(self.input)
            .then(|| PermissionDecision::allow(self.text(texts::PERMISSION_GRANTED)))
    }

    fn ask(&self) -> PermissionDecision {
        self.with_suggestions(PermissionDecision::ask(self.text(texts::PERMISSION_REQUIRED)))
    }

    fn with_suggestions(&self, decision: PermissionDecision) -> PermissionDecision {
        decision.with_suggested_rules(self.tool.generate_suggestions(self.input))
    }

    fn rule<'r>(&self, rules: &'r Rules) -> Option<&'r PermissionRule> {
        let of_tool = rules.get(self.tool.name())?;
        of_tool.iter().find(|rule| self.tool.match_rule(rule.rule_content.as_deref(), self.input))
    }

    fn text(&self, template: &str) -> String {
        fill(template, &[("name", self.tool.name())])
    }
}

fn rule_reason(rule: &PermissionRule) -> String {
    match &rule.rule_content {
        Some(content) => format!("rule `{content}` from {}", rule.source),
        None => format!("rule for the whole tool, from {}", rule.source),
    }
}

impl PermissionContext {
    /// Adds a rule to those of its behaviour.
    pub fn add_rule(&mut self, rule: PermissionRule) {
        let rules = match rule.behavior {
            PermissionBehavior::Allow => &mut self.allow_rules,
            PermissionBehavior::Deny => &mut self.deny_rules,
            PermissionBehavior::Ask => &mut self.ask_rules,
            // A rule that decides nothing.
            PermissionBehavior::Passthrough => return,
        };
        rules.entry(rule.tool_name.to_string()).or_default().push(rule);
    }
}
