//! What is written reads back and is written the same again, whatever is in it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::sync::Arc;

use cepa_core::{
    AgentEvent, AgentState, ConfirmResult, ContentBlock, DataBlock, DataDelta, ErrorInfo, ErrorType,
    EventKind, ExternalExecutionResultEvent, Fields, FinishedReason, HintBlock, Id, MiddlewareKey, Msg,
    OutputBlock, PermissionBehavior, PermissionRule, ReadCacheEntry, ReplyFinishedReason, Role, Source, Task,
    TextBlock, TextOrBlocks, ThinkingBlock, Ticket, Timestamp, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultState, Usage, UserConfirmResultEvent, UserInterruptEvent,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

fn text() -> impl Strategy<Value = String> {
    // `.` leaves newlines and control characters out
    prop_oneof![any::<String>(), ".{0,12}", "[\\x00-\\x1f\"\\\\é五😀]{0,6}"]
}

fn id() -> impl Strategy<Value = Id> {
    prop_oneof![
        Just(()).prop_map(|()| Id::new()),
        "[0-9a-f]{31,33}".prop_map(Id::from),
        text().prop_map(Id::from)
    ]
}

fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        any::<i64>().prop_map(Timestamp::from_micros),
        (0..4_000_000_000_000_000_i64).prop_map(Timestamp::from_micros),
        text().prop_map(Timestamp::from),
        "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{6})?"
            .prop_map(Timestamp::from),
    ]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1000..1000_i32).prop_map(|whole| Value::from(f64::from(whole))),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

fn fields() -> impl Strategy<Value = Fields> {
    prop_oneof![
        3 => Just(Fields::new()),
        // a prefix keeps them apart from the fields that are known
        1 => vec(("x-[a-z]{0,4}", json()), 0..3).prop_map(Fields::from_iter),
    ]
}

fn name() -> impl Strategy<Value = Arc<str>> {
    text().prop_map(Arc::from)
}

prop_compose! {
    fn text_block()(text in text(), id in id(), at in time(), end in option::of(time()), extra in fields())
        -> TextBlock
    {
        let mut block = TextBlock::new(text).with_id(id);
        (block.created_at, block.finished_at, block.extra) = (at, end, extra);
        block
    }
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        (text(), name()).prop_map(|(data, media_type)| Source::base64(data, media_type)),
        (text(), name()).prop_map(|(url, media_type)| Source::url(url, media_type)),
    ]
}

prop_compose! {
    fn data_block()(source in source(), id in id(), name in option::of(text()), extra in fields()) -> DataBlock {
        let mut block = DataBlock::new(source).with_id(id);
        (block.name, block.extra) = (name, extra);
        block
    }
}

fn text_or_blocks() -> impl Strategy<Value = TextOrBlocks> {
    let block =
        prop_oneof![text_block().prop_map(OutputBlock::from), data_block().prop_map(OutputBlock::from)];
    prop_oneof![text().prop_map(TextOrBlocks::from), vec(block, 0..3).prop_map(TextOrBlocks::from)]
}

prop_compose! {
    fn rule()(
        tool in name(),
        content in option::of(text()),
        behavior in select(vec![PermissionBehavior::Allow, PermissionBehavior::Deny, PermissionBehavior::Ask]),
        extra in fields(),
    ) -> PermissionRule {
        let mut rule = PermissionRule::new(tool, behavior, "session");
        (rule.rule_content, rule.extra) = (content, extra);
        rule
    }
}

prop_compose! {
    fn call()(
        id in id(),
        name in name(),
        input in text(),
        state in select(vec![ToolCallState::Pending, ToolCallState::Asking, ToolCallState::Submitted]),
        rules in vec(rule(), 0..2),
        at in time(),
        extra in fields(),
    ) -> ToolCallBlock {
        let mut block = ToolCallBlock::new(id, name, input).with_state(state);
        (block.suggested_rules, block.created_at, block.extra) = (rules, at, extra);
        block
    }
}

prop_compose! {
    fn result()(
        id in id(),
        name in name(),
        output in text_or_blocks(),
        state in select(vec![ToolResultState::Success, ToolResultState::Denied, ToolResultState::Running]),
        metadata in fields(),
        end in option::of(time()),
    ) -> ToolResultBlock {
        let mut block = ToolResultBlock::new(id, name, output, state).with_metadata(metadata);
        block.finished_at = end;
        block
    }
}

fn block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        text_block().prop_map(Into::into),
        (text(), fields()).prop_map(|(thinking, extra)| {
            let mut block = ThinkingBlock::new(thinking);
            block.extra = extra;
            block.into()
        }),
        call().prop_map(Into::into),
        result().prop_map(Into::into),
        data_block().prop_map(Into::into),
        (text_or_blocks(), option::of(text())).prop_map(|(hint, source)| {
            let mut block = HintBlock::new(hint);
            block.source = source;
            block.into()
        }),
    ]
}

prop_compose! {
    fn msg()(
        name in name(),
        content in vec(block(), 0..4),
        id in id(),
        metadata in fields(),
        at in time(),
        usage in option::of((any::<u64>(), any::<u64>(), fields())),
        end in option::of((time(), select(vec![ReplyFinishedReason::Completed, ReplyFinishedReason::Error]))),
        output in option::of(fields()),
        error in option::of(text()),
        extra in fields(),
    ) -> Msg {
        let mut msg = Msg::new(name, Role::Assistant, content).with_id(id).with_metadata(metadata);
        msg.created_at = at;
        msg.usage = usage.map(|(input, output, extra)| {
            let mut usage = Usage::new(input, output);
            usage.extra = extra;
            usage
        });
        (msg.finished_at, msg.finished_reason) = end.unzip();
        msg.structured_output = output.map(Into::into);
        msg.error = error.map(|text| ErrorInfo::new(ErrorType::RateLimit, text));
        msg.extra = extra;
        msg
    }
}

fn delta() -> impl Strategy<Value = DataDelta> {
    prop_oneof![text().prop_map(DataDelta::Base64), text().prop_map(DataDelta::Url)]
}

fn kind() -> impl Strategy<Value = EventKind> {
    use EventKind as E;
    let finished_reason = ReplyFinishedReason::Interrupted;
    prop_oneof![
        (id(), id(), name()).prop_map(|(session_id, reply_id, name)| {
            E::ReplyStart { session_id, reply_id, name, role: Role::Assistant }
        }),
        (id(), id(), option::of(text())).prop_map(move |(session_id, reply_id, error)| {
            let error = error.map(|text| ErrorInfo::new(ErrorType::Setup, text));
            E::ReplyEnd { session_id, reply_id, finished_reason, error, ticket: Ticket::default() }
        }),
        (id(), any::<[u64; 4]>()).prop_map(|(reply_id, [i, o, c, n])| E::ModelCallEnd {
            reply_id,
            input_tokens: i,
            output_tokens: o,
            cache_input_tokens: c,
            cache_creation_input_tokens: n,
            finished_reason: FinishedReason::Interrupted,
        }),
        (id(), id(), text()).prop_map(|(reply_id, block_id, delta)| E::TextBlockDelta {
            reply_id,
            block_id,
            delta
        }),
        (id(), id(), option::of(text()))
            .prop_map(|(reply_id, block_id, text)| { E::TextBlockEnd { reply_id, block_id, text } }),
        (id(), id(), name(), delta()).prop_map(|(reply_id, block_id, media_type, delta)| {
            E::DataBlockDelta { reply_id, block_id, media_type, delta }
        }),
        (id(), id(), id(), name(), delta()).prop_map(
            |(reply_id, tool_call_id, block_id, media_type, delta)| E::ToolResultDataDelta {
                reply_id,
                tool_call_id,
                block_id,
                media_type,
                delta,
            }
        ),
        (id(), id(), option::of(text()), text_or_blocks()).prop_map(|(reply_id, block_id, source, hint)| {
            E::HintBlock { reply_id, block_id, source, hint }
        }),
        (id(), vec(call(), 0..2))
            .prop_map(|(reply_id, tool_calls)| { E::RequireUserConfirm { reply_id, tool_calls } }),
        (id(), call(), option::of(vec(rule(), 0..2)), option::of(text())).prop_map(
            |(reply_id, call, rules, reason)| {
                let mut answer = ConfirmResult::confirm(call);
                (answer.rules, answer.reason) = (rules, reason);
                UserConfirmResultEvent::new(reply_id, [answer]).into()
            }
        ),
        (id(), vec(result(), 0..2))
            .prop_map(|(reply_id, results)| ExternalExecutionResultEvent::new(reply_id, results).into()),
        id().prop_map(|reply_id| UserInterruptEvent::new(reply_id).into()),
        (name(), fields()).prop_map(|(name, value)| E::Custom { name, value }),
    ]
}

prop_compose! {
    fn event()(kind in kind(), at in time(), metadata in fields(), extra in fields()) -> AgentEvent {
        let mut event = AgentEvent::new(kind).with_metadata(metadata);
        (event.created_at, event.extra) = (at, extra);
        event
    }
}

prop_compose! {
    fn state()(
        session in id(),
        summary in text_or_blocks(),
        context in vec(msg(), 0..3),
        rounds in any::<u32>(),
        schema in option::of(fields()),
        rules in vec(rule(), 0..3),
        files in vec((text(), vec(text(), 0..3), 0.0..4e9), 0..3),
        tasks in vec((text(), text(), vec(id(), 0..2)), 0..2),
        kept in vec((text(), json()), 0..3),
        extra in fields(),
    ) -> AgentState {
        let mut state = AgentState::with_session_id(session);
        state.summary = summary;
        state.context = context.into_iter().map(Arc::new).collect();
        state.reply_context.cur_iter = rounds;
        state.reply_context.structured_schema = schema.map(|schema| serde_json::to_value(schema).unwrap());
        for rule in rules {
            let by_tool = &mut state.permission_context.ask_rules;
            by_tool.entry(rule.tool_name.to_string()).or_default().push(rule);
        }
        state.tool_context.read_file_cache =
            files.into_iter().map(|(path, lines, at)| ReadCacheEntry::new(path, lines, at)).collect();
        state.tasks_context.tasks = tasks
            .into_iter()
            .map(|(subject, description, blocks)| {
                let mut task = Task::new(subject, description);
                task.blocks = blocks;
                task
            })
            .collect();
        for (key, value) in kept {
            state.middle_context.set(MiddlewareKey::from(key), value);
        }
        state.extra = extra;
        state
    }
}

fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    let sorted = serde_json::to_value(value).unwrap();
    let read_sorted: T = serde_json::from_value(sorted).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(serde_json::to_string(&read_sorted).unwrap(), text);
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages(msg in msg()) {
        prop_assert_eq!(again(&msg), msg);
    }

    #[test]
    fn events(event in event()) {
        prop_assert_eq!(again(&event), event);
    }

    #[test]
    fn states(state in state()) {
        let read = again(&state);
        prop_assert_eq!(read.context, state.context);
        prop_assert_eq!(read.permission_context, state.permission_context);
        prop_assert_eq!(read.tool_context, state.tool_context);
    }

    #[test]
    fn ids_and_times_are_their_text(id in id(), time in time()) {
        prop_assert_eq!(Id::from(id.to_string()), id.clone());
        prop_assert_eq!(Timestamp::from(time.to_string()), time.clone());
        prop_assert_eq!(again(&(id.clone(), time.clone())), (id, time));
    }

    #[test]
    fn ids_sort_as_their_texts(a in id(), b in id()) {
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        prop_assert_eq!(a == b, a.to_string() == b.to_string());
    }
}
