//! Faults that users of other agent frameworks have met with speech. Each test is named after its row in
//! `docs/faults.md`.

use std::{sync::Arc, time::Duration};

use cepa_core::{
    Agent, AgentEvent, CancelToken, ContentDelta, EventKind, Id, on_reply,
    serde_json::json,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_tts::{Per, TtsMiddleware};

use crate::{
    support::{agent, audio, builder, heard, log, within},
    voice::{Act, Voice},
};

/// A layer that writes two text blocks at once, before the reply goes on.
fn two_blocks_at_once() -> impl cepa_core::Middleware {
    on_reply(|cx, input, next| async move {
        let reply_id = cx.reply_id()?;
        let start =
            |id: &str| EventKind::TextBlockStart { reply_id: reply_id.clone(), block_id: Id::from(id) };
        let end = |id: &str| EventKind::TextBlockEnd {
            reply_id: reply_id.clone(),
            block_id: Id::from(id),
            text: None,
        };
        let delta = |id: &str, delta: &str| EventKind::TextBlockDelta {
            reply_id: reply_id.clone(),
            block_id: Id::from(id),
            delta: delta.to_owned(),
        };
        let events = [
            start("a"),
            delta("a", "AA"),
            start("b"),
            delta("b", "BB"),
            delta("a", "AA"),
            delta("b", "BB"),
            end("b"),
            end("a"),
        ];
        for event in events {
            cx.emit(AgentEvent::new(event)).await;
        }
        next.run(input).await
    })
}

#[tokio::test(start_paused = true)]
async fn r49_two_blocks_that_are_open_at_once_are_spoken_one_after_the_other() {
    for voice in [Voice::new(), Voice::slow(3), Voice::new().realtime(), Voice::slow(3).realtime()] {
        for per in [Per::Block, Per::Sentence] {
            let speech = TtsMiddleware::builder(voice.clone()).per(per).build().unwrap();
            let model = ScriptedModel::new(["C"]);
            let mut agent =
                builder(&model).middleware(speech).middleware(two_blocks_at_once()).build().unwrap();
            let heard: Vec<_> = heard(log(&mut agent).await.events())
                .into_iter()
                .map(|said| said.trim_end_matches('.').to_owned())
                .collect();
            assert_eq!(heard, ["AAAA", "BBBB", "C"], "{per:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn r50_a_voice_that_fails_ends_its_block_and_not_the_reply() {
    let warnings = Logged::warnings("cepa_tts");
    let voice = Voice::new().first([Act::Say("one"), Act::Fail]);
    let model = ScriptedModel::new([
        Answer::new().text("Let me see.").tool_call("look", json!({})),
        Answer::new().text("Done."),
    ]);
    let tool = ScriptedTool::echo("look");
    let mut agent = builder(&model).tool(tool).middleware(TtsMiddleware::new(voice.clone())).build().unwrap();
    let log = log(&mut agent).await;
    log.assert(["...", "REPLY_END completed"]);
    assert_eq!(log.text(), "Let me see.Done.");
    // What came before the failure was heard, and the next block is tried in a session of its own.
    assert_eq!(heard(log.events()), ["one", "Done."]);
    assert_eq!((voice.sessions(), voice.open(), voice.closed()), (2, 0, 1));
    assert_eq!(log.into_outcome().unwrap().text().as_deref(), Some("Done."));
    let warnings = warnings.take();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("too many requests") && warnings[0].contains("voice"), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn r51_where_nothing_is_to_say_nothing_is_asked() {
    let empty = || ContentDelta::Text { text: String::new(), id: None };
    for voice in [Voice::new(), Voice::new().realtime()] {
        let model = ScriptedModel::new([
            Answer::new().tool_call("look", json!({})),
            Answer::from_iter([empty(), empty()]).tool_call("look", json!({})),
            Answer::new().texts([" ", "\n"]).tool_call("look", json!({})),
            Answer::new().texts(["", "\n", "Now", " this"]),
        ]);
        let tool = ScriptedTool::echo("look");
        let mut agent =
            builder(&model).tool(tool).middleware(TtsMiddleware::new(voice.clone())).build().unwrap();
        let mut events = Vec::new();
        let mut stream = agent.reply("Go").stream();
        while let Some(event) = within(stream.next()).await {
            // Not even a connection, before there is something.
            if events.iter().filter(|event: &&AgentEvent| event.event_type() == "MODEL_CALL_START").count()
                < 4
            {
                assert_eq!(voice.sessions(), 0);
            }
            events.push(event);
        }
        assert_eq!(heard(&events).len(), 1);
        assert_eq!(voice.told().concat(), "\nNow this");
        assert_eq!(voice.sessions(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn r52_an_interrupt_while_the_voice_works_loses_no_text_and_leaves_no_audio() {
    let acts = [Act::Echo, Act::Wait(Duration::from_secs(60)), Act::Say("stale")];
    for voice in [Voice::acting(acts), Voice::acting(acts).realtime()] {
        let model = ScriptedModel::new([Answer::new().text("Hello there."), Answer::new().text("Well.")]);
        let mut agent = agent(&model, TtsMiddleware::new(voice.clone()));
        let token = CancelToken::new();
        let mut stream = agent.reply("Go").cancel_on(token.clone()).stream();
        let mut events = Vec::new();
        loop {
            let event = within(stream.next()).await.unwrap();
            let is_audio = audio(&event).is_some();
            events.push(event);
            if is_audio {
                break;
            }
        }
        token.cancel();
        let rest = within(EventLog::of_stream(stream)).await;
        assert_eq!(rest.only(["DATA_BLOCK_DELTA", "DATA_BLOCK_START"]).events(), []);
        rest.assert(["...", "DATA_BLOCK_END", "...", "REPLY_END interrupted"]);
        assert_eq!(voice.open(), 0);
        let said: Vec<_> = agent.state().unwrap().context.iter().filter_map(|msg| msg.text()).collect();
        assert_eq!(said, ["Go", "Hello there."]);
        assert_eq!(log(&mut agent).await.text(), "Well.");
    }
}

#[tokio::test(start_paused = true)]
async fn f25_replies_beside_each_other_have_voices_of_their_own() {
    let voice = Voice::slow(1).realtime();
    let speech = Arc::new(TtsMiddleware::new(voice.clone()));
    let slowly = |texts: [&'static str; 3]| {
        texts.into_iter().fold(Answer::new(), |answer, text| answer.text(text).delay(Duration::from_secs(1)))
    };
    let run = async |texts, more: u64| {
        let model = ScriptedModel::new([slowly(texts)]);
        let mut agent: Agent = builder(&model).middleware(speech.clone()).build().unwrap();
        tokio::time::sleep(Duration::from_millis(more)).await;
        log(&mut agent).await
    };
    let (first, second) = tokio::join!(run(["a", "b", "c"], 0), run(["1", "2", "3"], 500));
    assert_eq!(heard(first.events()), ["abc."]);
    assert_eq!(heard(second.events()), ["123."]);
    // They were spoken at the same time, and each ended its own session.
    let told = voice.told();
    assert_eq!(told, ["a", "1", "b", "2", "c", "3"]);
    assert_eq!((voice.sessions(), voice.closed(), voice.open()), (2, 2, 0));
}
