//! Summaries that cannot be made.

use std::sync::Arc;

use cepa_core::{
    CancelToken, CompressInput, ErrorKind, Msg, Origin, ReplyFinishedReason, ToolChoiceMode,
    serde_json::json, texts,
};

use crate::script::{Say, Scripted, agent, context_config, history, long, short, shown_context, summary};

#[tokio::test]
async fn without_a_summary_the_older_messages_are_left_out() {
    let model = Arc::new(Scripted::new(260, [Say::Text("ok")], []));
    let mut agent = agent(&model, history()).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(summary(&agent), texts::SUMMARY_TRUNCATED);
    assert_eq!(shown_context(&agent), ["user: now", "assistant: ok"]);
}

#[tokio::test]
async fn an_older_summary_is_kept_when_no_new_one_can_be_made() {
    let model = Arc::new(Scripted::new(260, [Say::Text("ok")], []));
    let mut agent = agent(&model, history()).build().unwrap();
    agent.state().unwrap().summary = "EARLIER".into();
    agent.reply("now").await.unwrap();
    assert_eq!(summary(&agent), "EARLIER");
    assert_eq!(shown_context(&agent), ["user: now", "assistant: ok"]);
}

#[tokio::test]
async fn a_missing_summary_can_be_an_error_that_changes_nothing() {
    let mut config = context_config();
    config.compression_fallback_to_truncation = false;
    let model = Arc::new(Scripted::new(260, [], []));
    let mut agent = agent(&model, history()).context_config(config).build().unwrap();
    let error = agent.compress(CompressInput::default()).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.origin()), ("boom", Origin::Model));
    assert_eq!(summary(&agent), "");
    assert_eq!(shown_context(&agent).len(), 2);
}

#[tokio::test]
async fn r20_a_summary_that_misses_its_schema_is_asked_for_again() {
    let misspelt = || Say::Object(json!({"S": "short"}));
    let model = Arc::new(Scripted::new(260, [Say::Text("ok")], [misspelt(), short()]));
    let mut told = agent(&model, history()).build().unwrap();
    told.reply("now").await.unwrap();
    assert_eq!(summary(&told), "SUMMARY[short]");
    let again = model.requests().remove(1);
    let told_what = again.messages.last().unwrap().content.last().unwrap().as_text().unwrap();
    assert!(told_what.contains("\"s\" is a required property"), "{told_what}");

    let model = Arc::new(Scripted::new(260, [Say::Text("ok")], [misspelt(), misspelt()]));
    let mut given_up = agent(&model, history()).build().unwrap();
    let message = given_up.reply("now").await.unwrap();
    assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Completed));
    assert_eq!(summary(&given_up), texts::SUMMARY_TRUNCATED);
    assert_eq!(shown_context(&given_up), ["user: now", "assistant: ok"]);
}

#[tokio::test]
async fn an_answer_without_the_call_is_asked_for_again() {
    let model = Arc::new(Scripted::new(260, [Say::Text("ok")], [Say::Text("Well…"), short()]));
    let mut agent = agent(&model, history()).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(summary(&agent), "SUMMARY[short]");
}

#[tokio::test]
async fn r21_a_server_that_refuses_a_forced_choice_is_asked_without() {
    let mut model = Scripted::new(260, [Say::Text("ok")], [short()]);
    model.refuses_choice = true;
    let model = Arc::new(model);
    let mut agent = agent(&model, history()).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(summary(&agent), "SUMMARY[short]");
    let choices: Vec<_> =
        model.requests().into_iter().map(|request| request.tool_choice.map(|c| c.mode)).collect();
    let forced = ToolChoiceMode::Tool("generate_structured_output".to_owned());
    assert_eq!(choices, [Some(forced), Some(ToolChoiceMode::Auto), None]);
}

#[tokio::test]
async fn compress__summary_fails_overflow_retry() {
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [Say::Fail, short()]));
    let mut agent = agent(&model, history()).build().unwrap();
    agent.reply("now").await.unwrap();
    let whole = ["summary", "system: SYS", "user: long long lo", "assistant: long long lo", "user: COMPRESS"];
    let newest = ["summary", "system: SYS", "assistant: long long lo", "user: COMPRESS"];
    let asked = model.asked();
    assert_eq!(
        (&asked[0][..], &asked[1][..], asked.len()),
        (&whole.map(str::to_owned)[..], &newest.map(str::to_owned)[..], 3)
    );
    assert_eq!(summary(&agent), "SUMMARY[short]");
    assert_eq!(shown_context(&agent), ["user: now", "assistant: ok"]);
}

#[tokio::test]
async fn a_summary_is_never_made_of_nothing() {
    // Neither the question nor the answer fits.
    let history = vec![Msg::user("user", long().repeat(3)), Msg::assistant("Friday", long().repeat(3))];
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [Say::Fail, short()]));
    let mut agent = agent(&model, history).build().unwrap();
    agent.reply("now").await.unwrap();
    let summaries = model.asked().into_iter().filter(|asked| asked[0] == "summary").count();
    assert_eq!(summaries, 1);
    assert_eq!(summary(&agent), texts::SUMMARY_TRUNCATED);
}

#[tokio::test]
async fn an_interrupt_while_it_is_summed_up_changes_nothing() {
    let token = CancelToken::new();
    let model = Arc::new(Scripted::new(200, [], [Say::Cancel(token.clone())]));
    let mut agent = agent(&model, history()).build().unwrap();
    let message = agent.reply("now").cancel_on(token).await.unwrap();
    assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Interrupted));
    assert_eq!(summary(&agent), "");
    assert_eq!(shown_context(&agent), ["user: long long lo", "assistant: long long lo", "user: now"]);
}

#[tokio::test]
async fn what_must_stay_is_left_alone() {
    let open =
        cepa_core::ToolCallBlock::new("t1", "f", long()).with_state(cepa_core::ToolCallState::Submitted);
    let model = Arc::new(Scripted::new(100, [], [short()]));
    let mut agent = agent(&model, vec![Msg::assistant("Friday", open)]).build().unwrap();
    agent.compress(CompressInput::default()).await.unwrap();
    assert_eq!(model.asked().len(), 0);
    assert_eq!(shown_context(&agent), ["assistant: call t1"]);
}

#[tokio::test]
async fn a_layer_that_refuses_the_summary_is_heard() {
    let layer = cepa_core::on_model_call(|_cx, request: cepa_core::ModelRequest, next| async move {
        match request.purpose {
            cepa_core::Purpose::Summary => Err(cepa_core::Error::other("no")),
            _ => next.run(request).await,
        }
    });
    let model = Arc::new(Scripted::new(260, [Say::Text("ok")], []));
    let mut agent = agent(&model, history()).middleware(layer).build().unwrap();
    let error = agent.reply("now").await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Other(_)), "{error}");
    assert_eq!(shown_context(&agent).len(), 3);
}
