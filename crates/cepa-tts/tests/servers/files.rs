//! Formats whose audio joins, and formats whose audio does not.

use std::sync::Arc;

use cepa_core::testing::ScriptedModel;
use cepa_models::{OpenAiTts, SpeechFormat};
use cepa_tts::{Builder, Per, TtsMiddleware};

use crate::{
    server::{Answer, Server},
    support::{agent, heard, log},
};

const TEXT: &str = "One onion. Two onions.";

/// What is heard of the text, one per audio block, and what the server was asked for. Each of its answers is "(file)".
async fn heard_of(format: SpeechFormat, set: impl FnOnce(Builder) -> Builder) -> (Vec<String>, Vec<String>) {
    let server = Server::start([Answer::new(200, "audio/any", "(file)")]).await;
    let model = OpenAiTts::builder("t").base_url(&server.url).format(format).build().unwrap();
    // Shared, as a program's models are.
    let speech = set(TtsMiddleware::builder(Arc::new(model))).build().unwrap();
    let log = log(&mut agent(&ScriptedModel::new([TEXT]), speech)).await;
    let asked = server.asked().iter().map(|asked| asked.body["input"].as_str().unwrap().to_owned()).collect();
    (heard(log.events()), asked)
}

#[tokio::test]
async fn audio_that_does_not_join_is_a_block_for_each_text() {
    for format in [SpeechFormat::Flac, SpeechFormat::Opus] {
        let (heard, asked) = heard_of(format, |speech| speech).await;
        assert_eq!((heard, asked), (vec!["(file)".to_owned()], vec![TEXT.to_owned()]));
        for set in [|speech: Builder| speech.per(Per::Sentence), |speech: Builder| speech.max_length(12)] {
            let (heard, asked) = heard_of(format, set).await;
            assert_eq!(heard, ["(file)", "(file)"], "{format:?}");
            assert_eq!(asked, ["One onion. ", "Two onions."]);
        }
    }
}

#[tokio::test]
async fn audio_that_joins_is_one_block() {
    for format in [SpeechFormat::Mp3, SpeechFormat::Aac, SpeechFormat::Pcm, SpeechFormat::Wav] {
        let (heard, asked) = heard_of(format, |speech| speech.per(Per::Sentence)).await;
        assert_eq!(heard, ["(file)(file)"], "{format:?}");
        assert_eq!(asked.len(), 2);
    }
}
