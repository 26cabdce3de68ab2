//! A voice that is too slow is cut off; a reader who is slow is not its fault.

use std::time::Duration;

use cepa_core::{
    serde_json::json,
    testing::{Answer, Logged, ScriptedModel, ScriptedTool},
};
use cepa_tts::{Builder, Per, TtsError, TtsMiddleware};
use tokio::time::{Instant, sleep};

use crate::{
    support::{agent, builder, heard, log, within},
    voice::{Act, Voice},
};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Speech with limits of 1, 2, 3 and 10 seconds.
fn strict(voice: &Voice) -> Builder {
    TtsMiddleware::builder(voice.clone())
        .connect_within(seconds(1))
        .first_audio_within(seconds(2))
        .next_audio_within(seconds(3))
        .block_within(seconds(10))
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_hangs_is_cut_off_and_the_reply_goes_on() {
    let warnings = Logged::warnings("cepa_tts");
    let chatter = std::iter::repeat_n([Act::Say("x"), Act::Wait(Duration::from_millis(2900))], 20).flatten();
    for (voice, after, said, reason) in [
        (Voice::new().connecting([Act::Hang]), 1, &[][..], "no connection within 1s"),
        (Voice::acting([Act::Hang]), 2, &[], "no audio within 2s"),
        (Voice::acting([Act::Hang]).realtime(), 2, &[], "no audio within 2s"),
        (Voice::acting([Act::Echo, Act::Hang]), 3, &["Hello"], "no further audio within 3s"),
        (Voice::acting([Act::Echo, Act::Hang]).realtime(), 3, &["Hello"], "no further audio within 3s"),
        (Voice::acting(chatter), 10, &["xxxx"], "the text block was not spoken within 10s"),
    ] {
        let mut agent = agent(&ScriptedModel::new(["Hello"]), strict(&voice).build().unwrap());
        let start = Instant::now();
        let log = log(&mut agent).await;
        log.assert(["...", "REPLY_END completed"]);
        assert_eq!(
            (start.elapsed().as_secs(), heard(log.events())),
            (after, said.iter().map(|s| (*s).to_owned()).collect())
        );
        assert_eq!(voice.open(), 0);
        let warned = warnings.take();
        assert_eq!(warned.len(), 1, "{warned:?}");
        assert!(warned[0].contains(reason), "{warned:?}");
    }
}

/// A text block, and a tool after it.
fn step(number: usize) -> Answer {
    Answer::new().text(format!("Step {number}.")).tool_call("look", json!({}))
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_dead_holds_a_reply_up_for_two_blocks() {
    let warnings = Logged::warnings("cepa_tts");
    // A block with nothing to say is no success.
    let silent = || Answer::new().text("...").tool_call("look", json!({}));
    for (voice, after) in [
        (Voice::new().connecting([Act::Hang]), 2),
        (Voice::acting([Act::Hang]), 4),
        (Voice::acting([Act::Hang]).realtime(), 4),
        (Voice::acting([Act::Fail]), 0),
    ] {
        let speech = strict(&voice).build().unwrap();
        let rounds = (1..10).flat_map(|number| [step(number), silent()]);
        let model = ScriptedModel::new(rounds.chain([Answer::new().text("Done.")]));
        let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(speech).build().unwrap();
        let start = Instant::now();
        let log = log(&mut agent).await;
        log.assert(["...", "REPLY_END completed"]);
        assert_eq!((start.elapsed().as_secs(), heard(log.events())), (after, vec![]));
        let warned = warnings.take();
        assert_eq!(warned.len(), 2, "{warned:?}");
        assert!(warned[1].contains("nothing more of it is spoken"), "{warned:?}");
        assert_eq!(voice.sessions(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_that_fails_now_and_then_stops_nothing() {
    let voice = Voice::new().first([Act::Fail]).first([Act::Echo]).first([Act::Hang]);
    let speech = strict(&voice).build().unwrap();
    let model = ScriptedModel::new((1..5).map(step).chain([Answer::new().text("Done.")]));
    let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(speech).build().unwrap();
    assert_eq!(heard(log(&mut agent).await.events()), ["Step 2.", "Step 4.", "Done."]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_may_be_as_long_as_can_be() {
    for voice in [
        Voice::slow(100),
        Voice::slow(100).realtime(),
        Voice::slow(100).connecting([Act::Wait(seconds(100))]),
    ] {
        let speech = TtsMiddleware::builder(voice)
            .connect_within(Duration::MAX)
            .first_audio_within(Duration::MAX)
            .next_audio_within(Duration::MAX)
            .block_within(Duration::MAX);
        let mut agent = agent(&ScriptedModel::new(["Hello"]), speech.build().unwrap());
        assert_eq!(heard(log(&mut agent).await.events())[0].trim_end_matches('.'), "Hello");
    }
}

// In real time: a voice that never waits lets no time pass that is not real.
#[tokio::test]
async fn a_voice_that_never_pauses_is_cut_off_too() {
    let limit = Duration::from_millis(200);
    for voice in [Voice::endless(), Voice::endless().realtime()] {
        let speech = TtsMiddleware::builder(voice).block_within(limit).build().unwrap();
        let mut agent = agent(&ScriptedModel::new(["Hello"]), speech);
        let start = Instant::now();
        let run = async {
            let mut stream = agent.reply("Go").stream();
            while stream.next().await.is_some() {}
        };
        let outcome = tokio::time::timeout(seconds(60), run).await;
        assert!(outcome.is_ok(), "{:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_a_block_is_for_all_its_sentences() {
    let voice = Voice::acting([Act::Wait(Duration::from_millis(1500)), Act::Say("x")]);
    let text = "One. ".repeat(20);
    let mut agent = agent(&ScriptedModel::new([text]), strict(&voice).per(Per::Sentence).build().unwrap());
    let start = Instant::now();
    let log = log(&mut agent).await;
    assert_eq!((start.elapsed().as_secs(), heard(log.events())), (10, vec!["x".repeat(6)]));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_writes_slowly_is_not_a_voice_that_hangs() {
    let warnings = Logged::warnings("cepa_tts");
    for voice in [Voice::new(), Voice::slow(1), Voice::slow(1).realtime()] {
        for per in [Per::Block, Per::Sentence] {
            let answer = Answer::new()
                .text("One. T")
                .delay(seconds(60))
                .text("wo. T")
                .delay(seconds(60))
                .text("hree.");
            let mut agent = agent(&ScriptedModel::new([answer]), strict(&voice).per(per).build().unwrap());
            let heard = heard(log(&mut agent).await.events());
            assert_eq!(heard.len(), 1);
            assert!(heard[0].starts_with("One. Two. Three."), "{heard:?}");
        }
    }
    assert_eq!(warnings.take(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_who_is_slow_cuts_nothing_off() {
    let warnings = Logged::warnings("cepa_tts");
    let acts = [Act::Wait(seconds(1)), Act::Say("x"), Act::Wait(seconds(1)), Act::Say("y"), Act::Say("z")];
    for voice in [Voice::acting(acts), Voice::acting(acts).realtime()] {
        let model = ScriptedModel::new([Answer::new().texts(["One", " two", " three"])]);
        let mut agent = agent(&model, strict(&voice).build().unwrap());
        let (mut stream, mut events) = (agent.reply("Go").stream(), Vec::new());
        while let Some(event) = within(stream.next()).await {
            events.push(event);
            sleep(seconds(30)).await;
        }
        let heard = heard(&events);
        assert_eq!(heard.len(), 1);
        assert!(heard[0].ends_with("xyz") || heard[0].ends_with("xyz."), "{heard:?}");
    }
    assert_eq!(warnings.take(), [""; 0]);
}

#[test]
fn limits_of_no_time_and_texts_of_no_length_are_refused() {
    let speech = || TtsMiddleware::builder(Voice::new());
    assert_eq!(speech().max_length(0).build().unwrap_err(), TtsError::NoLength);
    let error = speech().next_audio_within(Duration::ZERO).build().unwrap_err();
    assert_eq!(error.to_string(), "`next_audio_within` is 0, but each step of speech needs some time");
}
