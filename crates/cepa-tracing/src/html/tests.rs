use std::collections::VecDeque;

use super::{page::page, reply::Shown};
use crate::{
    names,
    view::{Node, Tree, scripted::weather},
};

fn shown(tree: &Tree) -> String {
    page(&VecDeque::from([Shown::new(tree, 1)]), 1)
}

/// What stands in the page's body, without its tags.
fn said(tree: &Tree) -> String {
    let page = shown(tree);
    let body = page.split_once("<main>").unwrap().1.split_once("</main>").unwrap().0;
    let texts = body.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("|")
}

#[test]
fn a_reply_says_what_it_was() {
    let said = said(&weather());
    assert!(
        said.contains("2026-01-02 03:04:05 UTC|2.41 s|732 → 24 tokens|2 model calls|1 tool call|"),
        "{said}"
    );
    assert!(said.contains("GET /v1/stations"), "{said}");
    assert!(said.contains("ERROR tool_error"), "{said}");
    assert!(said.contains("no station near"), "{said}");
    assert!(said.contains("Capture::full()"), "{said}");
}

#[test]
fn bars_are_at_their_place_in_time() {
    let page = shown(&Tree::scripted([
        Node::scripted(None, "invoke_agent Friday", 0, 1000),
        Node::scripted(0, "chat gpt-5", 250, 750).with(names::TIME_TO_FIRST_CHUNK, 0.125),
    ]));
    assert!(page.contains("--at:0.000%;--for:100.000%;--first:0.000%"));
    assert!(page.contains("--at:25.000%;--for:50.000%;--first:25.000%"));
}

#[test]
fn what_was_captured_is_shown_as_what_it_is() {
    let messages = r#"[
        {"role": "user", "name": "ann", "parts": [{"type": "text", "content": "Hi"}], "finish_reason": "stop"},
        {"role": "assistant", "parts": [
            {"type": "reasoning", "content": "Hm"},
            {"type": "tool_call", "id": "1", "name": "weather", "arguments": {"city": "Oslo"}},
            {"type": "tool_call_response", "id": "1", "response": [{"type": "text", "text": "snow", "id": "2"}]},
            {"type": "blob", "content": "AAAA", "media_type": "image/png", "modality": "image"},
            {"type": "text", "length": 17}
        ]},
        {"role": "user", "name": "{\"label\": \"System\", \"sublabel\": \"State\"}", "parts": [{"type": "text", "content": "It is late"}]}
    ]"#;
    let result =
        r#"{"content": [{"type": "text", "text": "cold"}], "state": "success", "metadata": {}, "id": "1"}"#;
    let said = said(&Tree::scripted([
        Node::scripted(None, "invoke_agent Friday", 0, 10).with(names::INPUT_MESSAGES, messages),
        Node::scripted(0, "execute_tool a", 0, 5)
            .with(names::TOOL_CALL_ARGUMENTS, r#"{"a":"#)
            .with(names::TOOL_CALL_RESULT, result),
        Node::scripted(0, "execute_tool b", 5, 10).with(names::TOOL_CALL_ARGUMENTS, r#"{"length":42}"#),
    ]));
    for expected in [
        "user|ann|Hi|",
        "|thinking|Hm|calls |weather|{&quot;city&quot;:&quot;Oslo&quot;}|result|snow|image/png, 4 bytes as base64|text, 17 bytes, not captured|",
        "|System, State|It is late|",
        "|Arguments|{&quot;a&quot;:|Result|cold|",
        "|Arguments|42 bytes, not captured|",
    ] {
        assert!(said.contains(expected), "{expected} in {said}");
    }
    assert!(!said.contains("Capture::full()"), "{said}");
}

#[test]
fn earlier_messages_are_a_click_away() {
    let message =
        |number| format!(r#"{{"role": "user", "parts": [{{"type": "text", "content": "{number}."}}]}}"#);
    let messages = format!("[{}]", (1..=10).map(message).collect::<Vec<_>>().join(","));
    let tree =
        Tree::scripted([Node::scripted(None, "invoke_agent F", 0, 1).with(names::INPUT_MESSAGES, messages)]);
    assert!(said(&tree).contains("|Input|7 earlier|user|1.|"), "{}", said(&tree));
    // The last is what was asked.
    assert!(shown(&tree).contains(r#"<span class="question"><bdi>10.</bdi>"#));
}

#[test]
fn layers_and_hooks_stand_with_their_agent() {
    let onion = |name: &str| {
        format!("Tracing: on_reply, on_acting\n  Skills (mine): on_reply; tools: skill\n    {name}")
    };
    let hooks = r#"{"on_acting": {"calls": 2, "seconds": 0.5}, "on_reply": {"calls": 1, "seconds": 1.5},
        "tools": {"delegate": {"calls": 1, "seconds": 0.25}}}"#;
    let said = said(&Tree::scripted([
        Node::scripted(None, "invoke_agent Friday", 0, 10).says(
            "cepa_tracing::onion",
            "onion",
            &onion("Friday"),
        ),
        Node::scripted(0, "mine", 0, 10).says("cepa_tracing::timing", "hooks", hooks),
        Node::scripted(1, "invoke_agent Robin", 0, 9).says("cepa_tracing::onion", "onion", &onion("Robin")),
        Node::scripted(2, "step", 0, 9).says("mine", "message", "an event"),
    ]));
    let (robin, friday) = said.rsplit_once("|Layers|").unwrap();
    assert_eq!(
        friday,
        "Tracing|on_reply|on_acting|Skills (mine)|on_reply|skill|Friday|\
         Hooks|Hook|Calls|Time|on_reply|1|1.50 s|on_acting|2|500 ms|Tool|Calls|Time|delegate|1|250 ms"
    );
    assert!(
        robin.contains("|Layers|Tracing|on_reply|on_acting|Skills (mine)|on_reply|skill|Robin|"),
        "{robin}"
    );
    assert!(robin.contains("|Events|0 µs|INFO|an event |mine|"), "{robin}");
    assert_eq!(said.matches("Events").count(), 1, "{said}");
}

#[test]
fn content_never_becomes_a_part_of_the_page() {
    let evil = "{{script}}</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\0\x1b\u{202e}";
    let node = |parent: Option<usize>| {
        let text = cepa_core::serde_json::json!([{"role": evil, "name": evil, "parts": [{"type": evil, evil: evil}]}]);
        let node = Node::scripted(parent, evil, 0, 1).failed(evil, evil).with(names::AGENT_NAME, evil);
        node.with(names::INPUT_MESSAGES, text.to_string())
            .with(names::OUTPUT_MESSAGES, evil)
            .with(names::TOOL_CALL_ARGUMENTS, evil)
            .with(names::TOOL_DEFINITIONS, evil)
            .with(names::HITL_PENDING_TOOLS, format!("[{evil:?}]"))
            .with("mine", evil)
            .says("mine", "message", evil)
            .says("cepa_tracing::onion", "onion", evil)
            .says("cepa_tracing::timing", "hooks", evil)
    };
    let page = shown(&Tree::scripted([node(None), node(Some(0))]));
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</script").count(), 1);
    assert!(!page.contains("<img"));
    assert!(page.contains("{{script}}&lt;/script&gt;"));
    assert!(!page.contains(['\0', '\x1b', '\u{202e}']));
}

#[test]
fn all_of_a_page_is_in_it() {
    let page = shown(&weather());
    assert!(page.contains("default-src 'none'"));
    for elsewhere in ["http:", "https:", "url(", "@import", "src=", "href="] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}

#[test]
fn the_last_of_many_replies_are_counted() {
    let replies: VecDeque<Shown> = [9, 8].map(|number| Shown::new(&weather(), number)).into();
    let page = page(&replies, 9);
    assert!(page.contains("The last 2 of 9 replies, the newest first"));
    assert!(page.contains(r#"<details class="reply" id="r9" open>"#));
    assert!(page.contains(r#"<details class="reply" id="r8">"#));
}
