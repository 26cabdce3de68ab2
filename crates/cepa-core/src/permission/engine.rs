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
    /// as `default`, and every question is a no that keeps the reason and the suggested rules.
    pub(crate) async fn decide(&self) -> PermissionDecision {
        match self.context.mode {
            PermissionMode::Default | PermissionMode::AcceptEdits => self.decide_default().await,
            PermissionMode::Explore => self.decide_explore(),
            PermissionMode::Bypass => self.decide_bypass().await,
            PermissionMode::DontAsk => self.deny_questions(self.decide_default().await),
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
        self.ask(format!("mode `{}`, and no rule allows it", self.context.mode))
    }

    /// Nobody is there to be asked. Who looks at it later sees what was asked, and which rule would have helped.
    fn deny_questions(&self, decision: PermissionDecision) -> PermissionDecision {
        match decision.behavior {
            PermissionBehavior::Ask | PermissionBehavior::Passthrough => PermissionDecision {
                behavior: PermissionBehavior::Deny,
                message: self.text(texts::PERMISSION_DENIED_DONT_ASK),
                decision_reason: decision.decision_reason.or(Some(decision.message)),
                bypass_immune: false,
                ..decision
            },
            PermissionBehavior::Allow | PermissionBehavior::Deny => decision,
        }
    }

    fn decide_explore(&self) -> PermissionDecision {
        // Neither the tool nor an allow rule is heard: nothing can open this mode.
        self.decided_by_rules().unwrap_or_else(|| {
            PermissionDecision::deny(self.text(texts::PERMISSION_DENIED_EXPLORE))
                .with_reason("mode `explore`")
        })
    }

    async fn decide_bypass(&self) -> PermissionDecision {
        if let Some(decision) = self.decided_by_rules() {
            return decision;
        }
        let own = self.tool.check_permissions(self.input, self.context).await;
        match own.behavior {
            PermissionBehavior::Allow | PermissionBehavior::Deny => own,
            // Also what is asked for safety: this mode is for where nothing can be broken.
            PermissionBehavior::Ask | PermissionBehavior::Passthrough => {
                PermissionDecision::allow(self.text(texts::PERMISSION_GRANTED)).with_reason("mode `bypass`")
            }
        }
    }

    /// What comes first in every mode: deny rules, ask rules, and that reading is allowed.
    fn decided_by_rules(&self) -> Option<PermissionDecision> {
        if let Some(denied) = self.denied_by_rule() {
            return Some(denied);
        }
        if let Some(rule) = self.rule(&self.context.ask_rules) {
            return Some(self.ask(rule_reason(rule)));
        }
        self.tool.is_read_only_call(self.input).then(|| {
            PermissionDecision::allow(self.text(texts::PERMISSION_GRANTED)).with_reason("the call only reads")
        })
    }

    fn ask(&self, reason: String) -> PermissionDecision {
        let question = PermissionDecision::ask(self.text(texts::PERMISSION_REQUIRED));
        self.with_suggestions(question.with_reason(reason))
    }

    fn with_suggestions(&self, decision: PermissionDecision) -> PermissionDecision {
        decision.with_suggested_rules(self.tool.generate_suggestions(self.input))
    }

    fn rule<'r>(&self, rules: &'r Rules) -> Option<&'r PermissionRule> {
        let of_tool = rules.get(self.tool.name())?;
        of_tool.iter().find(|rule| match rule.rule_content.as_deref() {
            // About every call, whatever the tool makes of rules.
            None | Some("") => true,
            content => self.tool.match_rule(content, self.input),
        })
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
    /// What of it is about one tool: mode, directories, and that tool's rules.
    pub(crate) fn of_tool(&self, name: &str) -> Self {
        let of_tool = |rules: &Rules| {
            let rules = rules.get_key_value(name);
            rules.map(|(name, rules)| (name.clone(), rules.clone())).into_iter().collect()
        };
        Self {
            mode: self.mode,
            working_directories: self.working_directories.clone(),
            allow_rules: of_tool(&self.allow_rules),
            deny_rules: of_tool(&self.deny_rules),
            ask_rules: of_tool(&self.ask_rules),
            extra: self.extra.clone(),
        }
    }

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
