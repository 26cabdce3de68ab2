//! What of the content goes into spans.

use cepa_core::{
    ChatResponse, Cx, DataBlock, Error, ErrorType, Middleware, ModelCall, ModelError, ModelRequest, Msg,
    Next, Result, Source, ToolChunk, middleware,
    serde_json::{self, Value, json},
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_tracing::{Capture, TracingMiddleware};
use opentelemetry::trace::Status;
use opentelemetry_sdk::trace::SpanData;

use crate::support::{Collector, Spans, attribute, traced};

const CHAT: &str = "chat scripted";
const TOOL: &str = "execute_tool look";

/// A reply in which everybody says the name.
async fn said(capture: Capture) -> Spans {
    let (collector, _guard) = Collector::listening();
    let call = Answer::new().thinking("ACME wants it.").raw_tool_call("c1", "look", r#"{"who": "ACME"}"#);
    let model = ScriptedModel::new([call, "ACME is well.".into()]);
    let look = ScriptedTool::new("look", [ToolAnswer::new().text("ACME: up").metadata("of", "ACME")]);
    let tracing = TracingMiddleware::new().capture(capture);
    let mut agent = traced(model, tracing).system_prompt("You serve ACME.").tool(look).build().unwrap();
    agent.reply("How is ACME?").await.unwrap();
    collector.spans()
}

fn json_of(spans: &Spans, at: usize, name: &str) -> Value {
    serde_json::from_str(&attribute(&spans.0[at], name)).unwrap()
}

#[tokio::test]
async fn nothing_is_captured_unless_one_says_so() {
    let spans = said(Capture::default()).await;
    assert_eq!(spans.0.len(), 4);
    let words = spans.words();
    assert!(!words.contains("ACME"), "{words}");
    for content in ["messages", "arguments", "result\"", "definitions"] {
        assert!(!words.contains(content), "{content}");
    }
}

#[tokio::test]
async fn lengths_tell_the_shape_and_no_text() {
    let spans = said(Capture::lengths()).await;
    let words = spans.words();
    assert!(!words.contains("ACME"), "{words}");
    let asked = json_of(&spans, 3, "gen_ai.input.messages");
    let roles: Vec<_> = asked.as_array().unwrap().iter().map(|msg| msg["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant"]);
    assert_eq!(asked[1]["parts"][0], json!({"type": "text", "length": "How is ACME?".len()}));
    let parts: Vec<_> = asked[2]["parts"].as_array().unwrap().iter().map(|part| &part["type"]).collect();
    assert_eq!(parts, ["reasoning", "tool_call", "tool_call_response"]);
    assert_eq!(attribute(spans.one(TOOL), "gen_ai.tool.call.arguments"), r#"{"length":15}"#);
}

#[tokio::test]
async fn full_content_goes_through_the_redaction_wherever_it_stands() {
    let spans = said(Capture::full().redact(|text| text.replace("ACME", "[customer]"))).await;
    let words = spans.words();
    assert!(!words.contains("ACME"), "{words}");
    for said in
        ["serve [customer]", "How is [customer]?", "[customer] wants", "[customer]: up", "[customer] is well"]
    {
        assert!(words.contains(said), "{said}");
    }
    assert_eq!(attribute(spans.one(TOOL), "gen_ai.tool.call.arguments"), r#"{"who":"[customer]"}"#);
    assert_eq!(json_of(&spans, 2, "gen_ai.tool.call.result")["metadata"]["of"], "[customer]");
}

/// All that is around a text in a message with these words.
fn frame(role: &str, name: &str) -> usize {
    format!(r#"{{"role":"{role}","parts":[{{"type":"text","content":""}}],"name":"{name}","finish_reason":"stop"}},"#).len()
}

#[tokio::test]
async fn what_is_over_the_limit_is_left_out_the_oldest_first_and_the_json_stays_whole() {
    let (collector, _guard) = Collector::listening();
    // The user's message, and ten bytes of the system's.
    let max_bytes = frame("user", "user") + 90 + frame("system", "system") + 10 + 2;
    let tracing = TracingMiddleware::new().capture(Capture::full().max_bytes(max_bytes));
    let model = ScriptedModel::new(["é".repeat(200)]);
    let mut agent = traced(model, tracing).system_prompt("x".repeat(1000)).build().unwrap();
    agent.reply("y".repeat(90)).await.unwrap();
    let spans = collector.spans();
    let chat = spans.one(CHAT);
    let asked: Value = serde_json::from_str(&attribute(chat, "gen_ai.input.messages")).unwrap();
    assert_eq!(asked[1]["parts"][0]["content"], "y".repeat(90));
    let expected = format!("{}… [990 bytes left out]", "x".repeat(10));
    assert_eq!(asked[0]["parts"][0]["content"], expected);
    let answered: Value = serde_json::from_str(&attribute(chat, "gen_ai.output.messages")).unwrap();
    let answer = answered[0]["parts"][0]["content"].as_str().unwrap();
    assert!(answer.starts_with("éé") && answer.ends_with(" bytes left out]"), "{answer}");
}

#[tokio::test]
async fn a_limit_holds_for_all_that_is_written() {
    let (collector, _guard) = Collector::listening();
    let numbers = json!((0..50_000).map(|i| f64::from(i) + 0.5).collect::<Vec<_>>());
    let call = Answer::new().raw_tool_call("c1", "echo", json!({"v": numbers}).to_string());
    let model = ScriptedModel::new([call, "Done".into()]).with_context_size(1_000_000_000);
    let tool = ScriptedTool::new("echo", [ToolAnswer::new().text("x").metadata("v", numbers)]);
    let tracing = TracingMiddleware::new().capture(Capture::full().max_bytes(1000));
    let mut agent = traced(model, tracing).tool(tool).build().unwrap();
    let history: Vec<Msg> = (0..5000).map(|i| Msg::user("user", format!("m{i}"))).collect();
    agent.reply(history).await.unwrap();
    let spans = collector.spans();
    assert_eq!(spans.0.len(), 4);
    for value in spans.0.iter().flat_map(|span| &span.attributes).map(|attribute| attribute.value.as_str()) {
        assert!(value.len() <= 1400, "{} bytes: {value}", value.len());
    }
    let asked = json_of(&spans, 0, "gen_ai.input.messages");
    let [note, .., last] = asked.as_array().unwrap().as_slice() else { panic!("{asked}") };
    assert_eq!(last["parts"][0]["content"], "m4999");
    let left_out = 5000 - (asked.as_array().unwrap().len() - 1);
    let expected = format!("[{left_out} earlier messages left out]");
    assert_eq!(note["parts"], json!([{"type": "text", "content": expected}]));
    let result = json_of(&spans, 2, "gen_ai.tool.call.result");
    assert_eq!((&result["content"][0]["text"], &result["state"]), (&json!("x"), &json!("success")));
    assert!(result["metadata"]["length"].as_u64().unwrap() > 100_000, "{result}");
}

#[tokio::test]
async fn data_of_a_result_is_told_whole_or_where_it_is_redacted_by_its_length() {
    for (capture, expected) in [
        (Capture::full(), json!({"type": "base64", "data": "AAECAwQF", "media_type": "image/png"})),
        (
            Capture::full().redact(str::to_owned),
            json!({"type": "base64", "length": 8, "media_type": "image/png"}),
        ),
    ] {
        let (collector, _guard) = Collector::listening();
        let image = DataBlock::new(Source::base64("AAECAwQF", "image/png"));
        let look = ScriptedTool::new("look", [ToolAnswer::new().chunk(ToolChunk::data(image))]);
        let call = Answer::new().raw_tool_call("c1", "look", "{}");
        let tracing = TracingMiddleware::new().capture(capture);
        let model = ScriptedModel::new([call, "Nice.".into()]);
        traced(model, tracing).tool(look).build().unwrap().reply("Go").await.unwrap();
        let spans = collector.spans();
        assert_eq!(json_of(&spans, 2, "gen_ai.tool.call.result")["content"][0]["source"], expected);
    }
}

/// A reply to a server that quotes what it was asked, and a tool that does so.
async fn failed(capture: Capture) -> Spans {
    let (collector, _guard) = Collector::listening();
    let refused = ModelError::new(
        ErrorType::InvalidRequest,
        format!("messages[1]: 'ACME' is refused{}", ".".repeat(2000)),
    );
    let model =
        ScriptedModel::new([Answer::new().raw_tool_call("c1", "look", "{}"), Answer::new().fails(refused)]);
    let look = ScriptedTool::new("look", [ToolAnswer::new().fails("no ACME here")]);
    let tracing = TracingMiddleware::new().capture(capture);
    traced(model, tracing).tool(look).build().unwrap().reply("How is ACME?").await.unwrap_err();
    collector.spans()
}

fn description(span: &SpanData) -> String {
    match &span.status {
        Status::Error { description } => description.to_string(),
        status => panic!("{status:?}"),
    }
}

#[tokio::test]
async fn texts_of_errors_are_content() {
    for capture in [Capture::off(), Capture::lengths(), Capture::full().error_texts(false)] {
        let level = format!("{capture:?}");
        let spans = failed(capture.redact(|text| text.replace("How is ACME", ""))).await;
        let words = spans.words();
        assert!(!words.contains("is refused"), "{level}: {words}");
        assert_eq!(attribute(spans.one(TOOL), "error.type"), "tool_error", "{level}");
        let reply = spans.one("invoke_agent Friday");
        assert_eq!(attribute(reply, "error.type"), "invalid_request", "{level}");
        assert!(words.contains("exception.type"), "{level}: {words}");
        if level.contains("Lengths") {
            assert_eq!(description(spans.one(TOOL)), "12 bytes");
        } else {
            assert_eq!(description(spans.one(TOOL)), "error", "{level}");
        }
    }
}

#[tokio::test]
async fn texts_of_errors_that_are_told_are_redacted_and_cut_at_every_level() {
    for capture in [Capture::off(), Capture::lengths(), Capture::full()] {
        let level = format!("{capture:?}");
        let capture = capture.error_texts(true).redact(|text| text.replace("ACME", "[customer]"));
        let spans = failed(capture).await;
        let words = spans.words();
        assert!(!words.contains("ACME"), "{level}: {words}");
        assert_eq!(description(spans.one(TOOL)), "no [customer] here", "{level}");
        let reply = description(spans.one("invoke_agent Friday"));
        assert!(reply.contains("'[customer]' is refused"), "{level}: {reply}");
        assert!(reply.len() < 1100 && reply.ends_with(" bytes left out]"), "{level}: {reply}");
    }
}

#[tokio::test]
async fn where_a_layers_error_comes_from_is_no_content() {
    /// Refuses each model call, and says why.
    #[derive(Debug)]
    struct Refuses;

    #[middleware]
    impl Middleware for Refuses {
        async fn on_model_call(
            &self,
            _: Cx<ModelCall>,
            _: ModelRequest,
            _: Next<ModelCall>,
        ) -> Result<ChatResponse> {
            Err(Error::other(std::io::Error::other("ACME may not be asked about")))
        }
    }

    let (collector, _guard) = Collector::listening();
    let model = ScriptedModel::new(["Done"]);
    let agent = traced(model, TracingMiddleware::new()).middleware(Refuses);
    agent.build().unwrap().reply("How is ACME?").await.unwrap_err();
    let spans = collector.spans();
    assert!(!spans.words().contains("ACME"), "{}", spans.words());
    assert_eq!(description(spans.one("invoke_agent Friday")), "on_model_call of `Refuses`");
}
