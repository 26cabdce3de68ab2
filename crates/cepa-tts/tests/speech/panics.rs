//! A panic in a speech model, or in a filter, is a failure of speech.

use cepa_core::{
    serde_json::json,
    testing::{Answer, Logged, ScriptedModel, ScriptedTool},
};
use cepa_tts::{Per, SpeechFilter, TextFilter, TtsMiddleware};

use crate::{
    support::{builder, heard, log},
    voice::{Act, Voice},
};

fn two_blocks() -> ScriptedModel {
    ScriptedModel::new([
        Answer::new().text("One. Two. ").text("Three.").tool_call("look", json!({})),
        Answer::new().text("Done."),
    ])
}

async fn heard_of(speech: TtsMiddleware) -> Vec<String> {
    let mut agent =
        builder(&two_blocks()).tool(ScriptedTool::echo("look")).middleware(speech).build().unwrap();
    let log = log(&mut agent).await;
    log.assert(["...", "REPLY_END completed"]);
    assert_eq!(log.text(), "One. Two. Three.Done.");
    heard(log.events())
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_panics_ends_its_block_and_not_the_reply() {
    let warnings = Logged::warnings("cepa_tts");
    for (voice, told) in [
        (Voice::new().first([Act::Say("one"), Act::Panic]), &["one", "Done."][..]),
        (Voice::new().realtime().first([Act::Say("one"), Act::Panic]), &["one", "Done.."]),
        (Voice::new().connecting([Act::Panic]), &[]),
    ] {
        assert_eq!(heard_of(TtsMiddleware::new(voice.clone())).await, told);
        let warned = warnings.take();
        assert!(warned[0].contains("it panicked: the voice breaks"), "{warned:?}");
        assert_eq!((voice.sessions(), voice.open()), (2, 0));
    }
}

/// Panics at a text, or at the end of any.
struct Strict(bool);

impl TextFilter for Strict {
    fn push(&mut self, text: &str) -> String {
        assert!(self.0 || !text.contains("Three"), "the filter breaks");
        text.to_owned()
    }

    fn finish(&mut self) -> String {
        assert!(!self.0, "the filter breaks at the end");
        String::new()
    }
}

#[tokio::test(start_paused = true)]
async fn a_filter_that_panics_ends_its_block_and_not_the_reply() {
    let warnings = Logged::warnings("cepa_tts");
    let strict = || SpeechFilter::new(|| Strict(false));
    let at_the_end = || SpeechFilter::new(|| Strict(true));
    let never_begins = || SpeechFilter::new(|| -> Strict { panic!("the filter breaks at the beginning") });
    for (voice, per, filter, told, warned_of) in [
        (Voice::new(), Per::Block, strict(), &["Done."][..], 1),
        (Voice::new(), Per::Sentence, strict(), &["One. ", "Done."], 1),
        (Voice::new().realtime(), Per::Block, strict(), &["One. Two. .", "Done.."], 1),
        (Voice::new(), Per::Sentence, at_the_end(), &["One. Two. "], 2),
        (Voice::new(), Per::Sentence, never_begins(), &[], 2),
    ] {
        let speech = TtsMiddleware::builder(voice).per(per).filter(filter).build().unwrap();
        assert_eq!(heard_of(speech).await, told);
        let warned = warnings.take();
        assert_eq!(warned.len(), warned_of, "{warned:?}");
        assert!(warned[0].contains("it panicked: the filter breaks"), "{warned:?}");
    }
}
