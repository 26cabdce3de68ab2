//! A client rebuilds a reply from its events.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use cepa_core::{
    AgentEvent, ConfirmResult, ContentBlock, DataDelta, ErrorInfo, ErrorType, EventKind as E,
    ExternalExecutionResultEvent, FinishedReason, Id, Msg, OutputBlock, PermissionBehavior, PermissionRule,
    ReplyFinishedReason, Source, Ticket, ToolCallBlock, ToolCallState, ToolOutput, ToolResultBlock,
    ToolResultState, Usage, UserConfirmResultEvent,
};

fn id(text: &str) -> Id {
    text.into()
}

fn reply() -> Msg {
    Msg::assistant("Friday", vec![]).with_id("r")
}

#[track_caller]
fn apply(msg: &mut Msg, kinds: impl IntoIterator<Item = E>) {
    for kind in kinds {
        let event = AgentEvent::new(kind);
        assert!(msg.apply_event(&event), "{event:?}");
    }
}

fn text_start(block: &str) -> E {
    E::TextBlockStart { reply_id: id("r"), block_id: id(block) }
}

fn text(block: &str, delta: &str) -> E {
    E::TextBlockDelta { reply_id: id("r"), block_id: id(block), delta: delta.into() }
}

fn call_start(call: &str) -> E {
    E::ToolCallStart { reply_id: id("r"), tool_call_id: id(call), tool_call_name: "f".into() }
}

fn result_start(call: &str) -> E {
    E::ToolResultStart { reply_id: id("r"), tool_call_id: id(call), tool_call_name: "f".into() }
}

fn result_text(call: &str, delta: &str) -> E {
    E::ToolResultTextDelta { reply_id: id("r"), tool_call_id: id(call), delta: delta.into() }
}

fn result_data(call: &str, block: &str, delta: DataDelta) -> E {
    let media_type = "image/png".into();
    E::ToolResultDataDelta {
        reply_id: id("r"),
        tool_call_id: id(call),
        block_id: id(block),
        media_type,
        delta,
    }
}

fn data(bytes: &str) -> DataDelta {
    DataDelta::Base64(bytes.into())
}

fn call_state(msg: &Msg, call: &str) -> ToolCallState {
    msg.tool_call(&id(call)).unwrap().state
}

#[test]
fn a_whole_reply() {
    let mut msg = reply();
    let usage = |n| E::ModelCallEnd {
        reply_id: id("r"),
        input_tokens: n,
        output_tokens: 1,
        cache_input_tokens: 2,
        cache_creation_input_tokens: 3,
        finished_reason: FinishedReason::Completed,
    };
    apply(
        &mut msg,
        [
            E::ModelCallStart { reply_id: id("r"), model_name: "m".into() },
            E::ThinkingBlockStart { reply_id: id("r"), block_id: id("t") },
            E::ThinkingBlockDelta { reply_id: id("r"), block_id: id("t"), delta: "hm".into() },
            E::ThinkingBlockEnd { reply_id: id("r"), block_id: id("t") },
            text_start("a"),
            text("a", "hel"),
            text_start("b"),
            text("a", "lo"),
            text("b", "cut sho"),
            E::TextBlockEnd { reply_id: id("r"), block_id: id("a"), text: None },
            E::TextBlockEnd { reply_id: id("r"), block_id: id("b"), text: Some("cut".into()) },
            call_start("c"),
            E::ToolCallDelta { reply_id: id("r"), tool_call_id: id("c"), delta: "{".into() },
            E::ToolCallDelta { reply_id: id("r"), tool_call_id: id("c"), delta: "}".into() },
            E::ToolCallEnd { reply_id: id("r"), tool_call_id: id("c") },
            usage(10),
            result_start("c"),
            result_text("c", "ou"),
            result_text("c", "t"),
        ],
    );
    let end = E::ToolResultEnd { reply_id: id("r"), tool_call_id: id("c"), state: ToolResultState::Success };
    let end = AgentEvent::new(end).with_metadata([("k", 1)].into_iter().collect::<cepa_core::Fields>());
    assert!(msg.apply_event(&end));
    apply(
        &mut msg,
        [
            E::HintBlock {
                reply_id: id("r"),
                block_id: id("h"),
                source: Some("x".into()),
                hint: "do".into(),
            },
            usage(20),
        ],
    );
    let end = AgentEvent::new(E::ReplyEnd {
        reply_id: id("r"),
        session_id: id("s"),
        finished_reason: ReplyFinishedReason::Error,
        error: Some(ErrorInfo::new(ErrorType::Upstream, "broken")),
        ticket: Ticket::default(),
    });
    assert!(msg.apply_event(&end));

    assert_eq!(msg.text().as_deref(), Some("hello\ncut"));
    let types: Vec<_> = msg.content.iter().map(ContentBlock::block_type).collect();
    assert_eq!(types, ["thinking", "text", "text", "tool_call", "tool_result", "hint"]);
    let call = msg.tool_call(&id("c")).unwrap();
    assert_eq!((call.input.as_str(), call.state), ("{}", ToolCallState::Finished));
    assert!(call.finished_at.is_some());
    let result = msg.tool_result(&id("c")).unwrap();
    assert_eq!((result.output.text().as_ref(), result.state), ("out", ToolResultState::Success));
    assert_eq!(result.metadata.get("k"), Some(&1.into()));
    let ContentBlock::Hint(hint) = &msg.content[5] else { panic!("{:?}", msg.content[5]) };
    assert_eq!((hint.source.as_deref(), hint.finished_at.as_ref()), (Some("x"), Some(&hint.created_at)));
    let mut expected = Usage::new(30, 2);
    (expected.cache_input_tokens, expected.cache_creation_input_tokens) = (4, 6);
    assert_eq!(msg.usage, Some(expected));
    assert_eq!(msg.finished_at, Some(end.created_at));
    assert_eq!(msg.finished_reason, Some(ReplyFinishedReason::Error));
    assert_eq!(msg.error.unwrap().message, "broken");
}

#[test]
fn data_pieces_join_as_bytes_and_an_address_replaces_them() {
    let delta = |delta| E::DataBlockDelta {
        reply_id: id("r"),
        block_id: id("d"),
        media_type: "audio/wav".into(),
        delta,
    };
    let start = E::DataBlockStart {
        reply_id: id("r"),
        block_id: id("d"),
        media_type: "audio/pcm".into(),
        name: None,
    };
    let mut msg = reply();
    apply(&mut msg, [start, delta(data("AAE=")), delta(data("Ag=="))]);
    let ContentBlock::Data(block) = &msg.content[0] else { panic!("{:?}", msg.content[0]) };
    assert_eq!(block.source, Source::base64("AAEC", "audio/wav"));
    assert!(block.is_audio() && !block.is_image());

    assert!(!msg.apply_event(&AgentEvent::new(delta(data("not base64")))));
    apply(
        &mut msg,
        [
            delta(DataDelta::Url("https://example.com/a".into())),
            E::DataBlockEnd { reply_id: id("r"), block_id: id("d") },
        ],
    );
    let ContentBlock::Data(block) = &msg.content[0] else { panic!("{:?}", msg.content[0]) };
    assert_eq!(block.source, Source::url("https://example.com/a", "audio/wav"));
    assert!(block.finished_at.is_some());
}

#[test]
fn output_of_a_tool_keeps_text_and_data_apart() {
    let mut msg = reply();
    apply(
        &mut msg,
        [
            result_start("c"),
            result_text("c", "a"),
            result_data("c", "d", data("AAE=")),
            result_text("c", "b"),
            result_data("c", "d", data("Ag==")),
            result_data("c", "d", DataDelta::Url("u".into())),
            result_data("c", "e", data("AA==")),
        ],
    );
    let ToolOutput::Blocks(output) = &msg.tool_result(&id("c")).unwrap().output else { panic!("{msg:?}") };
    let output: Vec<_> = output
        .iter()
        .map(|block| match block {
            OutputBlock::Text(text) => text.text.clone(),
            OutputBlock::Data(data) => format!("{} {:?}", data.id, data.source),
            other => panic!("{other:?}"),
        })
        .collect();
    let [base64, more, url] = [("AAEC", 0), ("AA==", 0), ("u", 1)].map(|(data, url)| match url {
        0 => format!("{:?}", Source::base64(data, "image/png")),
        _ => format!("{:?}", Source::url(data, "image/png")),
    });
    assert_eq!(output, ["a", &format!("d {base64}"), "b", &format!("d {url}"), &format!("e {more}")]);
}

#[test]
fn calls_change_state_as_the_agents_own_do() {
    let mut msg = reply();
    apply(&mut msg, ["a", "b", "c"].map(call_start));
    let mut asked = ToolCallBlock::new("a", "f", "");
    asked.suggested_rules = vec![PermissionRule::new("f", PermissionBehavior::Allow, "suggested")];
    let confirm = |call: &str, yes: bool| {
        let call = ToolCallBlock::new(call, "f", "");
        let answer = if yes { ConfirmResult::confirm(call) } else { ConfirmResult::reject(call) };
        E::from(UserConfirmResultEvent::new("r", [answer]))
    };
    let tool_calls = vec![asked.clone(), ToolCallBlock::new("b", "f", "")];
    apply(&mut msg, [E::RequireUserConfirm { reply_id: id("r"), tool_calls }]);
    assert_eq!(msg.tool_call(&id("a")).unwrap().suggested_rules, asked.suggested_rules);
    assert_eq!(call_state(&msg, "b"), ToolCallState::Asking);

    apply(&mut msg, [confirm("a", true), confirm("b", false), confirm("c", true)]);
    assert_eq!(
        ["a", "b", "c"].map(|call| call_state(&msg, call)),
        [
            ToolCallState::Allowed,
            ToolCallState::Finished,
            ToolCallState::Pending, // it was never asked about
        ]
    );

    let tool_calls = vec![ToolCallBlock::new("a", "f", "")];
    apply(&mut msg, [E::RequireExternalExecution { reply_id: id("r"), tool_calls }]);
    assert_eq!(call_state(&msg, "a"), ToolCallState::Submitted);

    // one call that is not there is reported, and does not keep the others from their change
    let tool_calls = ["nope", "c"].map(|call| ToolCallBlock::new(call, "f", "")).into();
    assert!(!msg.apply_event(&AgentEvent::new(E::RequireUserConfirm { reply_id: id("r"), tool_calls })));
    assert_eq!(call_state(&msg, "c"), ToolCallState::Asking);

    let result = |text: &str| {
        let result = ToolResultBlock::new("a", "f", text, ToolResultState::Success);
        E::from(ExternalExecutionResultEvent::new("r", [result]))
    };
    apply(&mut msg, [result("first"), result("late")]);
    assert_eq!(msg.tool_results().count(), 1);
    let result = msg.tool_result(&id("a")).unwrap();
    assert_eq!(result.output.text(), "first");
    assert!(result.finished_at.is_some());
}

#[test]
fn what_does_not_belong_changes_nothing() {
    let mut msg = reply();
    apply(&mut msg, [text_start("a"), call_start("c")]);
    let before = msg.clone();
    for kind in [
        text("nope", "x"),
        text("c", "x"), // the id of a block of another type
        E::ThinkingBlockEnd { reply_id: id("r"), block_id: id("a") },
        E::TextBlockDelta { reply_id: id("other"), block_id: id("a"), delta: "x".into() },
        result_text("c", "x"),
        E::DataBlockEnd { reply_id: id("r"), block_id: id("a") },
    ] {
        assert!(!msg.apply_event(&AgentEvent::new(kind.clone())), "{kind:?}");
        assert_eq!(msg, before);
    }
    let custom = E::Custom { name: "n".into(), value: [("text", "x")].into_iter().collect() };
    let exceeded = E::ExceedMaxIters { reply_id: id("r"), name: "Friday".into() };
    apply(&mut msg, [custom, exceeded]);
    assert_eq!(msg, before);
}
