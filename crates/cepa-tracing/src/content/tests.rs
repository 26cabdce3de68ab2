//! What holds whatever is said.

use cepa_core::{
    DataBlock, HintBlock, Id, OutputBlock, Role, Source, TextBlock, ThinkingBlock, ToolResultState,
    serde_json::{Value, json},
};
use proptest::{collection::vec, prelude::*};

use super::*;

/// How much notes may take over the limit, as `Capture::max_bytes` says.
const NOTES: usize = 400;

/// In every text that somebody said.
const SECRET: &str = "S3CRET";

/// A text with all that JSON escapes, mostly short.
fn text() -> impl Strategy<Value = String> {
    let any = prop_oneof![4 => "[a-zé\"\\\\\n\u{1}😀]{0,12}", 1 => "[a-z\n]{0,400}"];
    any.prop_map(|text| format!("{text}{SECRET}"))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn data() -> impl Strategy<Value = DataBlock> {
    let source = prop_oneof![
        (0..60_usize).prop_map(|bytes| Source::base64("QUJD".repeat(bytes), "image/png")),
        text().prop_map(|text| Source::url(format!("https://example.com/{text}"), "audio/wav")),
    ];
    (source, prop::option::of(text())).prop_map(|(source, name)| {
        let mut block = DataBlock::new(source);
        block.name = name;
        block
    })
}

fn output() -> impl Strategy<Value = Vec<OutputBlock>> {
    let block = prop_oneof![
        text().prop_map(|text| OutputBlock::Text(TextBlock::new(text))),
        data().prop_map(OutputBlock::Data)
    ];
    vec(block, 0..4)
}

fn input() -> impl Strategy<Value = String> {
    prop_oneof![value().prop_map(|value| value.to_string()), text(), Just("{}".to_owned())]
}

fn block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        text().prop_map(|text| ContentBlock::Text(TextBlock::new(text))),
        text().prop_map(|text| ContentBlock::Thinking(ThinkingBlock::new(text))),
        (text(), input()).prop_map(|(name, input)| ContentBlock::ToolCall(ToolCallBlock::new(
            Id::new(),
            name,
            input
        ))),
        text().prop_map(|text| ContentBlock::ToolResult(ToolResultBlock::new(
            Id::new(),
            "t",
            text,
            ToolResultState::Success
        ))),
        output().prop_map(|output| ContentBlock::ToolResult(ToolResultBlock::new(
            Id::new(),
            "t",
            output,
            ToolResultState::Success
        ))),
        data().prop_map(ContentBlock::Data),
        (text(), text())
            .prop_map(|(hint, source)| ContentBlock::Hint(HintBlock::new(hint).with_source(source))),
        output().prop_map(|output| ContentBlock::Hint(HintBlock::new(output))),
    ]
}

fn messages() -> impl Strategy<Value = Vec<Arc<Msg>>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let msg = (text(), role, vec(block(), 0..5))
        .prop_map(|(name, role, blocks)| Arc::new(Msg::new(name, role, blocks)));
    vec(msg, 0..12)
}

fn response() -> impl Strategy<Value = ToolResponse> {
    (output(), vec((text(), value()), 0..3)).prop_map(|(output, metadata)| {
        metadata
            .into_iter()
            .fold(ToolResponse::own(output), |response, (key, value)| response.with_metadata(key, value))
    })
}

/// Each attribute of content, of these.
fn attributes(
    capture: &Capture,
    messages: &[Arc<Msg>],
    call: &ToolCallBlock,
    response: &ToolResponse,
) -> Vec<String> {
    let writer = || Writer::new(capture).unwrap();
    let result = ToolResultBlock::new("c", "t", response.content.blocks().to_vec(), ToolResultState::Success);
    let mut attributes =
        vec![writer().messages(messages), writer().result(call, response), writer().external_result(&result)];
    if let Some(last) = messages.last() {
        attributes.push(writer().message_of_reply(last));
        attributes.push(writer().answer(&last.content, "stop"));
    }
    attributes
}

proptest! {
    #[test]
    fn an_attribute_is_json_and_within_its_limit(
        messages in messages(), name in text(), input in input(), response in response(),
        max_bytes in 0..3000_usize, level in 0..3_usize,
    ) {
        let capture = [Capture::lengths(), Capture::full(), Capture::full().redact(|text| text.replace('e', "\n"))];
        let capture = capture[level].clone().max_bytes(max_bytes);
        let call = ToolCallBlock::new("c1", name, input);
        for attribute in attributes(&capture, &messages, &call, &response) {
            prop_assert!(serde_json::from_str::<Value>(&attribute).is_ok(), "{attribute}");
            prop_assert!(attribute.len() <= max_bytes + NOTES, "{} bytes of {max_bytes}: {attribute}", attribute.len());
        }
        let arguments = Writer::new(&capture).unwrap().arguments(&call);
        prop_assert!(arguments.len() <= max_bytes + NOTES, "{} bytes of {max_bytes}: {arguments}", arguments.len());
        prop_assert!(serde_json::from_str::<Value>(&arguments).is_ok() || arguments == call.input);
    }

    #[test]
    fn where_there_is_room_nothing_is_left_out(messages in messages()) {
        let writer = |max_bytes| Capture::full().max_bytes(max_bytes);
        let whole = Writer::new(&writer(usize::MAX)).unwrap().messages(&messages);
        prop_assert!(!whole.contains("left out"), "{whole}");
        // Commas are counted that are not there, one a list.
        let room = whole.len() * 11 / 10;
        prop_assert_eq!(&Writer::new(&writer(room)).unwrap().messages(&messages), &whole);
    }

    #[test]
    fn what_is_left_out_is_older_than_what_is_told(messages in messages(), max_bytes in 0..3000_usize) {
        let written = |max_bytes| -> Vec<Value> {
            let capture = Capture::full().max_bytes(max_bytes);
            serde_json::from_str(&Writer::new(&capture).unwrap().messages(&messages)).unwrap()
        };
        let (whole, cut) = (written(usize::MAX), written(max_bytes));
        // All but the oldest that is told, which may be cut, and what is longer than all of it.
        let said: Vec<_> = cut.iter().rev().take_while(|message| !message.to_string().contains("left out")).collect();
        for (told, message) in said.iter().zip(whole.iter().rev()) {
            let (told, message) = (told.to_string(), message.to_string());
            prop_assert!(told == message || told.contains("\"length\""), "{told} of {message}");
        }
        let missing = cut.first().and_then(|note| note["parts"][0]["content"].as_str());
        let missing = missing.and_then(|note| note.strip_prefix('[')?.split_once(" earlier message")?.0.parse().ok());
        let missing: usize = missing.unwrap_or(0);
        prop_assert_eq!(cut.len() - usize::from(missing > 0) + missing, whole.len());
    }

    #[test]
    fn nothing_that_somebody_said_goes_around_the_redaction(
        messages in messages(), name in text(), input in input(), response in response(),
        max_bytes in prop_oneof![0..3000_usize, Just(usize::MAX)],
    ) {
        let capture = Capture::full().max_bytes(max_bytes).redact(|text| text.replace(SECRET, ""));
        let call = ToolCallBlock::new("c1", name, input);
        let mut attributes = attributes(&capture, &messages, &call, &response);
        attributes.push(Writer::new(&capture).unwrap().arguments(&call));
        for attribute in attributes {
            prop_assert!(!attribute.contains(SECRET), "{attribute}");
            prop_assert!(!attribute.contains("QUJD"), "{attribute}");
        }
    }

    #[test]
    fn lengths_hold_no_text(messages in messages(), input in input(), response in response()) {
        // Who speaks is a name and no text.
        let capture = Capture::lengths().redact(|text| text.replace(SECRET, ""));
        for attribute in attributes(&capture, &messages, &ToolCallBlock::new("c1", "t", input), &response) {
            prop_assert!(!attribute.contains(SECRET) && !attribute.contains("QUJD"), "{attribute}");
        }
    }
}

#[test]
fn tools_are_offered_in_spans_up_to_the_limit() {
    let tools: Vec<ToolSchema> =
        (0..100).map(|n| ToolSchema::new(format!("tool_{n}"), "Does it.", json!({}))).collect();
    let written = |max_bytes| -> Vec<Value> {
        let capture = Capture::full().max_bytes(max_bytes);
        let text = Writer::new(&capture).unwrap().tool_definitions(&tools);
        assert!(text.len() <= max_bytes.saturating_add(NOTES), "{text}");
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(written(usize::MAX).len(), 100);
    let some = written(1000);
    let (last, first) = some.split_last().unwrap();
    assert_eq!(
        first[0],
        json!({"type": "function", "name": "tool_0", "description": "Does it.", "parameters": {}})
    );
    assert_eq!(
        *last,
        json!({"type": "left_out", "name": format!("[{} more tools left out]", 100 - first.len())})
    );
}

#[test]
fn data_that_is_too_long_leaves_what_was_before_it() {
    let image = DataBlock::new(Source::base64("A".repeat(5000), "image/png"));
    let messages =
        [Msg::user("user", "Look!"), Msg::user("user", vec![ContentBlock::Data(image)])].map(Arc::new);
    let capture = Capture::full().max_bytes(400);
    let written: Value = serde_json::from_str(&Writer::new(&capture).unwrap().messages(&messages)).unwrap();
    assert_eq!(written[0]["parts"], json!([{"type": "text", "content": "Look!"}]));
    let expected = json!([{"type": "blob", "length": 5000, "media_type": "image/png", "modality": "image"}]);
    assert_eq!(written[1]["parts"], expected);
}

#[test]
fn of_arguments_that_are_too_long_there_is_the_beginning() {
    let call =
        ToolCallBlock::new("c1", "write", format!(r#"{{"path": "a.txt", "text": "{}"}}"#, "x".repeat(500)));
    let capture = Capture::full().max_bytes(30);
    let written = Writer::new(&capture).unwrap().arguments(&call);
    assert_eq!(written, r#""{\"path\": \"a.txt\", \"text\"… [505 bytes left out]""#);
}
