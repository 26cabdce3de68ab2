//! Observers, what the caller gives to a reply, and what is left of a reply's context.

use std::sync::{Arc, Mutex};

use cepa_core::{
    Cx, ErrorKind, EventKind, Flow, Reply, ToolCx, on_model_call, on_reasoning, on_reply,
    serde_json::json,
    testing::{Answer, EventLog, ScriptedModel},
    tool,
};

use super::{builder, within};

/// Notes the type and text of every event.
fn notebook() -> (Arc<Mutex<Vec<String>>>, impl Fn(&cepa_core::AgentEvent) + Send + Sync + 'static) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let observer = {
        let notes = notes.clone();
        move |event: &cepa_core::AgentEvent| {
            notes.lock().unwrap().push(match &event.kind {
                EventKind::TextBlockDelta { delta, .. } => delta.clone(),
                _ => event.event_type().to_owned(),
            });
        }
    };
    (notes, observer)
}

#[tokio::test]
async fn observers_see_what_leaves_the_onion() {
    let shouts = on_reply(|_cx, input, next| async move {
        next.tap(input, |event| match &mut event.kind {
            EventKind::TextBlockDelta { delta, .. } => {
                *delta = delta.to_uppercase();
                Flow::Keep
            }
            EventKind::ModelCallStart { .. } | EventKind::ModelCallEnd { .. } => Flow::Drop,
            _ => Flow::Keep,
        })
        .await
    });
    let (notes, observer) = notebook();
    let model = ScriptedModel::new(["yes", "yes"]);
    let mut agent = builder(&model).observer(observer).middleware(shouts).build().unwrap();
    let expected = ["REPLY_START", "TEXT_BLOCK_START", "YES", "TEXT_BLOCK_END", "REPLY_END"];

    let log = within(EventLog::of(agent.reply("Well?"))).await;
    log.assert(["REPLY_START", "TEXT_BLOCK_START", "TEXT_BLOCK_DELTA YES", "TEXT_BLOCK_END", "REPLY_END"]);
    assert_eq!(std::mem::take(&mut *notes.lock().unwrap()), expected);

    // Also when nobody else listens.
    within(agent.reply("Well?")).await.unwrap();
    assert_eq!(*notes.lock().unwrap(), expected);
}

struct Tenant(&'static str);

/// Says whose agent this is.
#[tool(read_only)]
async fn whose(cx: ToolCx) -> String {
    cx.context::<Tenant>().map_or("nobody's", |tenant| tenant.0).to_owned()
}

#[tokio::test]
async fn the_callers_values_are_there_for_hooks_and_tools() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = {
        let seen = seen.clone();
        on_reasoning(move |cx, input, next| {
            seen.lock().unwrap().push(cx.context::<Tenant>().map_or("none", |tenant| tenant.0));
            next.run(input)
        })
    };
    let model = ScriptedModel::answering(|request| match request.messages.last() {
        Some(message) if message.has_tool_calls() => Answer::from("done"),
        _ => Answer::new().tool_call("whose", json!({})),
    });
    let mut agent = builder(&model).tool(whose).middleware(notes).build().unwrap();
    // The later value of a type replaces the earlier one; a reply knows nothing of another one's values.
    let log = within(EventLog::of(agent.reply("Whose?").with(Tenant("B's")).with(Tenant("A's")))).await;
    log.assert(["...", r#"TOOL_RESULT_TEXT_DELTA "A's""#, "..."]);
    let log = within(EventLog::of(agent.reply("And now?"))).await;
    log.assert(["...", r#"TOOL_RESULT_TEXT_DELTA "nobody's""#, "..."]);
    assert_eq!(*seen.lock().unwrap(), ["A's", "A's", "none", "none"]);
}

/// What layers share during one reply.
#[derive(Clone, Debug, Default, PartialEq)]
struct Query(Vec<&'static str>);

#[tokio::test]
async fn scratch_lives_as_long_as_its_reply() {
    let outer = on_reply(|cx, input, next| async move {
        assert_eq!(cx.scratch().get::<Query>(), None, "left over from another reply");
        assert!(cx.scratch().insert(Query(vec!["outer"])).is_none());
        let message = next.run(input).await?;
        assert_eq!(cx.scratch().take::<Query>(), Some(Query(vec!["outer", "inner"])));
        assert_eq!(cx.scratch().take::<Query>(), None);
        Ok(message)
    });
    let inner = on_model_call(|cx, request, next| async move {
        cx.scratch().update(|query: &mut Query| query.0.push("inner"));
        next.run(request).await
    });
    let model = ScriptedModel::new(["One.", "Two."]);
    let mut agent = builder(&model).middleware(outer).middleware(inner).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    within(agent.reply("Go")).await.unwrap();
    assert!(agent.state().unwrap().middle_context.is_empty(), "nothing of it is saved");
}

#[tokio::test]
async fn a_context_that_outlives_its_reply_gives_no_access() {
    let kept = Arc::new(Mutex::new(None::<Cx<Reply>>));
    let keeps = {
        let kept = kept.clone();
        on_reply(move |cx, input, next| {
            *kept.lock().unwrap() = Some(cx);
            next.run(input)
        })
    };
    let model = ScriptedModel::new(["One.", "Two.", "Three."]);
    let mut agent = builder(&model).middleware(keeps).build().unwrap();
    let assert_over = |cx: &Cx<Reply>| {
        for error in [cx.state().unwrap_err(), cx.my_state().get::<u32>().unwrap_err()] {
            assert!(matches!(error.kind(), ErrorKind::ReplyOver), "{error}");
        }
    };

    within(agent.reply("Go")).await.unwrap();
    let first = kept.lock().unwrap().take().unwrap();
    assert_over(&first);

    let mut stream = agent.reply("Go").stream();
    within(stream.next()).await.unwrap();
    let second = kept.lock().unwrap().take().unwrap();
    second.state().unwrap();
    drop(stream);
    assert_over(&second);

    // An event that is sent too late reaches nobody, not even the next reply.
    let log = {
        let stream = agent.reply("Go").stream();
        let late = second.emit(cepa_core::AgentEvent::new(EventKind::Custom {
            name: "late".into(),
            value: cepa_core::Fields::new(),
        }));
        assert!(!within(late).await);
        within(EventLog::of_stream(stream)).await
    };
    log.only(["CUSTOM"]).assert([""; 0]);
}
