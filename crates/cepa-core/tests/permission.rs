//! Who may call which tool: the five modes, rules, and the tool's own word.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::{
    Arc, LazyLock, Mutex,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use cepa_core::{
    Agent, AgentState, BoxFuture, PermissionBehavior, PermissionContext, PermissionDecision, PermissionMode,
    PermissionRule, RuleMatch, Tool, ToolCx, ToolError, ToolResponse, ToolResultState, on_check_permission,
    serde_json::{Map, Value, json},
};

#[path = "support/scripted.rs"]
mod scripted;
use PermissionBehavior::{Allow, Ask, Deny, Passthrough};
use PermissionMode::{AcceptEdits, Bypass, Default as Usual, DontAsk, Explore};
use scripted::{Scripted, calls};

const MODES: [PermissionMode; 5] = [Usual, AcceptEdits, Explore, Bypass, DontAsk];

/// A tool whose own word is known.
#[derive(Debug)]
struct Scale {
    own: PermissionDecision,
    read_only: bool,
    /// How often a rule was held against a call.
    compared: AtomicUsize,
    asked: AtomicUsize,
    /// The path it ran with.
    path: Mutex<Option<Value>>,
}

impl Scale {
    fn new(own: PermissionDecision) -> Self {
        Self {
            own,
            read_only: false,
            compared: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
            path: Mutex::new(None),
        }
    }

    fn says(behavior: PermissionBehavior) -> Self {
        Self::new(PermissionDecision::new(behavior, format!("the tool says {behavior}")))
    }

    fn reads(mut self) -> Self {
        self.read_only = true;
        self
    }
}

impl Tool for Scale {
    fn name(&self) -> &str {
        "f"
    }

    fn description(&self) -> &str {
        "Does it."
    }

    fn input_schema(&self) -> &Value {
        static SCHEMA: LazyLock<Value> =
            LazyLock::new(|| json!({"type": "object", "properties": {"path": {"type": "string"}}}));
        &SCHEMA
    }

    fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        self.asked.fetch_add(1, Relaxed);
        Box::pin(std::future::ready(self.own.clone()))
    }

    fn match_rule(&self, rule_content: Option<&str>, input: &Map<String, Value>) -> bool {
        self.compared.fetch_add(1, Relaxed);
        RuleMatch::glob(rule_content, input.get("path").and_then(Value::as_str).unwrap_or_default())
    }

    fn call(
        self: Arc<Self>,
        mut input: Map<String, Value>,
        _cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        *self.path.lock().unwrap() = input.remove("path");
        Box::pin(async { Ok("f ok".into()) })
    }
}

/// A rule for calls of `f`; for those with this path, if one is given.
fn rule(behavior: PermissionBehavior, path: Option<&str>) -> PermissionRule {
    let rule = PermissionRule::new("f", behavior, "test");
    match path {
        Some(path) => rule.with_content(path),
        None => rule,
    }
}

/// What became of a call of `f`.
struct Outcome {
    decision: PermissionDecision,
    /// State and text of the call's result; `None` while a person is asked.
    result: Option<(ToolResultState, String)>,
    agent: Agent,
}

async fn call(mode: PermissionMode, rules: &[PermissionRule], tool: impl Into<Arc<Scale>>) -> Outcome {
    let mut state = AgentState::new();
    state.permission_context = PermissionContext::new(mode);
    for rule in rules {
        state.permission_context.add_rule(rule.clone());
    }
    let decided = Arc::new(Mutex::new(None));
    let note = decided.clone();
    let noted = on_check_permission(move |_cx, request, next| {
        let note = note.clone();
        async move {
            let decision = next.run(request).await?;
            *note.lock().unwrap() = Some(decision.clone());
            Ok(decision)
        }
    });
    let model = Scripted::new(calls([("f", json!({"path": "src/a"}).to_string())]));
    let agent = Agent::builder("Friday").model(model).tool(tool.into()).middleware(noted);
    let mut agent = agent.state(state).build().unwrap();
    agent.reply("go").await.unwrap();
    let result = {
        let state = agent.state().unwrap();
        let mut results = state.context.iter().flat_map(|msg| msg.tool_results());
        results.next().map(|result| (result.state, result.output.text().into_owned()))
    };
    let decision = decided.lock().unwrap().take().unwrap();
    Outcome { decision, result, agent }
}

/// The decision alone, after a look at whether the call was treated by it.
async fn decision(
    mode: PermissionMode,
    rules: &[PermissionRule],
    tool: impl Into<Arc<Scale>>,
) -> PermissionDecision {
    let Outcome { decision, result, agent } = call(mode, rules, tool).await;
    match decision.behavior {
        Allow => assert_eq!(result, Some((ToolResultState::Success, "f ok".to_owned()))),
        Deny => assert_eq!(result, Some((ToolResultState::Denied, decision.message.clone()))),
        other => {
            assert_eq!((other, result), (Ask, None));
            let waiting = agent.waiting_for().unwrap();
            let suggested = waiting.confirmations[0].suggested_rules.clone();
            assert_eq!(Some(suggested), decision.suggested_rules.clone());
        }
    }
    decision
}

fn immune() -> Scale {
    Scale::new(PermissionDecision::ask("sure?").with_reason("it is dangerous").bypass_immune())
}

/// What each mode decides, in the order of [`MODES`].
async fn table(rules: &[PermissionRule], tool: impl Fn() -> Scale, expected: [PermissionBehavior; 5]) {
    for (mode, expected) in MODES.into_iter().zip(expected) {
        let decision = decision(mode, rules, tool()).await;
        assert_eq!(decision.behavior, expected, "{mode}: {decision:?}");
    }
}

#[tokio::test]
async fn deny_rules_hold_in_every_mode() {
    let rules = [rule(Allow, None), rule(Ask, None), rule(Deny, None)];
    table(&rules, || Scale::says(Allow), [Deny; 5]).await;
    table(&rules, || Scale::says(Allow).reads(), [Deny; 5]).await;
}

#[tokio::test]
async fn ask_rules_come_before_everything_that_allows() {
    let rules = [rule(Allow, None), rule(Ask, None)];
    table(&rules, || Scale::says(Allow), [Ask, Ask, Ask, Ask, Deny]).await;
    table(&rules, || Scale::says(Allow).reads(), [Ask, Ask, Ask, Ask, Deny]).await;
}

#[tokio::test]
async fn reading_is_allowed_in_every_mode() {
    table(&[], || Scale::says(Deny).reads(), [Allow; 5]).await;
}

#[tokio::test]
async fn the_tools_own_word_without_a_rule() {
    table(&[], || Scale::says(Allow), [Allow, Allow, Deny, Allow, Allow]).await;
    table(&[], || Scale::says(Deny), [Deny; 5]).await;
    table(&[], || Scale::says(Ask), [Ask, Ask, Deny, Allow, Deny]).await;
    table(&[], immune, [Ask, Ask, Deny, Allow, Deny]).await;
    table(&[], || Scale::says(Passthrough), [Ask, Ask, Deny, Allow, Deny]).await;
}

#[tokio::test]
async fn allow_rules_answer_questions_but_no_refusals() {
    let rules = [rule(Allow, Some("src/**"))];
    table(&rules, || Scale::says(Allow), [Allow, Allow, Deny, Allow, Allow]).await;
    table(&rules, || Scale::says(Deny), [Deny; 5]).await;
    table(&rules, || Scale::says(Ask), [Allow, Allow, Deny, Allow, Allow]).await;
    table(&rules, immune, [Ask, Ask, Deny, Allow, Deny]).await;
    table(&rules, || Scale::says(Passthrough), [Allow, Allow, Deny, Allow, Allow]).await;
}

#[tokio::test]
async fn exploring_does_not_ask_the_tool() {
    let tool = Arc::new(Scale::says(Allow));
    assert_eq!(decision(Explore, &[rule(Allow, None)], tool.clone()).await.behavior, Deny);
    assert_eq!(tool.asked.load(Relaxed), 0);
}

#[tokio::test]
async fn what_the_tool_says_is_kept() {
    let own = PermissionDecision::allow("tidied")
        .with_updated_input(Map::from_iter([("path".to_owned(), json!("b"))]));
    for mode in [Usual, AcceptEdits, Bypass, DontAsk] {
        let own = own.clone();
        assert_eq!(decision(mode, &[], Scale::new(own.clone())).await, own, "{mode}");
    }
    let question = decision(Usual, &[], immune()).await;
    assert_eq!((question.message.as_str(), question.bypass_immune), ("sure?", true));
}

#[tokio::test]
async fn what_runs_or_is_asked_about_are_the_updated_arguments() {
    let tidied = |decision: PermissionDecision| {
        Arc::new(Scale::new(
            decision.with_updated_input(Map::from_iter([("path".to_owned(), json!("src/b"))])),
        ))
    };
    let stored = |agent: &Agent| {
        let state = agent.state().unwrap();
        let mut calls = state.context.iter().flat_map(|msg| msg.tool_calls());
        calls.next().unwrap().input.clone()
    };

    let tool = tidied(PermissionDecision::allow("tidied"));
    let allowed = call(Usual, &[], tool.clone()).await;
    assert_eq!(*tool.path.lock().unwrap(), Some(json!("src/b")));
    assert_eq!(allowed.result, Some((ToolResultState::Success, "f ok".to_owned())));
    assert_eq!(stored(&allowed.agent), r#"{"path":"src/b"}"#);

    let asked = call(Usual, &[], tidied(immune().own)).await;
    assert_eq!(asked.agent.waiting_for().unwrap().confirmations[0].input, r#"{"path":"src/b"}"#);

    let wrong = PermissionDecision::allow("spoilt")
        .with_updated_input(Map::from_iter([("path".to_owned(), json!([]))]));
    let (state, text) = call(Usual, &[], Scale::new(wrong)).await.result.unwrap();
    assert_eq!(state, ToolResultState::Error);
    assert!(text.contains("path"), "{text}");

    let denied = call(Usual, &[], tidied(PermissionDecision::deny("no"))).await;
    assert_eq!(stored(&denied.agent), r#"{"path":"src/a"}"#);
}

#[tokio::test]
async fn a_question_that_nobody_hears_keeps_its_reason_and_its_way_out() {
    for (rules, tool, reason) in [
        (vec![rule(Ask, Some("src/*"))], Scale::says(Allow), "rule `src/*` from test"),
        (vec![], immune(), "it is dangerous"),
        (vec![], Scale::says(Passthrough), "mode `dont_ask`, and no rule allows it"),
    ] {
        let denied = decision(DontAsk, &rules, tool).await;
        assert_eq!(denied.behavior, Deny);
        assert_eq!(denied.decision_reason.as_deref(), Some(reason));
        let suggested = denied.suggested_rules.unwrap();
        assert_eq!((&*suggested[0].tool_name, suggested[0].behavior), ("f", Allow));
    }
}

#[tokio::test]
async fn rules_are_about_their_calls_only() {
    let about = |content| [rule(Deny, Some(content))];
    for (content, expected) in [("src/*", Deny), ("src/b", Allow), ("", Deny)] {
        let decision = decision(Usual, &about(content), Scale::says(Allow)).await;
        assert_eq!(decision.behavior, expected, "{content}");
    }
    let mut other = rule(Deny, None);
    other.tool_name = "g".into();
    assert_eq!(decision(Usual, &[other], Scale::says(Allow)).await.behavior, Allow);
}

#[tokio::test]
async fn each_rule_is_looked_at_once() {
    let rules: Vec<_> = (0..1000).map(|n| rule(Allow, Some(&format!("src/{n}")))).collect();
    let tool = Arc::new(Scale::says(Passthrough));
    assert_eq!(decision(Usual, &rules, tool.clone()).await.behavior, Ask);
    assert_eq!(tool.compared.load(Relaxed), 1000);

    let mut rules = rules;
    rules.insert(0, rule(Allow, Some("src/a")));
    let tool = Arc::new(Scale::says(Passthrough));
    assert_eq!(decision(Usual, &rules, tool.clone()).await.behavior, Allow);
    assert_eq!(tool.compared.load(Relaxed), 1, "the first one that is about the call ends it");
}

#[tokio::test]
async fn a_plain_tool_knows_no_contents() {
    #[derive(Debug)]
    struct Plain;

    impl Tool for Plain {
        fn name(&self) -> &str {
            "f"
        }
        fn description(&self) -> &str {
            "Does it."
        }
        fn input_schema(&self) -> &Value {
            static SCHEMA: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));
            &SCHEMA
        }
        fn call(
            self: Arc<Self>,
            _input: Map<String, Value>,
            _cx: ToolCx,
        ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
            Box::pin(async { Ok("f ok".into()) })
        }
    }

    for (content, asks) in [(Some("x"), true), (None, false)] {
        let mut permissions = PermissionContext::default();
        permissions.add_rule(rule(Allow, content));
        let model = Scripted::new(calls([("f", "{}".to_owned())]));
        let agent = Agent::builder("Friday").model(model).tool(Plain).permissions(permissions);
        let mut agent = agent.build().unwrap();
        agent.reply("go").await.unwrap();
        assert_eq!(agent.waiting_for().is_some(), asks, "{content:?}");
    }
}
