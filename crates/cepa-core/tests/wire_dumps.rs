//! Every dump of AgentScope 2.0.11 is read and written back byte for byte, key order and all. (Free-form JSON, such as a
//! schema, has its keys sorted: that is how `serde_json` keeps a map.)
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::fmt::Debug;

use cepa_core::{
    AgentEvent, AgentState, ChatUsage, ContentBlock, EventKind, Msg, PermissionRule, ToolChoice,
    ToolChoiceMode,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

const MESSAGES: &str = include_str!("dumps/messages.jsonl");
const BLOCKS: &str = include_str!("dumps/blocks.jsonl");
const EVENTS: &str = include_str!("dumps/events.jsonl");
const STATE: &str = include_str!("dumps/state.json");

/// Reads each line, expects it back the same, and also through `serde_json::Value`, whose keys come sorted and so
/// put the `type` behind other fields.
fn round_trip<T: Serialize + DeserializeOwned>(lines: &str) -> Vec<T> {
    let read: Vec<T> = lines
        .lines()
        .map(|line| {
            let read: T = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            assert_eq!(serde_json::to_string(&read).unwrap(), line);

            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), value);
            let sorted = value.to_string();
            let read_sorted: T = serde_json::from_str(&sorted).unwrap_or_else(|e| panic!("{e}: {sorted}"));
            assert_eq!(serde_json::to_string(&read_sorted).unwrap(), line);
            let read_value: T = serde_json::from_value(value).unwrap_or_else(|e| panic!("{e}: {line}"));
            assert_eq!(serde_json::to_string(&read_value).unwrap(), line);
            let read_bytes: T = serde_json::from_reader(line.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&read_bytes).unwrap(), line);
            read
        })
        .collect();
    assert!(!read.is_empty());
    read
}

fn debug<T: Debug>(values: &[T]) -> String {
    values.iter().map(|value| format!("{value:#?}\n")).collect()
}

#[test]
fn messages() {
    insta::assert_snapshot!(debug(&round_trip::<Msg>(MESSAGES)));
}

#[test]
fn blocks() {
    let blocks = round_trip::<ContentBlock>(BLOCKS);
    let types: Vec<_> = blocks.iter().map(ContentBlock::block_type).collect();
    let expected =
        ["text", "thinking", "tool_call", "tool_result", "tool_result", "data", "data", "hint", "hint"];
    assert_eq!(types, expected);
    insta::assert_snapshot!(debug(&blocks));
}

#[test]
fn events() {
    let events = round_trip::<AgentEvent>(EVENTS);
    for (event, line) in events.iter().zip(EVENTS.lines()) {
        assert!(line.contains(&format!(r#""type":"{}""#, event.event_type())), "{line}");
        match event.reply_id() {
            Some(id) => assert_eq!(*id, "r1"),
            None => assert!(matches!(event.kind, EventKind::Custom { .. })),
        }
    }
    let kinds: std::collections::HashSet<_> = events.iter().map(AgentEvent::event_type).collect();
    assert_eq!(kinds.len(), 28, "one dump per kind of event");
    insta::assert_snapshot!(debug(&events));
}

#[test]
fn state() {
    insta::assert_snapshot!(debug(&round_trip::<AgentState>(STATE)));
}

#[test]
fn rule_usage_and_tool_choice() {
    round_trip::<PermissionRule>(include_str!("dumps/permission_rule.json"));
    round_trip::<ChatUsage>(include_str!("dumps/chat_usage.json"));
    let forced = round_trip::<ToolChoice>(include_str!("dumps/tool_choice.json"));
    assert_eq!(forced, [ToolChoice::tool("search")]);
    for (choice, json) in [
        (ToolChoice::auto(), r#"{"mode":"auto","tools":null}"#),
        (ToolChoice::none(), r#"{"mode":"none","tools":null}"#),
        (ToolChoice::required(), r#"{"mode":"required","tools":null}"#),
        (ToolChoice::required().with_tools(["a", "b"]), r#"{"mode":"required","tools":["a","b"]}"#),
    ] {
        assert_eq!(serde_json::to_string(&choice).unwrap(), json);
        assert_eq!(serde_json::from_str::<ToolChoice>(json).unwrap(), choice);
    }
    assert_eq!(ToolChoice::default().mode, ToolChoiceMode::Auto);
}
