//! `ArgumentGuard` and `PathGuard` around agents.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::Arc;

use cepa_core::{
    Acting, ActingInput, Agent, AgentBuilder, ConfirmResult, Cx, InjectionConfig, Next, PermissionContext,
    PermissionMode, UserConfirmResultEvent, on_acting, on_check_permission, on_tool_call,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_guard::{Access, ArgumentGuard, ArgumentRule, CallRefused, OnViolation, PathGuard};
use serde_json::{Value, json};

fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// A model that calls `act` with these arguments, then says something.
fn calls(arguments: Value) -> ScriptedModel {
    ScriptedModel::new([Answer::new().tool_call("act", arguments), Answer::new().text("Done.")])
}

fn guard(rule: ArgumentRule) -> Arc<ArgumentGuard> {
    Arc::new(ArgumentGuard::builder().rule(rule).build().unwrap())
}

/// Whether a call with these arguments runs under this rule, by the result's state.
async fn runs(rule: ArgumentRule, arguments: Value) -> bool {
    let (model, act) = (calls(arguments), ScriptedTool::echo("act"));
    let mut agent = builder(&model).tool(act.clone()).middleware(guard(rule)).build().unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    let ran = act.calls().len() == 1;
    let state = if ran { "TOOL_RESULT_END success" } else { "TOOL_RESULT_END denied" };
    log.assert(["...", state, "...", "REPLY_END completed"]);
    ran
}

/// A layer that changes the arguments of each call to these.
fn rewrites(arguments: Value) -> impl cepa_core::Middleware {
    on_acting(move |_cx: Cx<Acting>, mut input: ActingInput, next: Next<Acting>| {
        input.tool_call.input = arguments.to_string();
        next.run(input)
    })
}

fn rule() -> ArgumentRule {
    ArgumentRule::of("act")
}

#[tokio::test(start_paused = true)]
async fn conditions_hold_or_the_call_does_not_run() {
    for (rule, good, bad) in [
        (rule().at("/n").at_most(5), json!({"n": 5}), json!({"n": 6})),
        (rule().at("/n").at_least(0.5), json!({"n": 1}), json!({"n": 0})),
        (
            rule().at("/n").at_most(9_007_199_254_740_992_f64),
            json!({}),
            json!({"n": 9_007_199_254_740_993_i64}),
        ),
        (rule().at("/n").at_most(5), json!({"n": -1e300}), json!({"n": "3"})),
        (rule().at("/to").matches("a|ab"), json!({"to": "ab"}), json!({"to": "abc"})),
        (rule().at("/to").matches("(?x) a+ # many"), json!({"to": "aa"}), json!({"to": "aa\n"})),
        (rule().at("/to").matches_not("rm"), json!({"to": "ls"}), json!({"to": "ls; rm -r"})),
        (rule().at("/to").matches_not("rm"), json!({"to": "ls"}), json!({"to": ["rm"]})),
        (rule().at("/to").one_of(["a", "b"]), json!({"to": "b"}), json!({"to": "c"})),
        (rule().at("/n").none_of([1]), json!({"n": 2}), json!({"n": 1.0})),
        (rule().at("/l").max_len(2), json!({"l": [1, 2]}), json!({"l": [1, 2, 3]})),
        (rule().at("/to").required(), json!({"to": null}), json!({})),
        (rule().at("/l/*/n").at_most(5), json!({"l": [{"n": 1}, {}]}), json!({"l": [{"n": 1}, {"n": 6}]})),
        (rule().at("/a~1b").one_of([1]), json!({"a/b": 1}), json!({"a/b": 2})),
        (rule().schema(json!({"required": ["x"]})), json!({"x": 1}), json!({"y": 1})),
        (
            ArgumentRule::of_any()
                .check(|all| if all["a"] == all["b"] { Ok(()) } else { Err("differs".to_owned()) }),
            json!({"a": 1, "b": 1}),
            json!({"a": 1, "b": 2}),
        ),
    ] {
        assert!(runs(rule.clone(), good.clone()).await, "{rule:?} {good}");
        assert!(!runs(rule.clone(), bad.clone()).await, "{rule:?} {bad}");
    }
    assert!(runs(ArgumentRule::of("other").at("/n").required(), json!({})).await);
}

#[tokio::test(start_paused = true)]
async fn the_model_is_told_why_and_never_sees_the_value() {
    let model = calls(json!({"n": 4711}));
    let log = Logged::of("cepa_guard");
    let guarded = guard(rule().at("/n").at_most(5));
    let mut agent = builder(&model).tool(ScriptedTool::echo("act")).middleware(guarded).build().unwrap();
    agent.reply("Go").await.unwrap();
    let told = model.requests()[1].messages.last().unwrap().clone();
    let told = told.tool_results().next().unwrap().output.text().into_owned();
    assert_eq!(told, "This call of `act` is not allowed: `/n` must be a number of at most 5.");
    let lines = log.take().join("\n");
    assert!(lines.contains("at most 5") && !lines.contains("4711"), "{lines}");
}

#[tokio::test(start_paused = true)]
async fn a_layer_outside_cannot_put_in_what_the_rules_refuse() {
    let (model, act) = (calls(json!({"n": 1})), ScriptedTool::echo("act"));
    let guarded = guard(rule().at("/n").at_most(5));
    let mut agent = builder(&model)
        .tool(act.clone())
        .middleware(rewrites(json!({"n": 6})))
        .middleware(guarded)
        .build()
        .unwrap();
    EventLog::of(agent.reply("Go")).await.assert(["...", "TOOL_RESULT_END denied", "..."]);
    assert!(act.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_shown_to_the_decision_is_not_taken_for_what_runs() {
    // The request of a decision holds copies: a layer may show others than those that run.
    let shows = on_check_permission(|_cx, mut request: cepa_core::PermissionRequest, next: Next<_>| {
        request.input.insert("n".to_owned(), json!(1));
        next.run(request)
    });
    let (model, act) = (calls(json!({"n": 6})), ScriptedTool::echo("act"));
    let guarded = guard(rule().at("/n").at_most(5));
    let mut agent = builder(&model).tool(act.clone()).middleware(shows).middleware(guarded).build().unwrap();
    EventLog::of(agent.reply("Go")).await.assert(["...", "TOOL_RESULT_END denied", "..."]);
    assert!(act.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn arguments_are_judged_as_the_core_mends_them() {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "on": {"type": "boolean"}, "to": {"type": "string"}, "l": {"type": "array"},
    }});
    for (input, ran) in [
        (r#"{"n": "5", "on": "True", "to": 7, "l": "[1]"}"#, true),
        ("{'n': 5}", true),
        (r#"{"n": "6"}"#, false),
        ("{'n': 6}", false),
    ] {
        let model =
            ScriptedModel::new([Answer::new().raw_tool_call("1", "act", input), Answer::from("Done.")]);
        let act = ScriptedTool::echo("act").with_schema(schema.clone());
        let guarded = guard(rule().at("/n").at_most(5));
        let mut agent = builder(&model).tool(act.clone()).middleware(guarded).build().unwrap();
        agent.reply("Go").await.unwrap();
        assert_eq!(act.calls().len(), usize::from(ran), "{input}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_protected_tool_is_safe_from_layers_inside_and_its_own() {
    let guarded = guard(rule().at("/n").at_most(5));
    for own_layer in [false, true] {
        let (model, act) = (calls(json!({"n": 1})), ScriptedTool::echo("act"));
        let mut agent = builder(&model).middleware(guarded.clone());
        if own_layer {
            let changes = on_tool_call(|_cx, mut input, next| {
                input.input.insert("n".to_owned(), json!(6));
                next.run(input)
            });
            let group = cepa_core::ToolGroup::new("g", "a group")
                .middleware(changes)
                .tool(guarded.protect(act.clone()));
            let mut state = cepa_core::AgentState::new();
            state.tool_context.activated_groups = vec!["g".to_owned()];
            agent = agent.tool_group(group).state(state);
        } else {
            agent = agent.tool(guarded.protect(act.clone())).middleware(rewrites(json!({"n": 6})));
        }
        let mut agent = agent.build().unwrap();
        EventLog::of(agent.reply("Go")).await.assert(["...", "TOOL_RESULT_END denied", "..."]);
        assert!(act.calls().is_empty(), "own layer: {own_layer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_is_asked_and_the_answer_is_for_that_call_only() {
    for answer in ["yes", "no", "yes, and a layer changes it"] {
        let (model, act) = (calls(json!({"n": 6})), ScriptedTool::echo("act"));
        let guarded = guard(rule().at("/n").at_most(5).or_ask());
        let mut agent = builder(&model);
        if answer.ends_with("changes it") {
            agent = agent.middleware(rewrites(json!({"n": 7})));
        }
        let mut agent = agent.tool(guarded.protect(act.clone())).middleware(guarded).build().unwrap();
        EventLog::of(agent.reply("Go")).await.assert(["...", "REQUIRE_USER_CONFIRM"]);
        assert!(act.calls().is_empty());
        let waiting = agent.waiting_for().unwrap();
        let answers = waiting.confirmations.into_iter().map(|call| match answer {
            "no" => ConfirmResult::reject(call),
            _ => ConfirmResult::confirm(call),
        });
        agent.reply(UserConfirmResultEvent::new(waiting.reply_id, answers)).await.unwrap();
        assert_eq!(act.calls().len(), usize::from(answer == "yes"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_asks_nobody_refuses_and_who_fails_fails() {
    let act = ScriptedTool::echo("act");
    let ask = || guard(rule().at("/n").at_most(5).or_ask());
    let mut silent = builder(&calls(json!({"n": 6})))
        .tool(act.clone())
        .permissions(PermissionContext::new(PermissionMode::DontAsk))
        .middleware(ask())
        .build()
        .unwrap();
    EventLog::of(silent.reply("Go")).await.assert(["...", "TOOL_RESULT_END denied", "..."]);

    let fails = guard(rule().at("/n").at_most(5).or_fail().because("too many"));
    let mut fails = builder(&calls(json!({"n": 6}))).tool(act.clone()).middleware(fails).build().unwrap();
    let error = fails.reply("Go").await.unwrap_err();
    let refused = error.downcast_ref::<CallRefused>().unwrap();
    assert_eq!((refused.tool.as_str(), refused.reason.as_str()), ("act", "too many"));
    assert!(act.calls().is_empty());
    // The state is one to go on from.
    assert!(!agent_waits(&fails));
}

fn agent_waits(agent: &Agent) -> bool {
    agent.waiting_for().is_some()
}

#[test]
fn rules_that_cannot_be_are_refused() {
    let error = |rule: ArgumentRule| ArgumentGuard::builder().rule(rule).build().unwrap_err().to_string();
    assert!(ArgumentGuard::builder().build().unwrap_err().to_string().contains("no rule"));
    assert!(error(rule().at("n").required()).contains("`n` is no JSON pointer"));
    assert!(error(rule().at("/n")).contains("asks nothing of `/n`"));
    assert!(error(rule().at("/n").matches("a)|(b")).contains("rule on act"));
    assert!(error(rule().at("/n").at_most(f64::NAN)).contains("finite"));
    assert!(error(rule().schema(json!({"type": 3}))).contains("schema"));
    assert!(error(ArgumentRule::of("").required()).contains("of_any"));
}

/// A folder with `work`, `work/sub`, `ro` and `outside` in it.
fn folders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["work/sub", "ro", "outside"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    folder
}

fn paths(folder: &tempfile::TempDir) -> cepa_guard::PathGuardBuilder {
    let at = |name: &str| folder.path().join(name);
    PathGuard::builder().root(at("work")).read_only_root(at("ro")).forbid(at("work/secret")).base(at("work"))
}

#[test]
fn paths_are_inside_by_their_letters_and_really() {
    let folder = folders();
    let guard = paths(&folder).build().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for good in ["a", "./sub/a", "sub/../a", "sub/", &at("work/new/deep/file"), "ä/ö.txt", "a..b", "..."] {
        assert!(guard.check(good, Access::Write).is_ok(), "{good:?}: {:?}", guard.check(good, Access::Write));
    }
    for bad in [
        "",
        " ",
        "../outside/a",
        "sub/../../outside/a",
        &at("outside/a"),
        &at("workshop"),
        "/etc/passwd",
        "~",
        "~/a",
        "~root/a",
        "$HOME/a",
        "sub/${HOME}",
        "%2e%2e/outside",
        "..%2foutside",
        "%252e",
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "..\\outside",
        "sub\\..\\..\\outside",
        "C:/a",
        "c:a",
        "\\\\host\\share",
        "a\0b",
        "a\n",
        "..\u{2215}outside",
        "\u{ff0e}\u{ff0e}/outside",
        "a\u{202e}b",
        "a\u{200b}",
        "secret",
        "secret/key",
        "sub/../secret",
        &"a/".repeat(4000),
        "../ro/../outside/a",
        "..",
    ] {
        for access in [Access::Read, Access::Write] {
            assert!(guard.check(bad, access).is_err(), "{bad:?} {access:?}");
        }
    }
    assert!(guard.check("../ro/a", Access::Read).is_ok());
    assert_eq!(
        guard.check("../ro/a", Access::Write).unwrap_err().to_string(),
        "is in a folder that may only be read"
    );
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_outside() {
    use std::os::unix::fs::symlink;
    let folder = folders();
    let at = |name: &str| folder.path().join(name);
    symlink(at("outside"), at("work/out")).unwrap();
    symlink("../outside/not_there_yet", at("work/dangling")).unwrap();
    symlink("circle", at("work/circle")).unwrap();
    symlink("sub", at("work/inner")).unwrap();
    symlink(at("ro"), at("work/to_ro")).unwrap();
    symlink(at("work"), at("alias")).unwrap();
    let guard = paths(&folder).build().unwrap();
    for bad in
        ["out", "out/a", "out/new/a", "dangling", "circle", "inner/../../outside", "to_ro/a", "sub/../out/a"]
    {
        assert!(guard.check(bad, Access::Write).is_err(), "{bad}");
    }
    assert!(guard.check("inner/a", Access::Write).is_ok());
    assert!(guard.check("to_ro/a", Access::Read).is_ok());
    // The folder itself may be named by a link, and is then known under both names.
    let alias = PathGuard::builder().root(at("alias")).base(at("alias")).build().unwrap();
    assert!(alias.check("a", Access::Write).is_ok());
    assert!(alias.check(&at("work/a").to_string_lossy(), Access::Write).is_ok());
    assert!(alias.check("out/a", Access::Write).is_err());
}

/// Whether a call with these arguments runs.
async fn path_call_runs(guard: &Arc<PathGuard>, act: ScriptedTool, arguments: Value) -> bool {
    let mut agent = builder(&calls(arguments)).tool(act.clone()).middleware(guard.clone()).build().unwrap();
    agent.reply("Go").await.unwrap();
    !act.calls().is_empty()
}

#[tokio::test(start_paused = true)]
async fn arguments_are_paths_by_name_by_format_and_by_tool() {
    let folder = folders();
    let guard = paths(&folder).argument("act", "/steps/*/target").argument_for("act", "/from", Access::Read);
    let guard = Arc::new(guard.not_a_path("act", "/url_path").build().unwrap());
    let act = || {
        ScriptedTool::echo("act").with_schema(json!({"type": "object", "properties": {
            "where": {"type": "string", "format": "path"},
            "all": {"type": "array", "items": {"anyOf": [{"type": "string", "format": "file-path"}, {"type": "null"}]}},
            // As pydantic, and with it most servers of tools, writes the schema of a class and of a map.
            "edit": {"$ref": "#/$defs/Edit"},
            "by_name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Edit"}},
        }, "$defs": {
            "Edit": {"type": "object", "properties": {"to": {"type": "string", "format": "path"}}},
        }}))
    };
    for bad in [
        json!({"path": "/etc/passwd"}),
        json!({"outputDir": "/etc"}),
        json!({"x": {"file_path": "../outside"}}),
        json!({"files": ["a", "/etc/passwd"]}),
        json!({"where": "/etc"}),
        json!({"all": [null, "/etc"]}),
        json!({"edit": {"to": "/etc/passwd"}}),
        json!({"by_name": {"a": {"to": "/etc/passwd"}}}),
        json!({"steps": [{"target": "a"}, {"target": "/etc"}]}),
        json!({"steps": [{"target": 3}]}),
        json!({"from": "../outside/a"}),
        json!({"url_path/x_file": "/etc/passwd"}),
        json!({"path": "../ro/a"}),
        json!({"from": {"a": 1}}),
    ] {
        assert!(!path_call_runs(&guard, act(), bad.clone()).await, "{bad}");
    }
    for good in [
        json!({"path": "a", "text": "/etc/passwd"}),
        json!({"profile": "/x"}),
        json!({"file": 3}),
        json!({"edit": {"to": "a", "note": "/etc/passwd"}}),
        json!({"path": null}),
        json!({"from": "../ro/a", "path": "a"}),
        json!({"url_path": "/index.html"}),
        json!({}),
    ] {
        assert!(path_call_runs(&guard, act(), good.clone()).await, "{good}");
    }
    // What only reads may read where nothing may be written.
    assert!(path_call_runs(&guard, act().read_only(), json!({"path": "../ro/a"})).await);
}

#[tokio::test(start_paused = true)]
async fn a_protected_tool_keeps_its_paths_whatever_layers_do() {
    let folder = folders();
    let guard = Arc::new(paths(&folder).on_violation(OnViolation::Error).build().unwrap());
    let act = ScriptedTool::echo("act");
    let mut agent = builder(&calls(json!({"path": "a"})))
        .tool(guard.protect(act.clone()))
        .middleware(guard)
        .middleware(rewrites(json!({"path": "/etc/passwd"})))
        .build()
        .unwrap();
    let error = agent.reply("Go").await.unwrap_err();
    assert!(error.downcast_ref::<CallRefused>().is_some(), "{error}");
    assert!(act.calls().is_empty());
}

#[test]
fn guards_without_folders_are_refused() {
    let folder = folders();
    assert!(PathGuard::builder().build().unwrap_err().to_string().contains("no folder"));
    let missing = folder.path().join("missing");
    assert!(PathGuard::builder().root(missing).build().unwrap_err().to_string().contains("no such folder"));
    assert!(paths(&folder).argument("act", "path").build().is_err());
    assert!(paths(&folder).names("(").build().is_err());
}

proptest::proptest! {
    /// Whatever is put together of parts, what is allowed leads inside.
    #[test]
    fn nothing_leads_outside(parts in proptest::collection::vec(
        proptest::sample::select(vec!["..", ".", "a", "sub", "", "~", "\\", "work", "secret", "é", "..."]), 0..8))
    {
        let folder = folders();
        let guard = paths(&folder).build().unwrap();
        let path = parts.join("/");
        if guard.check(&path, Access::Write).is_ok() {
            let work = std::fs::canonicalize(folder.path().join("work")).unwrap();
            // As the system walks it, with every folder on the way made.
            let mut full = work.clone();
            for part in std::path::Path::new(&path).components() {
                full.push(part);
                std::fs::create_dir_all(&full).unwrap();
            }
            let real = std::fs::canonicalize(&full).unwrap();
            proptest::prop_assert!(real.starts_with(&work) && !real.starts_with(work.join("secret")), "{path}");
        }
    }
}
