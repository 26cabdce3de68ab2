use serde_json::{Value, json};

use super::{Outcome, compare};

fn event(kind: &str) -> Value {
    json!({"type": kind, "reply_id": "r1"})
}

fn with(mut value: Value, key: &str, part: impl Into<Value>) -> Value {
    value[key] = part.into();
    value
}

/// A call that a reply with one text block makes.
fn call() -> Value {
    json!({
        "events": [
            event("REPLY_START"),
            {"type": "TEXT_BLOCK_START", "reply_id": "r1", "block_id": "b1"},
            {"type": "TEXT_BLOCK_DELTA", "reply_id": "r1", "block_id": "b1", "delta": "hi"},
            {"type": "TEXT_BLOCK_END", "reply_id": "r1", "block_id": "b1", "text": null},
            {"type": "REPLY_END", "reply_id": "r1", "finished_reason": "completed"},
        ],
        "final_messages": [{"id": "r1", "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 1}}],
        "error": null,
        "trace": [{"mw": "A", "hook": "on_reply", "at": "enter"}, {"core": "model", "purpose": "chat"}],
        "model_requests": [{"model": "main", "purpose": "chat", "tools": ["f"], "messages": []}],
        "state": {
            "context": [{"id": "r1", "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 1}}],
            "reply_context": {"reply_id": "r1", "cur_iter": 1},
            "middle_context": {},
        },
    })
}

fn of(expected: Value, got: Value) -> Outcome {
    compare("basic", &[expected], &[got])
}

fn path(outcome: Outcome) -> String {
    outcome.unwrap_err().path
}

#[test]
fn a_recording_is_the_same_as_itself() {
    of(call(), call()).unwrap();
}

#[test]
fn each_part_that_differs_is_found_and_named() {
    let changes: [(&str, Value, &str); 9] = [
        ("/events/2/delta", "ho".into(), "events[2].delta"),
        ("/events/4/finished_reason", "error".into(), "events[4].finished_reason"),
        ("/final_messages/0/content/0/text", "ho".into(), "final_messages[0].content[0].text"),
        ("/trace/0/at", "exit".into(), "trace[0].at"),
        ("/model_requests/0/tools", json!([]), "model_requests[0].tools[0]"),
        ("/state/context/0/content/0/text", "ho".into(), "state.context[0].content[0].text"),
        ("/state/reply_context/cur_iter", 2.into(), "state.reply_context.cur_iter"),
        ("/state/middle_context", json!({"Layer": 1}), "state.middle_context.Layer"),
        ("/error", json!({"kind": "scripted"}), "error"),
    ];
    for (pointer, value, expected) in changes {
        let mut changed = call();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert_eq!(path(of(call(), changed)), format!("calls[0].{expected}"));
    }
}

#[test]
fn events_of_different_types_are_shown_whole() {
    let mut changed = call();
    changed["events"][2] = event("TEXT_BLOCK_END");
    let difference = of(call(), changed).unwrap_err();
    assert_eq!(difference.path, "calls[0].events[2]");
    assert_eq!(difference.got, Some(event("TEXT_BLOCK_END")));
}

#[test]
fn missing_and_further_items_are_found() {
    let mut shorter = call();
    shorter["events"].as_array_mut().unwrap().pop();
    assert_eq!(path(of(call(), shorter.clone())), "calls[0].events[4]");
    let difference = of(shorter, call()).unwrap_err();
    assert_eq!((difference.expected, difference.path.as_str()), (None, "calls[0].events[4]"));
    assert_eq!(path(compare("basic", &[call(), call()], &[call()])), "calls[1]");
}

#[test]
fn made_up_ids_count_by_equality() {
    let messages = |a: &str, b: &str| json!([{"id": a, "content": []}, {"id": b, "content": []}]);
    let expected = with(call(), "final_messages", messages("m1", "m2"));
    of(expected.clone(), with(call(), "final_messages", messages("m7", "m3"))).unwrap();
    let twice = with(call(), "final_messages", messages("m7", "m7"));
    assert_eq!(path(of(expected.clone(), twice)), "calls[0].final_messages[1].id");
    let scripted = with(call(), "final_messages", messages("u1", "m2"));
    assert_eq!(path(of(expected, scripted)), "calls[0].final_messages[0].id");
}

#[test]
fn metadata_may_say_more_but_not_less() {
    let metadata = |metadata: Value| {
        let mut call = call();
        call["events"][0]["metadata"] = metadata;
        call
    };
    of(call(), metadata(json!({"model": "x"}))).unwrap();
    of(metadata(json!({"k": 1})), metadata(json!({"k": 1, "model": "x"}))).unwrap();
    assert_eq!(
        path(of(metadata(json!({"k": 1})), metadata(json!({"k": 2})))),
        "calls[0].events[0].metadata.k"
    );
    assert_eq!(path(of(metadata(json!({"k": 1})), call())), "calls[0].events[0].metadata");
}

#[test]
fn error_counts_by_kind_and_scripted_message() {
    let failed = |error: Value| json!({"events": [], "error": error});
    let recorded = failed(json!({"type": "RuntimeError", "kind": "scripted", "message": "boom"}));
    of(recorded.clone(), failed(json!({"kind": "scripted", "message": "on_reply of `E`: boom"}))).unwrap();
    assert_eq!(
        path(of(recorded.clone(), failed(json!({"kind": "scripted", "message": "x"})))),
        "calls[0].error"
    );
    assert_eq!(path(of(recorded.clone(), failed(json!({"kind": "interrupted"})))), "calls[0].error");
    assert_eq!(path(of(recorded, failed(Value::Null))), "calls[0].error");
    let cancelled = failed(json!({"type": "CancelledError", "kind": "scripted", "message": ""}));
    of(cancelled, failed(json!({"kind": "interrupted"}))).unwrap();
}

/// A failed call whose events are `recorded`, against one that went on with `rest`.
fn failed(recorded: usize, rest: &[Value]) -> Outcome {
    let error = json!({"kind": "scripted", "message": "boom"});
    let events: Vec<Value> = call()["events"].as_array().unwrap()[..recorded].to_vec();
    let got = [events.as_slice(), rest].concat();
    of(json!({"events": events, "error": error}), json!({"events": got, "error": error}))
}

#[test]
fn a_failed_call_closes_what_is_open_and_ends() {
    let end = json!({"type": "REPLY_END", "reply_id": "r1", "finished_reason": "error"});
    let block_end = json!({"type": "TEXT_BLOCK_END", "reply_id": "r1", "block_id": "b1"});
    failed(3, &[block_end.clone(), end.clone()]).unwrap();
    failed(0, &[]).unwrap();
    assert_eq!(path(failed(3, std::slice::from_ref(&block_end))), "calls[0].events[4]", "the end is missing");
    assert_eq!(path(failed(3, &[event("MODEL_CALL_END"), end.clone()])), "calls[0].events[3]");
    assert_eq!(path(failed(4, &[block_end, end.clone()])), "calls[0].events[4]", "that block was ended");
    assert_eq!(path(failed(3, &[end.clone(), end.clone()])), "calls[0].events[3]", "ended twice");
    assert_eq!(path(failed(5, &[end])), "calls[0].events[5]", "an end had gone out");
}

#[test]
fn an_open_tool_call_gets_its_result() {
    let call = |kind: &str| json!({"type": kind, "reply_id": "r1", "tool_call_id": "t1"});
    let end = json!({"type": "REPLY_END", "reply_id": "r1", "finished_reason": "error"});
    let error = json!({"kind": "scripted", "message": ""});
    let recorded =
        vec![event("REPLY_START"), call("TOOL_CALL_START"), call("TOOL_CALL_END"), call("TOOL_RESULT_START")];
    let closed = [call("TOOL_RESULT_TEXT_DELTA"), call("TOOL_RESULT_END"), end];
    let got = [recorded.as_slice(), &closed].concat();
    of(json!({"events": recorded, "error": error}), json!({"events": got, "error": error})).unwrap();
}

#[test]
fn structured_requests_are_free_in_form_and_number() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let request = |tools: Value, blocks: Vec<Value>| json!({"model": "main", "purpose": "structured", "tools": tools, "messages": [{"role": "user", "content": blocks}]});
    let instruction = text("<<prompt:structured_output_instruction>>");
    let recorded = request(json!(["generate_structured_output"]), vec![text("COMPRESS"), instruction]);
    let expected = with(call(), "model_requests", json!([recorded.clone(), recorded]));
    let got = |said: &str| with(call(), "model_requests", json!([request(json!([]), vec![text(said)])]));
    of(expected.clone(), got("COMPRESS")).unwrap();
    assert_eq!(path(of(expected, got("else"))), "calls[0].model_requests[0].messages[0].content[0].text");
}

#[test]
fn usage_of_a_reply_with_a_summary_is_free() {
    let requests = json!([{"model": "main", "purpose": "structured", "messages": []}]);
    let expected = with(call(), "model_requests", requests);
    let mut got = expected.clone();
    got["state"]["context"][0]["usage"] = json!({"input_tokens": 99});
    got["final_messages"][0]["usage"] = json!({"input_tokens": 99});
    of(expected, got.clone()).unwrap();
    got["model_requests"] = call()["model_requests"].clone();
    assert!(of(call(), got).is_err());
}

#[test]
fn trace_counts_errors_without_their_class_and_closed_layers_anywhere() {
    let at = |at: &str| json!({"mw": "A", "hook": "on_reply", "at": at});
    let expected = with(call(), "trace", json!([at("closed"), at("enter"), at("error RuntimeError")]));
    of(expected.clone(), with(call(), "trace", json!([at("enter"), at("error"), at("closed")]))).unwrap();
    assert!(of(expected.clone(), with(call(), "trace", json!([at("enter"), at("error")]))).is_err());
    assert!(of(expected, with(call(), "trace", json!([at("error"), at("enter"), at("closed")]))).is_err());
}

#[test]
fn speech_is_free_between_its_text_and_the_end() {
    let data = json!({"type": "DATA_BLOCK_START", "reply_id": "r1", "block_id": "b2"});
    let moved = |at: usize| {
        let mut call = call();
        call["events"].as_array_mut().unwrap().insert(at, data.clone());
        call
    };
    compare("tts", &[moved(4)], &[moved(2)]).unwrap();
    assert!(compare("tts", &[moved(4)], &[moved(1)]).is_err(), "before its text");
    assert!(compare("tts", &[moved(4)], &[moved(5)]).is_err(), "after the end");
    assert!(compare("basic", &[moved(4)], &[moved(2)]).is_err(), "not in other areas");
}

#[test]
fn speech_is_as_free_in_the_message_that_is_rebuilt() {
    let rebuilt = |types: &[&str]| {
        let blocks: Vec<Value> = types.iter().map(|kind| json!({"type": kind})).collect();
        with(call(), "rebuilt_from_events", json!({"content": blocks}))
    };
    let (spoken_first, called_first) = (["text", "data", "tool_call"], ["text", "tool_call", "data"]);
    compare("tts", &[rebuilt(&spoken_first)], &[rebuilt(&called_first)]).unwrap();
    assert!(compare("tts", &[rebuilt(&spoken_first)], &[rebuilt(&["text", "tool_call"])]).is_err());
    assert!(compare("basic", &[rebuilt(&spoken_first)], &[rebuilt(&called_first)]).is_err());
}

#[test]
fn tool_calls_closed_together_end_in_their_order() {
    let tool = |kind: &str, id: &str| json!({"type": kind, "tool_call_id": id});
    let events = |ends: [&str; 2]| {
        json!([
            tool("TOOL_CALL_START", "t1"),
            tool("TOOL_CALL_START", "t2"),
            tool("TOOL_CALL_END", ends[0]),
            tool("TOOL_CALL_END", ends[1]),
        ])
    };
    let in_order = with(call(), "events", events(["t1", "t2"]));
    of(with(call(), "events", events(["t2", "t1"])), in_order.clone()).unwrap();
    assert!(of(in_order, with(call(), "events", events(["t2", "t1"]))).is_err());
}

#[test]
fn values_of_the_runtime_state_count_whatever_they_are_called() {
    let hint = |state: &str| {
        let mut call = call();
        call["events"][2]["delta"] = format!("<<hint:runtime_state {state}>>").into();
        call
    };
    let expected = hint("a=b; tool-error(name=f,count=3); place=home");
    of(expected.clone(), hint("a=b; tool-error(tool_name=f,count=3); place=home")).unwrap();
    for other in ["tool-error(name=f,count=4); place=home", "tool-error(name=f,count=3); place=work"] {
        assert!(of(expected.clone(), hint(&format!("a=b; {other}"))).is_err());
    }
}

#[test]
fn difference_is_one_short_line() {
    let long = "x".repeat(1000);
    let mut changed = call();
    changed["events"][2]["delta"] = long.into();
    let line = of(call(), changed).unwrap_err().to_string();
    assert!(line.starts_with(r#"calls[0].events[2].delta: expected "hi", got "xxx"#), "{line}");
    assert!(line.ends_with('…') && line.len() < 300, "{line}");
}

fn spans(change: impl FnOnce(&mut Value)) -> Value {
    let mut spans = json!([
        {"name": "invoke_agent Friday", "trace": "trace1", "parent": null, "kind": "INTERNAL", "scope": "agentscope",
         "status": "ERROR", "attributes": {"gen_ai.agent.name": "Friday"}, "exceptions": ["RuntimeError"]},
        {"name": "chat m", "trace": "trace1", "parent": 0, "kind": "INTERNAL", "scope": "agentscope",
         "status": "OK", "attributes": {"gen_ai.input.messages": {"json": [{"role": "user"}]}}, "exceptions": []},
    ]);
    change(&mut spans);
    with(call(), "spans", spans)
}

#[test]
fn spans_may_say_more_and_be_of_another_scope() {
    let more = spans(|spans| {
        spans[0]["scope"] = "cepa".into();
        spans[0]["exceptions"] = json!(["layer"]);
        spans[1]["attributes"]["gen_ai.request.seed"] = 7.into();
    });
    of(spans(|_| {}), more).unwrap();
}

#[test]
fn spans_that_say_less_or_other_things_are_found() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 7] = [
        (|spans| spans[1]["name"] = "chat n".into(), "spans[1].name"),
        (|spans| spans[1]["parent"] = Value::Null, "spans[1].parent"),
        (|spans| spans[1]["status"] = "UNSET".into(), "spans[1].status"),
        (|spans| spans[0]["attributes"] = json!({}), "spans[0].attributes.gen_ai.agent.name"),
        (
            |spans| spans[1]["attributes"]["gen_ai.input.messages"]["json"][0]["name"] = "x".into(),
            "spans[1].attributes.gen_ai.input.messages.json[0].name",
        ),
        (|spans| spans[0]["exceptions"] = json!([]), "spans[0].exceptions"),
        (|spans| _ = spans.as_array_mut().unwrap().pop(), "spans[1]"),
    ];
    for (change, expected) in changes {
        assert_eq!(path(of(spans(|_| {}), spans(change))), format!("calls[0].{expected}"));
    }
}

#[test]
fn memories_are_chosen_at_any_time_of_the_reply_with_tools_of_our_own() {
    let choosing = json!({"core": "model", "model": "sel", "purpose": "structured"});
    let asked = json!({"model": "sel", "purpose": "structured", "messages": [{"content": "which?"}]});
    let mut expected = call();
    expected["trace"].as_array_mut().unwrap().insert(0, choosing.clone());
    expected["model_requests"].as_array_mut().unwrap().insert(0, asked.clone());
    let mut got = with(call(), "middleware_tools", json!(["memory_read", "memory_write"]));
    got["trace"].as_array_mut().unwrap().push(choosing);
    got["model_requests"].as_array_mut().unwrap().push(asked);
    got["model_requests"][0]["tools"] = json!(["f", "memory_read", "memory_write"]);
    of(expected.clone(), got.clone()).unwrap();

    // What is asked, which other tools there are, and that it is asked at all, is compared.
    let mut other = got.clone();
    other["model_requests"][1]["messages"] = json!([{"content": "what?"}]);
    assert!(of(expected.clone(), other).is_err());
    let mut other = got.clone();
    other["model_requests"][0]["tools"] = json!(["g", "memory_read"]);
    assert!(of(expected.clone(), other).is_err());
    let mut other = got.clone();
    other["trace"].as_array_mut().unwrap().pop();
    assert!(of(expected.clone(), other).is_err());
    // Without the layer nothing of it is free.
    assert!(of(expected, with(got, "middleware_tools", json!([]))).is_err());
}
