//! Replies that are interrupted, and readers that go away.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{
    Agent, CancelToken, ErrorKind, ReactConfig, ReplyFinishedReason, ToolResultState, on_acting, on_reply,
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool, ToolAnswer},
};

use crate::support::{assert_paired, builder, failure, log, result, saved, within};

/// Reads up to an event of this type, cancels, and reads the rest.
async fn cancelled_at(agent: &mut Agent, event_type: &str) -> EventLog {
    let token = CancelToken::new();
    let mut stream = agent.reply("Go").cancel_on(token.clone()).stream();
    loop {
        let event = within(stream.next()).await;
        if event.unwrap().event_type() == event_type {
            break;
        }
    }
    token.cancel();
    within(EventLog::of_stream(stream)).await
}

#[tokio::test(start_paused = true)]
async fn a_layer_beside_the_reply_notices_the_interrupt_while_the_model_hangs() {
    let noticed = Arc::new(AtomicUsize::new(0));
    let notices = noticed.clone();
    let layer = on_reply(move |cx, input, next| {
        let notices = notices.clone();
        async move {
            let mut items = next.stream(input);
            loop {
                tokio::select! {
                    biased;
                    () = cx.interrupted() => break,
                    event = items.next() => match event {
                        Some(event) => _ = cx.emit(event).await,
                        None => break,
                    },
                }
            }
            notices.store(cx.sent(), SeqCst);
            items.forward(&cx).await
        }
    });
    let model = ScriptedModel::new([Answer::new().text("Once").hangs()]);
    let mut agent = builder(&model).middleware(layer).build().unwrap();
    let rest = cancelled_at(&mut agent, "TEXT_BLOCK_DELTA").await;
    // Before anything that the end of the reply sends.
    assert_eq!(noticed.load(SeqCst), 4);
    rest.assert(["TEXT_BLOCK_END", "MODEL_CALL_END interrupted", "REPLY_END interrupted"]);
}

fn hanging_tool() -> ScriptedTool {
    ScriptedTool::answering("hangs", |_| ToolAnswer::new().text("half").hangs())
}

fn two_calls() -> Answer {
    Answer::new().raw_tool_call("c1", "hangs", "{}").raw_tool_call("c2", "hangs", "{}")
}

#[tokio::test(start_paused = true)]
async fn r11_an_interrupt_is_an_error_where_the_agent_is_set_so_in_every_phase() {
    let phases = [
        ("waiting for the model", Answer::new().hangs(), "MODEL_CALL_START", true),
        ("reading its stream", Answer::new().text("Once").hangs(), "TEXT_BLOCK_DELTA", true),
        ("in a tool", two_calls(), "TOOL_RESULT_TEXT_DELTA", true),
        ("in tools side by side", two_calls(), "TOOL_RESULT_TEXT_DELTA", false),
    ];
    for (phase, answer, event, in_order) in phases {
        let model = ScriptedModel::new([answer, Answer::new().text("Well.")]);
        let mut react = ReactConfig::default();
        react.interruption_raise_cancelled_error = true;
        let tool = if in_order { hanging_tool().one_at_a_time() } else { hanging_tool() };
        let mut agent = builder(&model).react_config(react).tool(tool).build().unwrap();
        let rest = cancelled_at(&mut agent, event).await;
        rest.assert(["...", "REPLY_END interrupted"]);
        let error = failure(rest.into_outcome());
        assert!(matches!(error.kind(), ErrorKind::Interrupted), "{phase}: {error}");
        // All is cleaned up: the next message is answered.
        assert_eq!(log(agent.reply("Go on")).await.text(), "Well.", "{phase}");
        assert_paired(&model);
    }
}

#[tokio::test(start_paused = true)]
async fn r12_a_tool_does_not_begin_after_the_interrupt() {
    for in_order in [true, false] {
        let entered = Arc::new(AtomicUsize::new(0));
        let counter = entered.clone();
        let waits = on_acting(move |_cx, input, next| {
            counter.fetch_add(1, SeqCst);
            async move {
                tokio::time::sleep(Duration::from_millis(200)).await;
                next.run(input).await
            }
        });
        let answer = Answer::new().raw_tool_call("c1", "look", "{}");
        let model = ScriptedModel::new([answer, Answer::new().text("Well.")]);
        let look = ScriptedTool::echo("look");
        let look = if in_order { look.one_at_a_time() } else { look };
        let mut agent = builder(&model).tool(look.clone()).middleware(waits).build().unwrap();
        let token = CancelToken::new();
        let later = token.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            later.cancel();
        });
        let log = log(agent.reply("Go").cancel_on(token)).await;
        log.assert(["...", "TOOL_RESULT_END interrupted", "REPLY_END interrupted"]);
        let message = log.into_outcome().unwrap();
        assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Interrupted));
        assert_eq!((look.calls().len(), entered.load(SeqCst)), (0, 1));
        crate::support::log(agent.reply("Go on")).await.into_outcome().unwrap();
        assert_paired(&model);
    }
}

#[tokio::test(start_paused = true)]
async fn r11_an_interrupt_before_the_reply_begins_is_no_message_of_the_one_before() {
    let turn = Arc::new(AtomicUsize::new(0));
    let waits = on_reply(move |_cx, input, next: cepa_core::Next<_>| {
        let first = turn.fetch_add(1, SeqCst) == 0;
        async move {
            if !first {
                std::future::pending::<()>().await;
            }
            next.run(input).await
        }
    });
    let model = ScriptedModel::new([Answer::new().text("Hello.").usage(10, 5)]);
    let mut agent = builder(&model).middleware(waits).build().unwrap();
    let first = log(agent.reply("Hi")).await.into_outcome().unwrap();
    let token = CancelToken::new();
    token.cancel();
    let log = log(agent.reply("Go").cancel_on(token)).await;
    assert_eq!(log.events().len(), 0);
    let message = log.into_outcome().unwrap();
    assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Interrupted));
    assert_ne!(message.id, first.id);
    assert_eq!(message.usage, None);
}

#[tokio::test(start_paused = true)]
async fn f31_tools_end_with_the_stream_that_is_dropped() {
    let ended = Arc::new(AtomicUsize::new(0));
    let counter = ended.clone();
    let counts = on_acting(move |_cx, input, next| {
        let ended = counter.clone();
        async move {
            let response = next.run(input).await?;
            ended.fetch_add(1, SeqCst);
            Ok(response)
        }
    });
    let slow = |_: &_| ToolAnswer::new().text("half").delay(Duration::from_secs(1)).text("whole");
    let answer = Answer::new().raw_tool_call("c1", "slow", "{}").raw_tool_call("c2", "slow", "{}");
    let model = ScriptedModel::new([answer, Answer::new().text("Well.")]);
    let mut agent =
        builder(&model).tool(ScriptedTool::answering("slow", slow)).middleware(counts).build().unwrap();
    let mut stream = agent.reply("Go").stream();
    while within(stream.next()).await.unwrap().event_type() != "TOOL_RESULT_TEXT_DELTA" {}
    drop(stream);
    let left = saved(&agent);
    for id in ["c1", "c2"] {
        assert_eq!(result(&agent, id).0, ToolResultState::Interrupted);
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(ended.load(SeqCst), 0);
    assert_eq!(saved(&agent), left);
    assert_eq!(log(agent.reply("Go on")).await.text(), "Well.");
    assert_paired(&model);
}
