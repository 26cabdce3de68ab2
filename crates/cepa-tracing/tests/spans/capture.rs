//! What of the content goes into spans.

use cepa_core::{
    DataBlock, Source, ToolChunk,
    serde_json::{self, Value, json},
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_tracing::{Capture, TracingMiddleware};

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

#[tokio::test]
async fn what_is_over_the_limit_is_left_out_the_oldest_first_and_the_json_stays_whole() {
    let (collector, _guard) = Collector::listening();
    let tracing = TracingMiddleware::new().capture(Capture::full().max_bytes(100));
    let model = ScriptedModel::new(["é".repeat(80)]);
    let mut agent = traced(model, tracing).system_prompt("x".repeat(1000)).build().unwrap();
    agent.reply("y".repeat(90)).await.unwrap();
    let spans = collector.spans();
    let chat = spans.one(CHAT);
    let asked: Value = serde_json::from_str(&attribute(chat, "gen_ai.input.messages")).unwrap();
    assert_eq!(asked[1]["parts"][0]["content"], "y".repeat(90));
    assert_eq!(asked[0]["parts"][0]["content"], format!("{}… [990 bytes left out]", "x".repeat(10)));
    let answered: Value = serde_json::from_str(&attribute(chat, "gen_ai.output.messages")).unwrap();
    assert_eq!(answered[0]["parts"][0]["content"], format!("{}… [60 bytes left out]", "é".repeat(50)));
}

#[tokio::test]
async fn data_of_a_result_is_told_whole_or_by_its_length() {
    for (capture, expected) in [
        (Capture::full(), json!({"type": "base64", "data": "AAECAwQF", "media_type": "image/png"})),
        (Capture::full().max_bytes(7), json!({"type": "base64", "length": 8, "media_type": "image/png"})),
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
