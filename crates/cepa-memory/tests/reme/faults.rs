//! Faults that were seen elsewhere.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use cepa_core::{
    AgentState, ConfirmResult, ErrorType, EventKind, ModelError, Purpose, Role, UserConfirmResultEvent,
    serde_json::json,
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_memory::{Mode, ReMeMiddleware};

use crate::support::{Fake, builder, flush, memories};

const MS: Duration = Duration::from_millis(1);

fn layer(fake: &Fake, mode: Mode) -> Arc<ReMeMiddleware> {
    Arc::new(ReMeMiddleware::builder(fake.clone()).mode(mode).build().unwrap())
}

fn slow_tool() -> ScriptedTool {
    ScriptedTool::answering("f", |_| ToolAnswer::default().text("F").delay(300 * MS)).read_only()
}

/// One round with the tool, and an answer.
fn two_rounds() -> ScriptedModel {
    ScriptedModel::new([
        Answer::new().tool_call("f", json!({})).usage(10, 5),
        Answer::new().text("ok").usage(10, 5),
    ])
}

#[tokio::test(start_paused = true)]
async fn r03_agents_of_one_session_get_what_each_has_searched_for() {
    let fake = Fake::searching(20 * MS);
    let layer = layer(&fake, Mode::StaticControl);
    let models = [two_rounds(), two_rounds()];
    let mut agents = models.each_ref().map(|model| {
        let state = AgentState::with_session_id("same");
        builder(model, &layer).tool(slow_tool()).state(state).build().unwrap()
    });
    let [a, b] = &mut agents;
    let (a, b) = tokio::join!(async { a.reply("Q-A").await }, async {
        tokio::time::sleep(10 * MS).await;
        b.reply("Q-B").await
    });
    assert_eq!([a.unwrap().text(), b.unwrap().text()], [Some("ok".to_owned()), Some("ok".to_owned())]);
    let told = models.map(|model| model.requests().iter().map(memories).collect::<Vec<_>>());
    assert_eq!(told, [[vec![], vec!["mem for Q-A".to_owned()]], [vec![], vec!["mem for Q-B".to_owned()]]]);
}

#[tokio::test(start_paused = true)]
async fn f08_the_tool_that_the_prompt_tells_of_is_offered() {
    for (mode, offered) in [(Mode::StaticControl, false), (Mode::AgentControl, true), (Mode::Both, true)] {
        let model = ScriptedModel::new([Answer::new().text("ok")]);
        let mut agent = builder(&model, &layer(&Fake::default(), mode)).build().unwrap();
        agent.reply("hi").await.unwrap();
        let request = model.requests().remove(0);
        assert_eq!(request.tools.iter().any(|tool| &**tool.name() == "memory_search"), offered, "{mode:?}");
        let told = request.messages.iter().any(|msg| {
            msg.role == Role::System && msg.text().is_some_and(|text| text.contains("`memory_search`"))
        });
        assert_eq!(told, offered, "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f14_what_was_found_does_not_split_the_reply() {
    let model = two_rounds();
    let layer = layer(&Fake::searching(MS), Mode::StaticControl);
    let mut agent = builder(&model, &layer).tool(slow_tool()).build().unwrap();
    let msg = agent.reply("hi").await.unwrap();
    assert_eq!(memories(&model.requests()[1]), ["mem for hi"]);
    let usage = msg.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (20, 10));
    let state = agent.state().unwrap();
    let ids: Vec<_> = state.context.iter().map(|msg| msg.id.clone()).collect();
    assert_eq!(ids.len(), 2, "the question and the answer");
    assert_eq!(ids[1], msg.id);
}

#[tokio::test(start_paused = true)]
async fn f16_a_turn_that_was_compressed_in_the_middle_is_remembered_whole() {
    let long = "word ".repeat(1000);
    let called = AtomicBool::new(false);
    let model = ScriptedModel::answering(move |request| match request.purpose {
        Purpose::Chat if called.swap(true, Relaxed) => Answer::new().text("ok"),
        Purpose::Chat => Answer::new().tool_call("f", json!({})),
        _ => Answer::new().fails(ModelError::new(ErrorType::Unknown, "no summary")),
    })
    .with_context_size(1200);
    let fake = Fake::default();
    let layer = layer(&fake, Mode::AgentControl);
    let tool = ScriptedTool::answering("f", move |_| ToolAnswer::default().text(long.as_str())).read_only();
    let mut agent = builder(&model, &layer).tool(tool).build().unwrap();
    agent.reply("My dog is called Rex.").await.unwrap();
    flush(&layer).await;
    let state = agent.state().unwrap();
    assert!(state.context.iter().all(|msg| msg.role != Role::User), "it was not compressed");
    let turns = fake.turns();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0][0], "user: My dog is called Rex.");
    assert_eq!(turns[0][1], "Friday: <tool_call f> <tool_result f> ok");
}

#[tokio::test(start_paused = true)]
async fn f17_a_turn_that_waited_for_a_person_is_remembered_once_and_whole() {
    let fake = Fake::default();
    let layer = layer(&fake, Mode::AgentControl);
    let model = two_rounds();
    let tool = ScriptedTool::new("f", ["F"]).asks();
    let mut agent = builder(&model, &layer).tool(tool.clone()).build().unwrap();
    agent.reply("Delete it").await.unwrap();
    flush(&layer).await;
    assert_eq!(fake.turns(), Vec::<Vec<String>>::new());

    // The answer comes to another process.
    let saved = agent.save().unwrap().to_owned();
    let state: AgentState = serde_json::from_str(&saved).unwrap();
    let mut agent = builder(&model, &layer).tool(tool).state(state).build().unwrap();
    let waiting = agent.waiting_for().unwrap();
    let answers = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
    agent.reply(UserConfirmResultEvent::new(waiting.reply_id, answers)).await.unwrap();
    flush(&layer).await;
    assert_eq!(fake.turns(), [["user: Delete it", "Friday: <tool_call f> <tool_result f> ok"]]);
}

#[tokio::test(start_paused = true)]
async fn r63_a_memory_in_the_middle_leads_to_no_further_round() {
    let model = two_rounds();
    let layer = layer(&Fake::searching(MS), Mode::Both);
    let mut agent = builder(&model, &layer).tool(slow_tool()).build().unwrap();
    let log = EventLog::of(agent.reply("hi")).await;
    log.only(["MODEL_CALL_END", "TOOL_RESULT_END", "REPLY_END"]).assert([
        "MODEL_CALL_END",
        "TOOL_RESULT_END success",
        "MODEL_CALL_END",
        "REPLY_END completed",
    ]);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn f18_a_turn_is_remembered_when_the_reader_leaves_at_its_end() {
    let fake = Fake::default();
    let layer = layer(&fake, Mode::Both);
    let model = ScriptedModel::new(["Hello."]);
    let mut agent = builder(&model, &layer).build().unwrap();
    let mut reply = agent.reply("hi").stream();
    while !matches!(reply.next().await.unwrap().kind, EventKind::ReplyEnd { .. }) {}
    drop(reply);
    flush(&layer).await;
    assert_eq!(fake.turns(), [["user: hi", "Friday: Hello."]]);
}
