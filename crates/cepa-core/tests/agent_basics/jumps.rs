//! `before_model` and `after_model`, and where they let the loop go on.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use cepa_core::{
    Jump, after_agent, after_model, before_agent, before_model,
    serde_json::json,
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool},
};

use super::{builder, within};

#[tokio::test]
async fn a_model_that_is_not_asked_any_more() {
    let model = ScriptedModel::new([Answer::new().text("I look it up.").tool_call("look", json!({}))]);
    let look = ScriptedTool::new("look", ["found"]);
    let once = before_model(|cx| async move {
        let rounds = cx.state()?.reply_context.cur_iter;
        Ok(if rounds >= 1 { Jump::End } else { Jump::Continue })
    });
    let mut agent = builder(&model).tool(look.clone()).middleware(once).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    log.assert([
        "REPLY_START",
        "MODEL_CALL_START scripted",
        "...",
        "MODEL_CALL_END completed",
        "TOOL_RESULT_START look",
        "TOOL_RESULT_TEXT_DELTA found",
        "TOOL_RESULT_END success",
        "REPLY_END completed",
    ]);
    assert_eq!(log.into_outcome().unwrap().text().as_deref(), Some("I look it up."));
    assert_eq!((model.requests().len(), look.calls().len()), (1, 1));
}

#[tokio::test]
async fn an_answer_that_is_not_good_enough() {
    let model = ScriptedModel::new(["A draft.", "The text."]);
    let critic = after_model(|_cx, message| async move {
        let is_draft = message.and_then(|message| message.text()).is_some_and(|text| text.contains("draft"));
        Ok(if is_draft { Jump::Model } else { Jump::Continue })
    });
    let mut agent = builder(&model).middleware(critic).build().unwrap();
    let log = within(EventLog::of(agent.reply("Write"))).await;
    log.only(["TEXT_BLOCK_DELTA", "REPLY_END"]).assert([
        r#"TEXT_BLOCK_DELTA "A draft.""#,
        r#"TEXT_BLOCK_DELTA "The text.""#,
        "REPLY_END completed",
    ]);
    assert_eq!(log.into_outcome().unwrap().text().as_deref(), Some("The text."));
}

#[tokio::test]
async fn calls_that_are_not_run_any_more() {
    let model =
        ScriptedModel::new([Answer::new().text("I delete it.").tool_call("rm", json!({"path": "/"}))]);
    let rm = ScriptedTool::new("rm", ["gone"]);
    let careful = after_model(|_cx, _message| async { Ok(Jump::End) });
    let mut agent = builder(&model).tool(rm.clone()).middleware(careful).build().unwrap();
    let log = within(EventLog::of(agent.reply("Tidy up"))).await;
    log.assert([
        "...",
        "MODEL_CALL_END completed",
        "TOOL_RESULT_START rm",
        "TOOL_RESULT_TEXT_DELTA",
        "TOOL_RESULT_END error",
        "REPLY_END completed",
    ]);
    assert!(rm.calls().is_empty());
    assert_eq!(log.into_outcome().unwrap().text().as_deref(), Some("I delete it."));
}

#[tokio::test]
async fn helpers_that_only_look() {
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = |by: usize| {
        let seen = seen.clone();
        move || seen.fetch_add(by, SeqCst)
    };
    let (a, b, c) = (counter(1), counter(10), counter(100));
    let model = ScriptedModel::new(["Yes."]);
    let built = builder(&model)
        .middleware(before_agent(move |_cx| {
            a();
            async { Ok(()) }
        }))
        .middleware(before_model(move |_cx| {
            b();
            async { Ok(()) }
        }))
        .middleware(after_model(move |_cx, message| {
            c();
            assert_eq!(message.and_then(|message| message.text()).as_deref(), Some("Yes."));
            async { Ok(()) }
        }))
        .middleware(after_agent(|_cx, mut message| async move {
            message.content = cepa_core::Msg::assistant("Friday", "No.").content;
            Ok(message)
        }))
        .build();
    let mut agent = built.unwrap();
    let message = within(agent.reply("Well?")).await.unwrap();
    assert_eq!(message.text().as_deref(), Some("No."));
    assert_eq!(seen.load(SeqCst), 111);
}
