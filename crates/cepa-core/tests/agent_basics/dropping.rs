//! A reply that is dropped after any of its events leaves a state with which the agent goes on.

use cepa_core::{
    Agent, AgentState, ConfirmResult, Inputs, ModelRequest, Usage, UserConfirmResultEvent, on_acting,
    on_model_call,
    serde_json::{self, json},
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool},
};

use super::{builder, within};

/// Two calls side by side, one that runs alone, then an answer.
fn model() -> ScriptedModel {
    ScriptedModel::new([
        Answer::new()
            .thinking("Hm.")
            .text("I look.")
            .tool_call("look", json!({"n": 1}))
            .tool_call("look", json!({"n": 2})),
        Answer::new().tool_call("alone", json!({})),
        Answer::new().texts(["All ", "done."]),
        Answer::from("Once more."),
        Answer::from("Once more."),
        Answer::from("Once more."),
        Answer::from("Once more."),
    ])
}

fn agent(model: &ScriptedModel, asks: bool) -> Agent {
    let alone = ScriptedTool::echo("alone").one_at_a_time();
    builder(model)
        .tool(ScriptedTool::echo("look"))
        .tool(if asks { alone.asks() } else { alone })
        .middleware(on_model_call(|cx, request, next| async move { next.stream(request).forward(&cx).await }))
        .middleware(on_acting(|_cx, input, next| async move { next.tap(input, |_| ()).await }))
        .build()
        .unwrap()
}

/// Each call of a request has exactly one result, not before the call.
#[track_caller]
fn assert_paired(request: &ModelRequest, when: &str) {
    let mut open = Vec::new();
    for block in request.messages.iter().flat_map(|message| message.content.iter()) {
        match block {
            cepa_core::ContentBlock::ToolCall(call) => open.push(call.id.clone()),
            cepa_core::ContentBlock::ToolResult(result) => {
                let place = open.iter().position(|id| *id == result.id);
                let place =
                    place.unwrap_or_else(|| panic!("{when}: {} has no call, or two results", result.id));
                open.remove(place);
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{when}: no result for {open:?}");
}

/// The state can be saved and read.
fn saved_and_read(agent: &Agent) -> AgentState {
    let json = serde_json::to_string(&*agent.state().unwrap()).unwrap();
    let read: AgentState = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
    read
}

/// How many events the reply has when nobody drops it.
async fn count_events(asks: bool) -> usize {
    let count = EventLog::of(agent(&model(), asks).reply("Go")).await.events().len();
    assert!(count > 10, "{count}");
    count
}

#[tokio::test]
async fn after_any_event() {
    for read in 0..=within(count_events(false)).await {
        let model = model();
        let mut agent = agent(&model, false);
        let mut stream = agent.reply("Go").stream();
        for _ in 0..read {
            within(stream.next()).await.unwrap();
        }
        drop(stream);
        let when = format!("dropped after {read} events");
        assert!(agent.waiting_for().is_none(), "{when}");

        // In this process, and in another one.
        let state = saved_and_read(&agent);
        let mut elsewhere = agent.definition().agent_with(state);
        for agent in [&mut agent, &mut elsewhere] {
            let log = within(EventLog::of(agent.reply("Go on"))).await;
            log.assert(["REPLY_START", "...", "REPLY_END completed"]);
            log.into_outcome().unwrap();
            assert_paired(model.requests().last().unwrap(), &when);
        }
    }
}

/// A call that waits for a person goes on waiting, however soon after the question the stream is dropped.
#[tokio::test]
async fn after_any_event_of_a_reply_that_parks() {
    let mut parked = 0;
    for read in 0..=within(count_events(true)).await {
        let model = model();
        let mut agent = agent(&model, true);
        let mut stream = agent.reply("Go").stream();
        for _ in 0..read {
            within(stream.next()).await.unwrap();
        }
        drop(stream);
        let when = format!("dropped after {read} events");
        saved_and_read(&agent);
        let inputs: Inputs = match agent.waiting_for() {
            None => "Go on".into(),
            Some(waiting) => {
                parked += 1;
                let results = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
                UserConfirmResultEvent::new(waiting.reply_id, results).into()
            }
        };
        let log = within(EventLog::of(agent.reply(inputs))).await;
        log.into_outcome().unwrap();
        assert_paired(model.requests().last().unwrap(), &when);
    }
    assert!(parked > 0, "the person was never asked");
}

/// An agent that owns its stream is given back at any point.
#[tokio::test]
async fn an_owned_stream_gives_its_agent_back() {
    let model = model();
    let mut stream = agent(&model, false).into_stream("Go");
    for _ in 0..9 {
        within(stream.next()).await.unwrap();
    }
    let mut agent = stream.into_agent();
    within(agent.reply("Go on")).await.unwrap();
    assert_paired(model.requests().last().unwrap(), "given back");
}

#[tokio::test(start_paused = true)]
async fn what_a_model_has_said_that_it_spent_is_kept_when_the_reader_leaves() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("look", json!({"n": 1})).usage(10, 1),
        Answer::new().reports_usage(70, 7).text("Half").hangs(),
    ]);
    let mut agent = builder(&model).tool(ScriptedTool::echo("look")).build().unwrap();
    let mut stream = agent.reply("Go").stream();
    while let Some(event) = within(stream.next()).await {
        if event.event_type() == "TEXT_BLOCK_DELTA" {
            break;
        }
    }
    drop(stream);
    let state = agent.state().unwrap();
    let usages: Vec<_> = state.context.iter().filter_map(|msg| msg.usage.clone()).collect();
    assert_eq!(usages, [Usage::new(80, 8)]);
}
