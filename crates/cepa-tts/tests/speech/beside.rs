//! Speech runs beside the text, in the order of the text blocks.

use std::time::Duration;

use cepa_core::{
    ConfirmResult, ErrorType, EventKind, Flow, ModelError, UserConfirmResultEvent, on_reply,
    serde_json::json,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_tts::{Per, TtsMiddleware};
use tokio::time::Instant;

use crate::{
    support::{agent, audio, builder, heard, log, within},
    voice::{Act, Voice},
};

const SECOND: Duration = Duration::from_secs(1);

/// When the events of this type came, in seconds from the start.
async fn times(stream: cepa_core::ReplyStream<'_>, event_type: &str) -> Vec<u64> {
    let (start, mut stream, mut times) = (Instant::now(), stream, Vec::new());
    while let Some(event) = within(stream.next()).await {
        if event.event_type() == event_type {
            times.push(start.elapsed().as_secs());
        }
    }
    times
}

#[tokio::test(start_paused = true)]
async fn text_does_not_wait_for_the_voice() {
    for voice in [Voice::slow(5), Voice::slow(5).realtime(), Voice::new().connecting([Act::Wait(5 * SECOND)])]
    {
        for per in [Per::Block, Per::Sentence] {
            let answer =
                || Answer::new().text("One. ").delay(SECOND).text("Two. ").delay(SECOND).text("Three.");
            let model = ScriptedModel::new([answer()]);
            let speech = TtsMiddleware::builder(voice.clone()).per(per).build().unwrap();
            let mut agent = agent(&model, speech);
            assert_eq!(times(agent.reply("Go").stream(), "TEXT_BLOCK_DELTA").await, [0, 1, 2]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_never_pauses_does_not_hold_text_back() {
    let chatter = std::iter::repeat_n(Act::Say("x"), 100);
    let model = ScriptedModel::new([Answer::new().texts(["a", "b", "c", "d"])]);
    let mut agent = agent(&model, TtsMiddleware::new(Voice::acting(chatter).realtime()));
    let log = log(&mut agent).await;
    let last_text = log.events().iter().rposition(|event| event.event_type() == "TEXT_BLOCK_DELTA").unwrap();
    let before = log.events()[..last_text].iter().filter_map(audio).count();
    assert!(before <= 4, "{before} pieces of audio came before the last text");
    assert_eq!(heard(log.events())[0].len(), 401);
}

#[tokio::test(start_paused = true)]
async fn tools_and_later_rounds_go_on_while_earlier_text_is_spoken() {
    let model = ScriptedModel::new([
        Answer::new().text("Let me see.").tool_call("look", json!({})),
        Answer::new().delay(4 * SECOND).text("Done."),
    ]);
    let tool = ScriptedTool::new("look", [ToolAnswer::new().delay(4 * SECOND).text("ok")]);
    let mut agent =
        builder(&model).tool(tool).middleware(TtsMiddleware::new(Voice::slow(10))).build().unwrap();
    let start = Instant::now();
    let log = log(&mut agent).await;
    // 8 s of text and tools lie within the 20 s of speech.
    assert_eq!(start.elapsed().as_secs(), 20);
    assert_eq!(heard(log.events()), ["Let me see.", "Done."]);
    log.assert([
        "...",
        "TEXT_BLOCK_DELTA \"Let me see.\"",
        "...",
        "TOOL_RESULT_END success",
        "...",
        "TEXT_BLOCK_END",
        "...",
        "DATA_BLOCK_START",
        "DATA_BLOCK_DELTA",
        "DATA_BLOCK_END",
        "DATA_BLOCK_START",
        "DATA_BLOCK_DELTA",
        "DATA_BLOCK_END",
        "REPLY_END completed",
    ]);
}

#[tokio::test(start_paused = true)]
async fn sentences_are_spoken_while_the_text_is_written() {
    let voice = Voice::slow(2);
    let answer =
        Answer::new().text("One is 1.5. Tw").delay(3 * SECOND).text("o is next. Th").delay(3 * SECOND);
    let model = ScriptedModel::new([answer.text("e end")]);
    let speech = TtsMiddleware::builder(voice.clone()).per(Per::Sentence).build().unwrap();
    let mut agent = agent(&model, speech);
    assert_eq!(times(agent.reply("Go").stream(), "DATA_BLOCK_DELTA").await, [2, 5, 8]);
    assert_eq!(voice.told(), ["One is 1.5. ", "Two is next. ", "The end"]);
    assert_eq!(voice.sessions(), 1);
}

#[tokio::test(start_paused = true)]
async fn sentences_of_a_text_are_one_audio_block() {
    let speech = TtsMiddleware::builder(Voice::new()).per(Per::Sentence).build().unwrap();
    let mut agent = agent(&ScriptedModel::new(["One. Two. Three."]), speech);
    let log = log(&mut agent).await;
    assert_eq!(heard(log.events()), ["One. Two. Three."]);
    assert_eq!(log.events().iter().filter_map(audio).collect::<Vec<_>>(), ["One. ", "Two. ", "Three."]);
}

#[tokio::test(start_paused = true)]
async fn one_session_speaks_all_of_a_reply_and_is_closed() {
    for voice in [Voice::new(), Voice::new().realtime()] {
        let round = |text: &str| Answer::new().text(text).tool_call("look", json!({}));
        let model = ScriptedModel::new([round("a"), round("b"), Answer::new().text("c")]);
        let speech = TtsMiddleware::new(voice.clone());
        let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(speech).build().unwrap();
        assert_eq!(heard(log(&mut agent).await.events()).len(), 3);
        assert_eq!((voice.sessions(), voice.closed(), voice.open()), (1, 1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_spoken_also_where_nobody_listens() {
    let voice = Voice::slow(3);
    let mut agent = agent(&ScriptedModel::new(["Hello"]), TtsMiddleware::new(voice.clone()));
    assert_eq!(within(agent.reply("Go")).await.unwrap().text().as_deref(), Some("Hello"));
    assert_eq!((voice.told(), voice.closed()), (vec!["Hello".to_owned()], 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_person_is_spoken_before_it_returns() {
    let voice = Voice::slow(5);
    let model = ScriptedModel::new([
        Answer::new().text("May I?").tool_call("rm", json!({})),
        Answer::new().text("Done."),
    ]);
    let tool = ScriptedTool::echo("rm").asks();
    let mut agent = builder(&model).tool(tool).middleware(TtsMiddleware::new(voice.clone())).build().unwrap();
    let asked = log(&mut agent).await;
    // The question is shown at once, and the call ends when it was spoken.
    asked.assert(["...", "REQUIRE_USER_CONFIRM", "DATA_BLOCK_START", "DATA_BLOCK_DELTA", "DATA_BLOCK_END"]);
    assert_eq!(heard(asked.events()), ["May I?"]);
    assert_eq!(voice.closed(), 1);
    let waiting = agent.waiting_for().unwrap();
    let yes = UserConfirmResultEvent::new(
        waiting.reply_id.clone(),
        waiting.confirmations.into_iter().map(ConfirmResult::confirm),
    );
    let answered = within(EventLog::of(agent.reply(yes))).await;
    assert_eq!(heard(answered.events()), ["Done."]);
    assert!(answered.events().iter().all(|event| event.reply_id() == Some(&waiting.reply_id)));
    assert_eq!(voice.sessions(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_fails_stops_speech() {
    let warnings = Logged::warnings("cepa_tts");
    let acts = [Act::Echo, Act::Wait(60 * SECOND), Act::Say("stale")];
    for voice in [Voice::acting(acts), Voice::acting(acts).realtime()] {
        let failure = ModelError::new(ErrorType::InvalidRequest, "no");
        let model = ScriptedModel::new([
            Answer::new().text("Let me see.").tool_call("look", json!({})),
            Answer::new().text("Half of").delay(SECOND).fails(failure),
        ]);
        let tool = ScriptedTool::echo("look");
        let mut agent =
            builder(&model).tool(tool).middleware(TtsMiddleware::new(voice.clone())).build().unwrap();
        let start = Instant::now();
        let log = log(&mut agent).await;
        assert_eq!(start.elapsed().as_secs(), 1);
        log.assert(["...", "TEXT_BLOCK_END", "DATA_BLOCK_END", "REPLY_END error"]);
        assert_eq!(heard(log.events()), ["Let me see."]);
        assert!(log.into_outcome().unwrap_err().to_string().contains("no"));
        assert_eq!(voice.open(), 0);
    }
    assert_eq!(warnings.take(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_reply_that_fails_is_not_spoken() {
    let voice = Voice::new().realtime();
    let failure = ModelError::new(ErrorType::InvalidRequest, "no");
    let model = ScriptedModel::new([Answer::new().text("Half of").fails(failure)]);
    let mut agent = agent(&model, TtsMiddleware::new(voice));
    assert_eq!(heard(log(&mut agent).await.events()), ["Half of"]);
}

#[tokio::test(start_paused = true)]
async fn another_round_that_a_layer_wants_is_spoken_too() {
    let voice = Voice::slow(1);
    let mut left = 1;
    let again = std::sync::Mutex::new(move |event: &EventKind| match event {
        EventKind::ReplyEnd { .. } if left > 0 => {
            left -= 1;
            Flow::Drop
        }
        _ => Flow::Keep,
    });
    let again = std::sync::Arc::new(again);
    let swallows_once = on_reply(move |_cx, input, next| {
        let again = again.clone();
        next.tap_shared(input, move |event| again.lock().unwrap()(&event.kind))
    });
    let model = ScriptedModel::new(["one", "two"]);
    let mut agent = builder(&model)
        .middleware(swallows_once)
        .middleware(TtsMiddleware::new(voice.clone()))
        .build()
        .unwrap();
    assert_eq!(heard(log(&mut agent).await.events()), ["one", "two"]);
    assert_eq!((voice.sessions(), voice.closed()), (1, 1));
}
