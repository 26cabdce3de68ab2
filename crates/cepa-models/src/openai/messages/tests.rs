use cepa_core::{HintBlock, Source, TextBlock, ThinkingBlock, ToolResultState};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn style() -> Style {
    Style { thinking: false, names: false, media_types: vec!["image/*"] }
}

fn wire(messages: Vec<Msg>, style: &Style) -> Value {
    let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
    serde_json::to_value(wire_messages(&messages, style)).unwrap()
}

fn text(text: &str) -> ContentBlock {
    TextBlock::new(text).into()
}

fn call(id: &str, input: &str) -> ContentBlock {
    ToolCallBlock::new(id, "f", input).into()
}

fn result(id: &str, output: impl Into<TextOrBlocks>) -> ContentBlock {
    ToolResultBlock::new(id, "f", output, ToolResultState::Success).into()
}

fn hint(text: &str) -> ContentBlock {
    HintBlock::new(text).into()
}

fn wire_call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}})
}

#[test]
fn a_reply_is_split_into_its_rounds() {
    let reply = vec![
        hint("it is noon"),
        ThinkingBlock::new("hm").into(),
        text("let me look"),
        call("a", "{\"x\": 1}"),
        call("b", "{}"),
        result("a", "one"),
        hint("hurry"),
        result("b", "two"),
        text("found"),
        call("c", "{}"),
        result("c", "three"),
        text("done"),
    ];
    let messages =
        vec![Msg::system("system", "be brief"), Msg::user("user", "go"), Msg::assistant("bot", reply)];
    assert_eq!(
        wire(messages, &style()),
        json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "go"},
            {"role": "user", "content": "it is noon"},
            {"role": "assistant", "content": "let me look",
             "tool_calls": [wire_call("a", "{\"x\": 1}"), wire_call("b", "{}")]},
            {"role": "tool", "content": "one", "tool_call_id": "a"},
            {"role": "tool", "content": "two", "tool_call_id": "b"},
            {"role": "user", "content": "hurry"},
            {"role": "assistant", "content": "found", "tool_calls": [wire_call("c", "{}")]},
            {"role": "tool", "content": "three", "tool_call_id": "c"},
            {"role": "assistant", "content": "done"},
        ])
    );
}

#[test]
fn arguments_that_are_no_object_are_not_sent() {
    for input in ["", "{\"x\": ", "[1]", "null", "{} {}", "not json"] {
        let messages = vec![Msg::assistant("bot", vec![call("a", input), result("a", "bad arguments")])];
        assert_eq!(wire(messages, &style())[0]["tool_calls"][0], wire_call("a", "{}"), "{input}");
    }
}

#[test]
fn each_call_has_exactly_one_result() {
    // no result; the same id in two rounds; a result in a later message; a result without its call
    let messages = vec![
        Msg::assistant("bot", vec![call("a", "{}"), call("x", "{}"), result("x", "1")]),
        Msg::assistant("bot", vec![call("x", "{}")]),
        Msg::user("user", "go on"),
        Msg::assistant("bot", vec![result("x", "2"), result("gone", "3"), text("ok")]),
    ];
    assert_eq!(
        wire(messages, &style()),
        json!([
            {"role": "assistant", "content": null, "tool_calls": [wire_call("a", "{}"), wire_call("x", "{}")]},
            {"role": "tool", "content": "No result: this call was not run to its end.", "tool_call_id": "a"},
            {"role": "tool", "content": "1", "tool_call_id": "x"},
            {"role": "assistant", "content": null, "tool_calls": [wire_call("x", "{}")]},
            {"role": "tool", "content": "2", "tool_call_id": "x"},
            {"role": "user", "content": "go on"},
            {"role": "user", "content": "Result of an earlier call of `f`:\n3"},
            {"role": "assistant", "content": "ok"},
        ])
    );
}

#[test]
fn thinking_is_sent_only_when_asked_for() {
    let messages = || vec![Msg::assistant("bot", vec![ThinkingBlock::new("hm").into(), text("hi")])];
    assert_eq!(wire(messages(), &style()), json!([{"role": "assistant", "content": "hi"}]));
    let with_thinking = wire(messages(), &Style { thinking: true, ..style() });
    assert_eq!(with_thinking, json!([{"role": "assistant", "content": "hi", "reasoning_content": "hm"}]));
    let only_thinking = vec![Msg::assistant("bot", ThinkingBlock::new("hm"))];
    assert_eq!(wire(only_thinking, &style()), json!([]));
}

#[test]
fn images_go_to_the_model_from_users_and_from_tools() {
    let image = || DataBlock::new(Source::base64("AAE=", "image/png"));
    let part = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAE="}});
    let messages = vec![
        Msg::user("user", vec![text("look"), image().into()]),
        Msg::assistant("bot", vec![call("a", "{}"), result("a", vec![image().into()])]),
    ];
    let wire = wire(messages, &style());
    assert_eq!(wire[0]["content"], json!([{"type": "text", "text": "look"}, part]));
    assert_eq!(wire[2]["role"], "tool");
    assert!(wire[2]["content"].is_string());
    assert_eq!(wire[3]["role"], "user");
    assert_eq!(wire[3]["content"][1], part);
}

#[test]
fn names_are_sent_when_asked_for_and_possible() {
    let messages = vec![Msg::user("alice", "a"), Msg::user("Bob B.", "b")];
    let wire = wire(messages, &Style { names: true, ..style() });
    assert_eq!(wire[0]["name"], "alice");
    assert_eq!(wire[1].get("name"), None);
}

#[test]
fn a_mark_for_the_cache_is_sent_with_the_last_text_of_its_message() {
    let marked = |mut message: Msg| {
        message.metadata.insert("cache_control", json!({"type": "ephemeral", "ttl": "1h"}));
        message.metadata.insert("other", "not sent");
        message
    };
    let part = |text: &str| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]);
    let image = || DataBlock::new(Source::base64("AAE=", "image/png"));
    let messages = vec![
        marked(Msg::system("system", "be brief")),
        marked(Msg::user("user", vec![text("look"), image().into()])),
        marked(Msg::assistant("bot", vec![call("a", "{}"), result("a", "one")])),
        marked(Msg::assistant("bot", vec![text("hm"), call("b", "{}")])),
        Msg::user("user", "go"),
        marked(Msg::user("user", vec![image().into()])),
    ];
    let wire = wire(messages, &style());
    assert_eq!(wire[0], json!({"role": "system", "content": part("be brief")}));
    assert_eq!(wire[1]["content"][0], part("look")[0]);
    assert_eq!((&wire[2]["content"], &wire[3]["content"]), (&json!(null), &part("one")));
    assert_eq!(wire[4]["content"], "hm");
    assert_eq!(wire[6], json!({"role": "user", "content": "go"}));
    assert!(wire[7]["content"][0].get("cache_control").is_none());
}

/// Any blocks in any order, with few ids, so that they repeat and go missing.
fn any_block() -> impl Strategy<Value = ContentBlock> {
    let id = prop_oneof![Just("a"), Just("b"), Just("c")];
    let input = prop_oneof![Just("{}"), Just("{\"x\": 1}"), Just("{\"x\""), Just("")];
    prop_oneof![
        "[a-z]{0,3}".prop_map(|said| text(&said)),
        "[a-z]{0,3}".prop_map(|said| hint(&said)),
        Just(ThinkingBlock::new("hm").into()),
        (id.clone(), input).prop_map(|(id, input)| call(id, input)),
        (id, "[a-z]{0,3}").prop_map(|(id, output)| result(id, output)),
    ]
}

proptest! {
    #[test]
    fn calls_and_results_are_paired_whatever_comes(
        replies in prop::collection::vec(prop::collection::vec(any_block(), 0..12), 0..4),
        thinking in any::<bool>(),
    ) {
        let calls: usize = replies.iter().flatten().filter(|block| block.as_tool_call().is_some()).count();
        let messages = replies.into_iter().map(|blocks| Msg::assistant("bot", blocks)).collect();
        let wire = wire(messages, &Style { thinking, ..style() });
        let mut wire = wire.as_array().unwrap().iter();
        let mut answered = 0;
        while let Some(message) = wire.next() {
            let role = message["role"].as_str().unwrap();
            prop_assert_ne!(role, "tool", "a result without its call");
            let called = message.get("tool_calls").and_then(Value::as_array);
            prop_assert!(called.is_some() || message["content"].is_string(), "nothing said: {}", message);
            for call in called.into_iter().flatten() {
                let arguments = call["function"]["arguments"].as_str().unwrap();
                prop_assert!(is_object(arguments), "{}", arguments);
                let result = wire.next().expect("a result for each call");
                prop_assert_eq!(&result["role"], "tool");
                prop_assert_eq!(&result["tool_call_id"], &call["id"]);
                answered += 1;
            }
        }
        prop_assert_eq!(answered, calls);
    }
}
