//! The scripted parts themselves: what a test relies on.

use std::time::Duration;

use cepa_core::{
    Agent, ErrorType, ModelError, ModelRequest, Msg, Tool, generate,
    serde_json::json,
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool, ToolAnswer, event},
};

use super::{builder, within};

fn request() -> ModelRequest {
    ModelRequest::new([Msg::user("user", "hi")])
}

#[tokio::test]
async fn a_script_that_is_over_says_so() {
    let model = ScriptedModel::new([""; 0]).named("tiny");
    let mut agent = builder(&model).build().unwrap();
    let log = within(EventLog::of(agent.reply("Hi"))).await;
    log.assert(["REPLY_START", "MODEL_CALL_START tiny", "REPLY_END error error.type=invalid_request"]);
    let error = log.into_outcome().unwrap_err().to_string();
    assert_eq!(error, "the script of model `tiny` has no answer for request 1");
}

#[tokio::test]
async fn a_failure_after_some_text_shows_the_text() {
    let cut = Answer::new().texts(["Once ", "upon"]).fails(ModelError::new(ErrorType::Connection, "reset"));
    let mut agent = builder(&ScriptedModel::new([cut])).build().unwrap();
    let log = within(EventLog::of(agent.reply("Tell"))).await;
    log.assert([
        "REPLY_START",
        "MODEL_CALL_START",
        "TEXT_BLOCK_START",
        r#"TEXT_BLOCK_DELTA "Once ""#,
        "TEXT_BLOCK_DELTA upon",
        "TEXT_BLOCK_END",
        "REPLY_END error error.type=connection error.message=reset",
    ]);
}

#[tokio::test]
async fn without_streaming_the_content_comes_whole() {
    let model = ScriptedModel::new([Answer::new().texts(["a", "b"]).usage(3, 2)]).without_streaming();
    let mut agent = builder(&model).build().unwrap();
    let log = within(EventLog::of(agent.reply("Hi"))).await;
    log.assert([
        "...",
        "TEXT_BLOCK_DELTA ab",
        "TEXT_BLOCK_END",
        "MODEL_CALL_END completed input_tokens=3 output_tokens=2",
        "REPLY_END",
    ]);
}

#[tokio::test]
async fn calls_are_numbered_over_the_script() {
    let calls = || Answer::new().tool_call("a", json!({})).tool_call("b", json!({"x": 1}));
    let model = ScriptedModel::new([calls(), calls()]);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let response = generate(&model, request()).await.unwrap();
        let message = Msg::assistant("m", response.content.into_blocks());
        ids.extend(message.tool_calls().map(|call| call.id.to_string()));
    }
    assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4"]);
}

#[tokio::test(start_paused = true)]
async fn delays_take_their_time() {
    let model = ScriptedModel::new([Answer::new().delay(Duration::from_secs(3)).text("late")]);
    let began = tokio::time::Instant::now();
    assert_eq!(generate(&model, request()).await.unwrap().text(), "late");
    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

#[tokio::test]
async fn a_tools_script_is_played_in_order() {
    let model = ScriptedModel::new([
        Answer::new().tool_call("t", json!({"n": 1})),
        Answer::new().tool_call("t", json!({"n": 2})),
        Answer::from("Enough."),
    ]);
    let answers = [
        ToolAnswer::new().text("half ").text("done").metadata("files", 3),
        ToolAnswer::new().fails("no disk"),
    ];
    let tool = ScriptedTool::new("t", answers).read_only();
    assert!(tool.is_read_only());
    let mut agent = builder(&model).tool(tool.clone()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    log.only(["TOOL_RESULT_TEXT_DELTA", "TOOL_RESULT_END"]).assert([
        r#"TOOL_RESULT_TEXT_DELTA "half ""#,
        "TOOL_RESULT_TEXT_DELTA done",
        "TOOL_RESULT_END success metadata.files=3",
        r#"TOOL_RESULT_TEXT_DELTA "no disk""#,
        "TOOL_RESULT_END error",
    ]);
    assert_eq!(tool.calls(), [json!({"n": 1}), json!({"n": 2})]);
    assert_eq!(tool.remaining(), 0);
}

#[tokio::test]
async fn a_difference_shows_both_sides_in_one_language() {
    let mut agent = Agent::builder("Friday").model(ScriptedModel::new(["Hello there"])).build().unwrap();
    let log =
        within(EventLog::of(agent.reply("Hi"))).await.only(["REPLY_START", "TEXT_BLOCK_DELTA", "REPLY_END"]);
    let difference = log.difference([
        "REPLY_START Friday",
        r#"TEXT_BLOCK_DELTA "Hello you""#,
        "CUSTOM note value.x=1",
        "REPLY_END completed",
    ]);
    let expected = r#"the events are not as expected (- is missing, + is not expected, . is any):
    REPLY_START Friday role=assistant
  - TEXT_BLOCK_DELTA "Hello you"
  - CUSTOM note value.x=1
  + TEXT_BLOCK_DELTA "Hello there"
    REPLY_END completed
"#;
    assert_eq!(difference.as_deref(), Some(expected));
    // What a log prints can be expected of it.
    log.assert(log.to_string().lines());
}

#[tokio::test]
async fn an_expectation_that_cannot_be_read_says_why() {
    let log = EventLog::default();
    for (text, why) in [
        ("TEXT_BLOCK_START hello", "TEXT_BLOCK_START has no main field: write `field=value`"),
        (r#"TEXT_BLOCK_DELTA "hello"#, "does not begin with a JSON value"),
    ] {
        let difference = log.difference([text]).unwrap();
        assert!(difference.contains(why), "{difference}");
    }
    assert!(log.difference([event("REPLY_END").with("finished_reason", "completed")]).is_some());
}
