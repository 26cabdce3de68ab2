use cepa_core::{
    Agent, ReplyFinishedReason, ToolResultState,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_guard::{Action, OnBlock, Pii, PiiBlocked, PiiGuard};

use crate::support::talk;

fn guard(on_block: OnBlock) -> PiiGuard {
    PiiGuard::builder().detect(Pii::Email, Action::Block).on_block(on_block).build().unwrap()
}

fn refuse() -> OnBlock {
    OnBlock::Refuse("I do not talk about that.".to_owned())
}

#[tokio::test]
async fn an_input_is_an_error_by_default_and_leaves_no_trace() {
    let model = ScriptedModel::new(["Hello"]);
    let builder = Agent::builder("Friday").middleware(guard(OnBlock::Error));
    let (left, agent) = talk(builder, &model, &["I am bob@example.com"]).await;
    left.holds_none_of(&["bob@example.com"]);
    let error = left.events[0].outcome().unwrap().as_ref().unwrap_err();
    let blocked = error.downcast_ref::<PiiBlocked>().unwrap();
    assert_eq!((&*blocked.detector, blocked.place), ("email", "the input"));
    assert_eq!(model.remaining(), 1, "the model was not asked");
    assert!(agent.state().unwrap().context.is_empty());
}

#[tokio::test]
async fn a_refusal_is_the_answer_and_the_model_is_not_asked() {
    let model = ScriptedModel::new(["Hello"]);
    let builder = Agent::builder("Friday").middleware(guard(refuse()));
    let (left, agent) = talk(builder, &model, &["I am bob@example.com", "And now?"]).await;
    left.holds_none_of(&["bob@example.com"]);
    assert_eq!(left.events[0].text(), "I do not talk about that.");
    assert_eq!(left.events[1].text(), "Hello", "the next reply is one like any other");
    assert_eq!(model.requests().len(), 1);
    assert_eq!(agent.state().unwrap().context.len(), 4);
}

#[tokio::test]
async fn an_answer_ends_where_the_value_begins() {
    let answer = || Answer::new().texts(["It is bob", "@example.com, ", "and more"]).hangs();
    let model = ScriptedModel::new([answer()]);
    let builder = Agent::builder("Friday").middleware(guard(refuse()));
    let (left, _) = talk(builder, &model, &["Who?"]).await;
    left.holds_none_of(&["bob@example.com", "and more"]);
    assert_eq!(left.events[0].text(), "It is I do not talk about that.");
    let message = left.events[0].outcome().unwrap().as_ref().unwrap();
    assert_eq!(message.finished_reason, Some(ReplyFinishedReason::Completed));

    let model = ScriptedModel::new([answer()]);
    let builder = Agent::builder("Friday").middleware(guard(OnBlock::Error));
    let (left, _) = talk(builder, &model, &["Who?"]).await;
    left.holds_none_of(&["bob@example.com", "and more"]);
    let error = left.events[0].outcome().unwrap().as_ref().unwrap_err();
    assert_eq!(error.downcast_ref::<PiiBlocked>().unwrap().place, "the model's answer");
}

#[tokio::test]
async fn a_call_whose_arguments_hold_it_does_not_run() {
    let model = ScriptedModel::new([Answer::new().tool_call("send", json!({"to": "bob@example.com"}))]);
    let send = ScriptedTool::echo("send");
    let builder = Agent::builder("Friday").tool(send.clone()).middleware(guard(refuse()));
    let (left, _) = talk(builder, &model, &["Send it"]).await;
    left.holds_none_of(&["bob@example.com"]);
    assert_eq!(left.events[0].text(), "I do not talk about that.");
    assert!(send.calls().is_empty());
}

#[tokio::test]
async fn a_result_is_refused_and_the_tool_is_stopped() {
    let model = ScriptedModel::new([Answer::new().tool_call("look", json!({})), "I cannot tell.".into()]);
    let look = ScriptedTool::new("look", [ToolAnswer::new().text("bob@example.com ").hangs()]);
    let builder = Agent::builder("Friday").tool(look).middleware(guard(refuse()));
    let (left, agent) = talk(builder, &model, &["Who?"]).await;
    left.holds_none_of(&["bob@example.com"]);
    assert_eq!(left.events[0].text(), "I cannot tell.");
    let state = agent.state().unwrap();
    let result = state.context[1].tool_results().next().unwrap();
    assert_eq!(
        (result.output.text().as_ref(), result.state),
        ("I do not talk about that.", ToolResultState::Error)
    );
}
