//! Interrupts and readers who go away: speech stops at once.

use std::time::Duration;

use cepa_core::{
    CancelToken,
    testing::{Answer, EventLog, ScriptedModel},
};
use cepa_tts::{Per, TtsMiddleware};
use tokio::time::Instant;

use crate::{
    support::{agent, audio, heard, within},
    voice::{Act, Voice},
};

const SECOND: Duration = Duration::from_secs(1);

/// Says something each second, without an end.
fn talker() -> Voice {
    Voice::acting(std::iter::repeat_n([Act::Say("x"), Act::Wait(SECOND)], 1000).flatten())
}

/// The moments of an interrupt: the event after which it comes.
const MOMENTS: [&str; 5] =
    ["MODEL_CALL_START", "TEXT_BLOCK_DELTA", "TEXT_BLOCK_END", "DATA_BLOCK_START", "DATA_BLOCK_DELTA"];

#[tokio::test(start_paused = true)]
async fn no_audio_comes_after_an_interrupt_whenever_it_comes() {
    for moment in MOMENTS {
        for voice in [talker(), talker().realtime(), Voice::acting([Act::Hang])] {
            for hangs in [true, false] {
                let answer = Answer::new().texts(["One. ", "Two. "]);
                let model = ScriptedModel::new([if hangs { answer.hangs() } else { answer }]);
                let speech = TtsMiddleware::builder(voice.clone()).per(Per::Sentence).build().unwrap();
                let mut agent = agent(&model, speech);
                let token = CancelToken::new();
                let (mut stream, mut events) = (agent.reply("Go").cancel_on(token.clone()).stream(), vec![]);
                // Some moments never come: then the interrupt comes at some other time.
                let deadline = Instant::now() + 20 * SECOND;
                while let Ok(Some(event)) = tokio::time::timeout_at(deadline, stream.next()).await {
                    let reached = event.event_type() == moment;
                    events.push(event);
                    if reached {
                        break;
                    }
                }
                token.cancel();
                let start = Instant::now();
                let rest = within(EventLog::of_stream(stream)).await;
                assert_eq!(start.elapsed(), Duration::ZERO, "{moment}");
                assert_eq!(rest.events().iter().filter_map(audio).count(), 0, "{moment}");
                events.extend(rest.events().iter().cloned());
                heard(&events);
                assert_eq!(events.last().unwrap().event_type(), "REPLY_END", "{moment}");
                assert_eq!(voice.open(), 0, "{moment}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_in_the_middle_leaves_the_text_in_the_context() {
    let model = ScriptedModel::new([Answer::new().text("Once upon").hangs()]);
    let voice = talker().realtime();
    let mut agent = agent(&model, TtsMiddleware::new(voice.clone()));
    let token = CancelToken::new();
    let stream = agent.reply("Go").cancel_on(token.clone()).stream();
    let interrupt = async {
        tokio::time::sleep(Duration::from_millis(4500)).await;
        token.cancel();
    };
    let (log, ()) = tokio::join!(within(EventLog::of_stream(stream)), interrupt);
    assert_eq!(heard(log.events()), ["xxxxx"]);
    log.assert([
        "...",
        "DATA_BLOCK_END",
        "TEXT_BLOCK_END",
        "MODEL_CALL_END interrupted",
        "REPLY_END interrupted",
    ]);
    let context: Vec<_> = agent.state().unwrap().context.iter().filter_map(|msg| msg.text()).collect();
    assert_eq!(context, ["Go", "Once upon"]);
    assert_eq!(voice.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_hangs_up_at_once() {
    for voice in [talker(), talker().realtime()] {
        let mut agent = agent(&ScriptedModel::new(["Hello"]), TtsMiddleware::new(voice.clone()));
        let mut stream = agent.reply("Go").stream();
        while audio(&within(stream.next()).await.unwrap()).is_none() {}
        assert_eq!(voice.open(), 1);
        drop(stream);
        assert_eq!(voice.open(), 0);
    }
}
