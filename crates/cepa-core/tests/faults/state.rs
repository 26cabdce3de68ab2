//! States that were saved in the middle, and what came after an end.

use std::sync::{Arc, Mutex};

use cepa_core::{
    Inputs, ReactConfig, ToolResultState, on_acting,
    serde_json::{self, json},
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};

use crate::support::{assert_paired, builder, log, read, result, within};

#[tokio::test(start_paused = true)]
async fn r35_a_call_that_a_crash_cut_off_is_closed_and_not_run_again() {
    for again in [Inputs::from("Go on"), Inputs::Nothing] {
        let snapshot = Arc::new(Mutex::new(String::new()));
        let copy = snapshot.clone();
        let photographs = on_acting(move |cx, input, next| {
            *copy.lock().unwrap() = serde_json::to_string(&*cx.state().unwrap()).unwrap();
            async move { next.run(input).await }
        });
        let answer = Answer::new().raw_tool_call("c1", "pays", "{}");
        let model = ScriptedModel::new([answer, Answer::new().text("Well.")]);
        let pays = ScriptedTool::answering("pays", |_| ToolAnswer::new().hangs()).one_at_a_time();
        let mut agent = builder(&model).tool(pays.clone()).middleware(photographs).build().unwrap();
        let mut stream = agent.reply("Go").stream();
        while within(stream.next()).await.unwrap().event_type() != "TOOL_RESULT_START" {}
        // The tool runs; the process dies.
        assert!(tokio::time::timeout(std::time::Duration::from_secs(1), stream.next()).await.is_err());
        let definition = {
            drop(stream);
            agent.definition()
        };
        let state = read(&snapshot.lock().unwrap());
        assert_eq!(state.context.last().unwrap().tool_results().count(), 0);

        let mut elsewhere = definition.agent_with(state);
        assert_eq!(log(elsewhere.reply(again)).await.text(), "Well.");
        assert_eq!(result(&elsewhere, "c1").0, ToolResultState::Interrupted);
        assert_eq!(pays.calls().len(), 1);
        assert_paired(&model);
    }
}

#[tokio::test(start_paused = true)]
async fn r36_the_message_after_the_last_round_is_answered() {
    let calls = |_: usize| Answer::new().tool_call("look", json!({}));
    let model = ScriptedModel::new((0..4).map(calls).chain([Answer::new().text("Here.")]));
    let mut react = ReactConfig::default();
    react.max_iters = 3;
    let look = ScriptedTool::echo("look");
    let mut agent = builder(&model).react_config(react).tool(look.clone()).build().unwrap();
    log(agent.reply("Go")).await.assert(["...", "EXCEED_MAX_ITERS", "REPLY_END exceed_max_iters"]);
    assert_eq!(look.calls().len(), 3);
    assert!(agent.waiting_for().is_none());
    assert_eq!(log(agent.reply("And now?")).await.text(), "Here.");
    assert_paired(&model);
}
