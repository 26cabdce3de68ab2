//! Questions to a person, results from elsewhere, and what comes between.

use cepa_core::{
    ConfirmResult, ErrorKind, ExternalExecutionResultEvent, Inputs, Msg, PermissionBehavior,
    PermissionContext, PermissionRule, ReactConfig, SchemaTool, ToolResultBlock, ToolResultState,
    UserConfirmResultEvent, UserInterruptEvent,
    serde_json::{self, json},
    testing::{Answer, ScriptedModel, ScriptedTool},
};

use crate::support::{assert_paired, builder, failure, log, result, saved, yes};

fn calls(name: &str) -> Answer {
    Answer::new().raw_tool_call("c1", name, "{}")
}

fn elsewhere() -> SchemaTool {
    SchemaTool::new("elsewhere", "Runs on another machine.", json!({"type": "object"})).external().allowed()
}

#[tokio::test(start_paused = true)]
async fn r10_an_answer_to_another_reply_is_refused() {
    let model = ScriptedModel::new([calls("look"), Answer::new().text("Done.")]);
    let look = ScriptedTool::echo("look").asks();
    let mut agent = builder(&model).tool(look.clone()).build().unwrap();
    log(agent.reply("Go")).await.assert(["...", "REQUIRE_USER_CONFIRM"]);
    let before = saved(&agent);

    let call = agent.waiting_for().unwrap().confirmations.remove(0);
    let stale: [Inputs; 2] = [
        UserConfirmResultEvent::new("another", [ConfirmResult::confirm(call)]).into(),
        UserInterruptEvent::new("another").into(),
    ];
    for answer in stale {
        let log = log(agent.reply(answer)).await;
        assert_eq!(log.events().len(), 0);
        let error = failure(log.into_outcome());
        assert!(matches!(error.kind(), ErrorKind::StaleAnswer { got, .. } if *got == "another"), "{error}");
        assert_eq!(saved(&agent), before);
    }
    assert_eq!(look.calls().len(), 0);

    // The right answer still works.
    let answer = yes(&agent);
    assert_eq!(log(agent.reply(answer)).await.text(), "Done.");
    assert_eq!(look.calls().len(), 1);
    assert_paired(&model);
}

#[tokio::test(start_paused = true)]
async fn r10_a_result_for_another_reply_is_refused() {
    let model = ScriptedModel::new([calls("elsewhere"), Answer::new().text("Done.")]);
    let mut agent = builder(&model).tool(elsewhere()).build().unwrap();
    log(agent.reply("Go")).await.assert(["...", "REQUIRE_EXTERNAL_EXECUTION"]);
    let before = saved(&agent);
    let block = || ToolResultBlock::new("c1", "elsewhere", "42", ToolResultState::Success);
    let stale = ExternalExecutionResultEvent::new("another", [block()]);
    let error = failure(log(agent.reply(stale)).await.into_outcome());
    assert!(matches!(error.kind(), ErrorKind::StaleAnswer { .. }), "{error}");
    assert_eq!(saved(&agent), before);
    let right = ExternalExecutionResultEvent::new(agent.waiting_for().unwrap().reply_id, [block()]);
    assert_eq!(log(agent.reply(right)).await.text(), "Done.");
    assert_eq!(result(&agent, "c1"), (ToolResultState::Success, "42".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn r25_a_round_that_waits_counts_once() {
    let model = ScriptedModel::new([calls("look"), Answer::new().text("Done.")]);
    let mut agent = builder(&model).tool(ScriptedTool::echo("look").asks()).build().unwrap();
    log(agent.reply("Go")).await;
    assert_eq!(agent.state().unwrap().reply_context.cur_iter, 0);
    let answer = yes(&agent);
    log(agent.reply(answer)).await;
    assert_eq!(agent.state().unwrap().reply_context.cur_iter, 2);
}

#[tokio::test(start_paused = true)]
async fn r26_a_call_that_runs_elsewhere_starts_and_ends_once() {
    let model = ScriptedModel::new([calls("elsewhere"), Answer::new().text("Well.")]);
    let mut agent = builder(&model).tool(elsewhere()).build().unwrap();
    let types = ["TOOL_RESULT_START", "TOOL_RESULT_END", "REPLY_END"];
    log(agent.reply("Go")).await.only(types).assert(["TOOL_RESULT_START elsewhere"]);
    let interrupt = UserInterruptEvent::new(agent.waiting_for().unwrap().reply_id);
    let log = log(agent.reply(interrupt)).await;
    log.only(types).assert(["TOOL_RESULT_END interrupted", "REPLY_END interrupted"]);
    assert_eq!(result(&agent, "c1").0, ToolResultState::Interrupted);
    assert!(agent.waiting_for().is_none());
    crate::support::log(agent.reply("Go on")).await.into_outcome().unwrap();
    assert_paired(&model);
}

#[tokio::test(start_paused = true)]
async fn r58_a_refusal_can_end_the_reply() {
    for stop in [true, false] {
        let model = ScriptedModel::new([calls("look"), Answer::new().text("Then not.")]);
        let look = ScriptedTool::echo("look").asks();
        let mut react = ReactConfig::default();
        react.stop_on_reject = stop;
        let mut agent = builder(&model).react_config(react).tool(look.clone()).build().unwrap();
        log(agent.reply("Go")).await;
        let call = agent.waiting_for().unwrap().confirmations.remove(0);
        let no =
            UserConfirmResultEvent::new(agent.waiting_for().unwrap().reply_id, [ConfirmResult::reject(call)]);
        log(agent.reply(no)).await.assert(["...", "TOOL_RESULT_END denied", "...", "REPLY_END completed"]);
        assert_eq!(model.requests().len(), if stop { 1 } else { 2 });
        assert_eq!(look.calls().len(), 0);
        if stop {
            // The agent is ready for the next message.
            assert_eq!(log(agent.reply("Otherwise")).await.text(), "Then not.");
        }
        assert_paired(&model);
    }
}

#[tokio::test(start_paused = true)]
async fn r59_what_a_person_changes_is_checked_again() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let changes: [(&str, &str, ToolResultState); 4] = [
        ("remove", "{}", ToolResultState::Denied),
        ("counts", r#"{"n":"many"}"#, ToolResultState::Error),
        ("counts", r#"{"n":3}"#, ToolResultState::Success),
        ("nobody", "{}", ToolResultState::Error),
    ];
    for (name, input, expected) in changes {
        let model = ScriptedModel::new([calls("look"), Answer::new().text("Done.")]);
        let remove = ScriptedTool::echo("remove");
        let counts = ScriptedTool::echo("counts").with_schema(schema.clone());
        let mut permissions = PermissionContext::default();
        permissions.add_rule(PermissionRule::new("remove", PermissionBehavior::Deny, "test"));
        let mut agent = builder(&model)
            .permissions(permissions)
            .tool(ScriptedTool::echo("look").asks())
            .tool(remove.clone())
            .tool(counts.clone())
            .build()
            .unwrap();
        log(agent.reply("Go")).await;
        let mut call = agent.waiting_for().unwrap().confirmations.remove(0);
        call.name = name.into();
        call.input = input.to_owned();
        let reply_id = agent.waiting_for().unwrap().reply_id;
        let changed = UserConfirmResultEvent::new(reply_id, [ConfirmResult::confirm(call)]);
        log(agent.reply(changed)).await.into_outcome().unwrap();
        assert_eq!(result(&agent, "c1").0, expected, "{name} {input}");
        let runs = usize::from(expected == ToolResultState::Success);
        assert_eq!((remove.calls().len(), counts.calls().len()), (0, runs), "{name} {input}");
        assert_paired(&model);
    }
}

#[tokio::test(start_paused = true)]
async fn r61_the_model_reads_why_it_was_refused() {
    let model = ScriptedModel::new([calls("look"), Answer::new().text("I use the copy.")]);
    let mut agent = builder(&model).tool(ScriptedTool::echo("look").asks()).build().unwrap();
    log(agent.reply("Go")).await;
    let waiting = agent.waiting_for().unwrap();
    let no = ConfirmResult::reject(waiting.confirmations[0].clone());
    assert!(serde_json::to_value(&no).unwrap().get("reason").is_none());
    let no = UserConfirmResultEvent::new(waiting.reply_id, [no.with_reason("use the copy")]);
    log(agent.reply(no)).await;
    let last = model.requests().pop().unwrap();
    let results: Vec<_> = last.messages.iter().flat_map(|msg| msg.tool_results()).collect();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].state, ToolResultState::Denied);
    assert!(results[0].output.text().contains("use the copy"), "{:?}", results[0]);
}

#[tokio::test(start_paused = true)]
async fn f34_a_question_stays_open_when_something_is_observed() {
    for (tool, waits) in [("look", "REQUIRE_USER_CONFIRM"), ("elsewhere", "REQUIRE_EXTERNAL_EXECUTION")] {
        let model = ScriptedModel::new([calls(tool), Answer::new().text("Done.")]);
        let mut agent =
            builder(&model).tool(ScriptedTool::echo("look").asks()).tool(elsewhere()).build().unwrap();
        log(agent.reply("Go")).await.assert(["...", waits]);
        agent.observe(Msg::user("bob", "By the way.")).await.unwrap();
        let reply_id = agent.waiting_for().unwrap().reply_id;
        let answer: Inputs = if tool == "look" {
            yes(&agent).into()
        } else {
            let block = ToolResultBlock::new("c1", tool, "42", ToolResultState::Success);
            ExternalExecutionResultEvent::new(reply_id, [block]).into()
        };
        assert_eq!(log(agent.reply(answer)).await.text(), "Done.");
        assert_eq!(result(&agent, "c1").0, ToolResultState::Success);
        assert_paired(&model);
        // What was observed reaches the model.
        let last = model.requests().pop().unwrap();
        assert!(last.messages.iter().any(|msg| msg.text().as_deref() == Some("By the way.")));
    }
}

#[tokio::test(start_paused = true)]
async fn f34_a_message_that_comes_instead_of_an_answer_says_what_is_waited_for() {
    let model = ScriptedModel::new([calls("look"), Answer::new().text("Done.")]);
    let mut agent = builder(&model).tool(ScriptedTool::echo("look").asks()).build().unwrap();
    log(agent.reply("Go")).await;
    let before = saved(&agent);
    let error = failure(log(agent.reply("Never mind")).await.into_outcome());
    assert!(matches!(error.kind(), ErrorKind::AgentIsWaiting { confirmations: 1, external: 0 }), "{error}");
    assert_eq!(saved(&agent), before);
}
