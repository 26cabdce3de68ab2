//! What is moved, and how its result comes.

use cepa_core::{
    EventKind, Inputs, ToolResultState,
    serde_json::{json, to_value},
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool, ToolAnswer},
};
use tokio::time::Instant;

use super::agents::*;

#[tokio::test(start_paused = true)]
async fn a_call_that_is_quick_is_as_without_the_layer() {
    let layer = background().build().unwrap();
    let calls = layer.calls();
    let mut agent = agent(train(9 * SECOND), layer);
    agent.reply("Go").await.unwrap();
    assert_eq!(result(&agent), (ToolResultState::Success, "begun, 98 %".into()));
    assert!(calls.running().is_empty() && hints(&agent).is_empty());
    // Nothing is left in the session.
    assert_eq!(to_value(&*agent.state().unwrap()).unwrap()["middle_context"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_result_comes_into_the_next_round_of_the_reply() {
    let layer = background().build().unwrap();
    let model = ScriptedModel::new([
        Answer::new().tool_call("train", json!({})),
        Answer::new().delay(30 * SECOND).tool_call("look", json!({})),
        Answer::new().text("Trained."),
    ]);
    let mut agent = builder(&model)
        .tool(train(20 * SECOND))
        .tool(ScriptedTool::echo("look"))
        .middleware(layer)
        .build()
        .unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    log.assert(["...", "TOOL_RESULT_END success", "...", "HINT_BLOCK", "...", "REPLY_END completed"]);
    let (state, text) = result(&agent);
    assert_eq!(state, ToolResultState::Success);
    assert!(text.starts_with("begun, \n<system-reminder>The call of `train`"), "{text}");
    // The model is asked for the third round with the whole output, once.
    let requests = model.requests();
    let told = |at: usize| format!("{:?}", requests[at].messages).matches("begun, 98 %").count();
    assert_eq!((told(1), told(2)), (0, 1));
    let source = log.events().iter().find_map(|event| match &event.kind {
        EventKind::HintBlock { source, .. } => source.clone(),
        _ => None,
    });
    assert_eq!(source.unwrap(), r#"{"label":"tool_output","sublabel":"train · call_1"}"#);
    agent.reply("Go on").await.unwrap_err(); // the script is at its end
    assert_eq!(hints(&agent).len(), 1);
    assert_eq!(to_value(&*agent.state().unwrap()).unwrap()["middle_context"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_result_waits_for_a_later_reply_which_may_begin_by_itself() {
    let layer = background().build().unwrap();
    let calls = layer.calls();
    let mut agent = agent(train(30 * SECOND), layer);
    let begun = Instant::now();
    agent.reply("Go").await.unwrap();
    assert_eq!(begun.elapsed(), 10 * SECOND);
    let id = session(&agent);
    assert_eq!((calls.running_in(&id).len(), calls.results_in(&id)), (1, 0));
    assert_eq!(
        (calls.running()[0].tool.as_str(), calls.running()[0].call_id.to_string().as_str()),
        ("train", "call_1")
    );
    // A reply in between is told nothing, and loses nothing.
    agent.reply("Still there?").await.unwrap();
    assert!(hints(&agent).is_empty());
    assert!(!calls.next_result(&id, SECOND).await);
    assert!(calls.finished(&id, SECOND).await.is_err());
    assert!(calls.next_result(&id, 3600 * SECOND).await);
    assert_eq!(begun.elapsed(), 30 * SECOND);
    agent.reply(Inputs::Nothing).await.unwrap();
    assert_eq!(hints(&agent).len(), 1);
    assert!(hints(&agent)[0].contains("begun, 98 %"));
    // There is none left, and none can come.
    assert!(!calls.next_result(&id, 3600 * SECOND).await);
    assert_eq!(begun.elapsed(), 30 * SECOND);
    assert_eq!(calls.results_in(&id), 0);
}

#[tokio::test(start_paused = true)]
async fn some_tools_are_never_moved_and_some_only_when_named() {
    let alone = || train(30 * SECOND).one_at_a_time();
    let cases = [
        (background(), alone(), false),
        (background().tool_after("train", SECOND), alone(), true),
        (background().never(["train"]), train(30 * SECOND), false),
        (background().only_named(true), train(30 * SECOND), false),
        (background().only_named(true).tool_after("train", SECOND), train(30 * SECOND), true),
    ];
    for (number, (layer, tool, moved)) in cases.into_iter().enumerate() {
        let layer = layer.build().unwrap();
        let calls = layer.calls();
        let mut agent = agent(tool, layer);
        agent.reply("Go").await.unwrap();
        assert_eq!(calls.running().len(), usize::from(moved), "case {number}");
    }
    // A tool that runs elsewhere parks the reply, as ever.
    let layer = background().tool_after("train", SECOND).build().unwrap();
    let mut agent = builder(&trains()).tool(Does::external()).middleware(layer).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(agent.waiting_for().unwrap().external.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_are_moved_each_for_itself() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("a", json!({})).tool_call("b", json!({})).tool_call("c", json!({})),
        Answer::new().text("I wait."),
        Answer::new().text("Done."),
    ]);
    let tool = |name: &str, time: u32| {
        ScriptedTool::new(name, [ToolAnswer::new().delay(time * SECOND).text(format!("{name} is done"))])
    };
    let layer = background().build().unwrap();
    let calls = layer.calls();
    let tools = [tool("a", 40), tool("b", 5), tool("c", 20)];
    let mut agent = builder(&model).tools(tools).middleware(layer).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(calls.running().len(), 2);
    calls.all_finished(60 * SECOND).await.unwrap();
    agent.reply("And?").await.unwrap();
    // In the order of the moves.
    let hints = hints(&agent);
    assert_eq!(hints.len(), 2);
    assert!(
        hints.iter().any(|hint| hint.contains("a is done"))
            && hints.iter().any(|hint| hint.contains("c is done"))
    );
}
