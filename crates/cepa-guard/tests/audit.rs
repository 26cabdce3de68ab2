//! `AuditLog`: what is written, whatever happens, and what shows that it was changed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, CancelToken, ConfirmResult, InjectionConfig, ModelError, UserConfirmResultEvent,
    on_acting,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_guard::{ArgumentGuard, ArgumentRule, AuditError, AuditLog, Fsync, OnFailure};
use serde_json::{Value, json};

fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

fn calls(tool: &str, arguments: Value) -> ScriptedModel {
    ScriptedModel::new([Answer::new().tool_call(tool, arguments), Answer::new().text("Done.")])
}

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    Place { _folder: folder, path }
}

fn log(path: &Path) -> AuditLog {
    AuditLog::builder(path).fsync(Fsync::Never).build().unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Event and state of each line.
fn short(path: &Path) -> Vec<String> {
    let word = |line: &Value, field: &str| line[field].as_str().unwrap_or("-").to_owned();
    lines(path).iter().map(|line| format!("{} {}", word(line, "event"), word(line, "state"))).collect()
}

struct User(&'static str);

#[tokio::test]
async fn a_line_says_who_what_when_and_with_what_result() {
    let place = place();
    let log = AuditLog::builder(&place.path).who(|user: &User| json!({"name": user.0})).build().unwrap();
    let model = calls("pay", json!({"euros": 5}));
    let mut agent = builder(&model).tool(ScriptedTool::echo("pay")).middleware(log).build().unwrap();
    let session = agent.state().unwrap().session_id.to_string();
    let message = agent.reply("Go").with(User("alice")).await.unwrap();
    let lines = lines(&place.path);
    assert_eq!(short(&place.path), ["call -", "result success"]);
    for line in &lines {
        assert_eq!(line["who"], json!({"name": "alice"}));
        assert_eq!(
            (&line["agent"], &line["tool"], &line["arguments"]),
            (&json!("Friday"), &json!("pay"), &json!({"euros": 5}))
        );
        assert_eq!((&line["session"], &line["reply"]), (&json!(session), &json!(message.id.to_string())));
        assert_eq!((&line["call"], &line["decision"]["behavior"]), (&json!("call_1"), &json!("allow")));
        assert!(line["at"].as_str().unwrap().ends_with('Z'));
    }
    assert_eq!((&lines[1]["text"], &lines[1]["text_bytes"]), (&json!(r#"{"euros":5}"#), &json!(11)));
    assert!(lines[1]["ms"].is_u64());
    let verified = AuditLog::verify(&place.path).unwrap();
    assert_eq!((verified.records, verified.first_seq, verified.last_seq, verified.torn), (2, 1, 2, false));
    assert_eq!(verified.last_hash, lines[1]["hash"].as_str().unwrap());
}

#[tokio::test(start_paused = true)]
async fn calls_that_fail_are_refused_or_unknown_are_written() {
    for (answer, expected) in [
        (ToolAnswer::new().text("half").fails("no paper"), "result error"),
        (ToolAnswer::new().fails_for_developer("a bug"), "result error"),
    ] {
        let place = place();
        let tool = ScriptedTool::new("pay", [answer]);
        let model = calls("pay", json!({}));
        let mut agent = builder(&model).tool(tool).middleware(log(&place.path)).build().unwrap();
        _ = agent.reply("Go").await;
        assert_eq!(short(&place.path), ["call -", expected]);
    }

    let place = place();
    let guard =
        ArgumentGuard::builder().rule(ArgumentRule::of("pay").at("/euros").at_most(5)).build().unwrap();
    let model = ScriptedModel::new([
        Answer::new().tool_call("pay", json!({"euros": 6})).tool_call("pya", json!({"euros": 1})),
        Answer::new().text("Done."),
    ]);
    let mut agent = builder(&model)
        .tool(ScriptedTool::echo("pay"))
        .middleware(log(&place.path))
        .middleware(guard)
        .build()
        .unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(short(&place.path)[0], "decision -");
    let mut lines = lines(&place.path);
    // They ran beside each other.
    lines[1..].sort_by_key(|line| line["tool"].to_string());
    assert_eq!((&lines[1]["state"], &lines[2]["state"]), (&json!("denied"), &json!("error")));
    assert!(lines[0]["decision"]["message"].as_str().unwrap().contains("at most 5"));
    assert!(lines[1]["text"].as_str().unwrap().contains("at most 5"));
    assert_eq!((&lines[1]["arguments"], &lines[2]["tool"]), (&json!({"euros": 6}), &json!("pya")));
}

#[tokio::test(start_paused = true)]
async fn questions_and_their_answers_are_written() {
    for (yes, expected) in [
        (true, &["decision -", "call -", "result success"][..]),
        (false, &["decision -", "result denied"][..]),
    ] {
        let place = place();
        let model = calls("pay", json!({"euros": 5}));
        let mut agent = builder(&model)
            .tool(ScriptedTool::echo("pay").asks())
            .middleware(log(&place.path))
            .build()
            .unwrap();
        agent.reply("Go").await.unwrap();
        let waiting = agent.waiting_for().unwrap();
        let answer = if yes { ConfirmResult::confirm } else { ConfirmResult::reject };
        let answers = waiting.confirmations.into_iter().map(answer);
        agent.reply(UserConfirmResultEvent::new(waiting.reply_id, answers)).await.unwrap();
        assert_eq!(short(&place.path), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn interrupted_and_dropped_calls_are_written() {
    for how in ["interrupted", "a layer inside hangs", "dropped"] {
        let place = place();
        let model = calls("pay", json!({}));
        let tool = ScriptedTool::new("pay", [ToolAnswer::new().text("half").hangs()]);
        let mut agent = builder(&model).tool(tool).middleware(log(&place.path));
        if how == "a layer inside hangs" {
            agent = agent.middleware(on_acting(|_cx, _input, next| async move {
                drop(next);
                std::future::pending().await
            }));
        }
        let mut agent = agent.build().unwrap();
        if how == "dropped" {
            _ = tokio::time::timeout(Duration::from_secs(1), async { agent.reply("Go").await }).await;
        } else {
            let token = CancelToken::new();
            let later = token.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                later.cancel();
            });
            agent.reply("Go").cancel_on(token).await.unwrap();
        }
        // The log waits for its last line when it goes.
        drop(agent);
        assert_eq!(short(&place.path), ["call -", "result interrupted"], "{how}");
        AuditLog::verify(&place.path).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_cut_and_secrets_are_scrubbed() {
    let place = place();
    let log = AuditLog::builder(&place.path)
        .argument_limit(100)
        .result_limit(50)
        .scrub_arguments(|_tool, arguments| {
            if let Some(key) = arguments.get_mut("key") {
                *key = json!("***");
            }
        })
        .scrub_result(|_tool, text| *text = text.replace("sesame", "***"));
    let flood = ToolAnswer::new().text("open sesame ").text("ä".repeat(20_000));
    let tool = ScriptedTool::new("pay", [flood, ToolAnswer::from("ok")]);
    let model = ScriptedModel::new([
        Answer::new().tool_call("pay", json!({"key": "k-1"})),
        Answer::new().tool_call("pay", json!({"text": "x".repeat(5000)})),
        Answer::new().text("Done."),
    ]);
    let mut agent = builder(&model).tool(tool).middleware(log.build().unwrap()).build().unwrap();
    agent.reply("Go").await.unwrap();
    let all = fs::read_to_string(&place.path).unwrap();
    assert!(!all.contains("k-1") && !all.contains("sesame") && all.len() < 5000, "{all}");
    let lines = lines(&place.path);
    assert!(lines[1]["text"].as_str().unwrap().starts_with("open *** ä"));
    assert_eq!(lines[1]["text_bytes"], 40_012);
    assert_eq!(
        (&lines[2]["arguments"]["cut"], &lines[2]["arguments"]["bytes"]),
        (&json!(true), &json!(5011))
    );
}

/// A log of three calls.
async fn three(path: &Path) {
    let answers = (0..3).map(|n| Answer::new().tool_call("pay", json!({"euros": n})));
    let model = ScriptedModel::new(answers.chain([Answer::new().text("Done.")]));
    let mut agent = builder(&model).tool(ScriptedTool::echo("pay")).middleware(log(path)).build().unwrap();
    agent.reply("Go").await.unwrap();
}

fn broken_at(path: &Path) -> u64 {
    match AuditLog::verify(path) {
        Err(AuditError::Broken { line, .. }) => line,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn every_change_of_a_line_is_found() {
    let place = place();
    three(&place.path).await;
    let whole = fs::read_to_string(&place.path).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    let write = |lines: &[&str]| fs::write(&place.path, format!("{}\n", lines.join("\n"))).unwrap();
    for at in 0..lines.len() {
        let number = at as u64 + 1;
        let changed = lines[at].replacen("Friday", "Monday", 1);
        let mut others = lines.clone();
        others[at] = &changed;
        write(&others);
        assert_eq!(broken_at(&place.path), number, "changed");
        let mut others = lines.clone();
        others.remove(at);
        if at + 1 < lines.len() && at > 0 {
            write(&others);
            assert_eq!(broken_at(&place.path), number, "taken out");
        }
        let mut others = lines.clone();
        others.insert(at, lines[at]);
        write(&others);
        assert_eq!(broken_at(&place.path), number + 1, "put in");
        let mut others = lines.clone();
        others.insert(at, "");
        write(&others);
        assert_eq!(broken_at(&place.path), number, "an empty line");
    }
    let mut others = lines.clone();
    others.swap(2, 3);
    write(&others);
    assert_eq!(broken_at(&place.path), 3, "moved");
}

#[tokio::test(start_paused = true)]
async fn half_a_line_at_any_place_is_no_fault_and_the_log_goes_on() {
    let place = place();
    three(&place.path).await;
    let whole = fs::read(&place.path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for end in (last..whole.len()).step_by(7).chain([last + 1, whole.len() - 1]) {
        fs::write(&place.path, &whole[..end]).unwrap();
        let verified = AuditLog::verify(&place.path).unwrap();
        let is_half = end != last && end != whole.len() - 1;
        assert_eq!(verified.torn, is_half, "{end}");
        three(&place.path).await;
        let verified = AuditLog::verify(&place.path).unwrap();
        assert_eq!((verified.torn, verified.recovered), (false, u64::from(is_half)), "{end}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_cut_off_while_the_log_is_open_shows() {
    let place = place();
    let log = Arc::new(log(&place.path));
    let run = async || {
        let model = calls("pay", json!({}));
        let mut agent =
            builder(&model).tool(ScriptedTool::echo("pay")).middleware(log.clone()).build().unwrap();
        agent.reply("Go").await.unwrap();
    };
    run().await;
    let whole = fs::read_to_string(&place.path).unwrap();
    let first = whole.lines().next().unwrap();
    fs::write(&place.path, format!("{first}\n")).unwrap();
    run().await;
    assert_eq!(broken_at(&place.path), 2);
}

#[tokio::test(start_paused = true)]
async fn files_are_rotated_and_the_chain_goes_on() {
    let place = place();
    for _ in 0..4 {
        let log = AuditLog::builder(&place.path).rotate_at(4096).fsync(Fsync::Never).build().unwrap();
        let answers = (0..5).map(|n| Answer::new().tool_call("pay", json!({"euros": n})));
        let model = ScriptedModel::new(answers.chain([Answer::new().text("Done.")]));
        let mut agent = builder(&model).tool(ScriptedTool::echo("pay")).middleware(log).build().unwrap();
        agent.reply("Go").await.unwrap();
    }
    let older = |number: u32| place.path.with_extension(format!("jsonl.{number:06}"));
    assert!(older(1).exists() && older(2).exists());
    assert!(fs::metadata(older(1)).unwrap().len() <= 4096);
    let verified = AuditLog::verify(&place.path).unwrap();
    assert_eq!((verified.records, verified.first_seq), (40, 1));
    // Removed by age: still a chain, which says where it begins.
    fs::remove_file(older(1)).unwrap();
    let verified = AuditLog::verify(&place.path).unwrap();
    assert!(verified.first_seq > 1 && verified.last_seq == 40);
    fs::remove_file(older(3)).unwrap();
    assert!(AuditLog::verify(&place.path).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_agents_and_several_logs_on_one_file_lose_nothing() {
    let place = place();
    // Each has a thread, a lock and a file of its own, as processes have.
    let logs: Vec<_> = (0..4).map(|_| Arc::new(log(&place.path))).collect();
    let mut runs = tokio::task::JoinSet::new();
    for n in 0..1000 {
        let log = logs[n % logs.len()].clone();
        runs.spawn(async move {
            let model = calls("pay", json!({"n": n}));
            let mut agent = builder(&model).tool(ScriptedTool::echo("pay")).middleware(log).build().unwrap();
            agent.reply("Go").await.unwrap();
        });
    }
    runs.join_all().await;
    let verified = AuditLog::verify(&place.path).unwrap();
    assert_eq!((verified.records, verified.last_seq), (2000, 2000));
    let mut seen: Vec<_> = lines(&place.path)
        .iter()
        .filter(|line| line["event"] == "result")
        .map(|line| line["arguments"]["n"].as_u64().unwrap())
        .collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..1000));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_an_error_before_the_call_runs_or_a_warning_that_counts() {
    for (on_failure, ran) in [(OnFailure::Error, 0), (OnFailure::Warn, 1)] {
        let place = place();
        let log = Arc::new(AuditLog::builder(&place.path).on_failure(on_failure).build().unwrap());
        // Every write to this device says that the disk is full.
        fs::remove_file(&place.path).unwrap();
        std::os::unix::fs::symlink("/dev/full", &place.path).unwrap();
        let pay = ScriptedTool::echo("pay");
        let model = calls("pay", json!({}));
        let mut agent = builder(&model).tool(pay.clone()).middleware(log.clone()).build().unwrap();
        let result = agent.reply("Go").await;
        assert_eq!(pay.calls().len(), ran);
        match result {
            Ok(_) => assert_eq!((on_failure, log.lost()), (OnFailure::Warn, 2)),
            Err(error) => {
                assert_eq!(on_failure, OnFailure::Error);
                let error = error.downcast_ref::<AuditError>().unwrap().to_string();
                assert!(error.contains("No space left") && error.contains("audit.jsonl"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn a_lock_that_stays_is_an_error_in_time() {
    let place = place();
    let log = AuditLog::builder(&place.path).lock_timeout(Duration::from_millis(50)).build().unwrap();
    let lock = fs::File::open(place.path.with_extension("jsonl.lock")).unwrap();
    lock.lock().unwrap();
    let model = calls("pay", json!({}));
    let mut agent = builder(&model).tool(ScriptedTool::echo("pay")).middleware(log).build().unwrap();
    let error = agent.reply("Go").await.unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(AuditError::Locked { .. })), "{error}");
}

#[tokio::test]
async fn a_disk_that_does_not_answer_holds_nobody_up_for_ever() {
    let place = place();
    let log = AuditLog::builder(&place.path).on_failure(OnFailure::Warn);
    // The thread waits for the lock, as it would for a disk.
    let log = log.lock_timeout(Duration::from_secs(3_600)).write_timeout(Duration::from_millis(50)).build();
    let log = Arc::new(log.unwrap());
    let lock = fs::File::open(place.path.with_extension("jsonl.lock")).unwrap();
    lock.lock().unwrap();
    let errors = Logged::warnings("cepa_guard");
    let pay = ScriptedTool::echo("pay");
    let model = calls("pay", json!({}));
    let mut agent = builder(&model).tool(pay.clone()).middleware(log.clone()).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(pay.calls().len(), 1);
    assert!(errors.take().iter().any(|line| line.contains("has not answered within 50ms")));
    assert!(matches!(log.flush().await, Err(AuditError::Slow { .. })));

    // It answers again: nothing is lost.
    lock.unlock().unwrap();
    while log.flush().await.is_err() {}
    assert_eq!(short(&place.path), ["call -", "result success"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_leaves_the_reply_as_it_is() {
    let place = place();
    let errors = Logged::warnings("cepa_guard");
    let fails = ModelError::new(cepa_core::ErrorType::Upstream, "overloaded");
    let model = ScriptedModel::new([Answer::new().text("half").fails(fails)]);
    let mut agent = builder(&model).model_retries(0).middleware(log(&place.path)).build().unwrap();
    assert!(EventLog::of(agent.reply("Go")).await.into_outcome().is_err());
    assert_eq!((short(&place.path).len(), errors.take().len()), (0, 0));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let place = place();
    let error = AuditLog::builder(&place.path).result_limit(1 << 21).build().unwrap_err().to_string();
    assert_eq!(error, "`result_limit` is 2097152, but must be at most 1048576 bytes");
    assert!(AuditLog::builder(&place.path).rotate_at(1).build().is_err());
    let nowhere = place.path.with_file_name("missing").join("audit.jsonl");
    assert!(AuditLog::builder(nowhere).build().unwrap_err().to_string().contains("opening"));
}
