//! Speech over HTTP.

use std::time::Duration;

use cepa_core::{Error, ErrorKind, ErrorType, Result};
use cepa_models::{
    AudioChunk, ConfigError, OpenAiTts, OpenAiTtsBuilder, SpeechFormat, TtsModel, TtsSession, synthesize,
    tts_audio, tts_text,
};
use serde_json::{Value, json};

use crate::server::{Answer, Piece, Server};

fn model(server: &Server) -> OpenAiTtsBuilder {
    OpenAiTts::builder("t").base_url(&server.url).retry_delay(Duration::from_millis(1))
}

fn pcm(data: impl Into<Vec<u8>>) -> Answer {
    Answer::new(200, "audio/pcm", data.into())
}

/// Speaks a text of these pieces, and gathers what is heard until the end.
pub(crate) async fn speak(session: &mut dyn TtsSession, pieces: &[&str]) -> (Vec<AudioChunk>, Result<()>) {
    let (sender, text) = tts_text();
    for piece in pieces {
        sender.push(*piece);
    }
    drop(sender);
    let (audio, mut chunks) = tts_audio();
    let listen = async {
        let mut heard = Vec::new();
        while let Some(chunk) = chunks.next().await {
            heard.push(chunk);
        }
        heard
    };
    tokio::join!(listen, session.speak(text, audio))
}

pub(crate) fn joined(chunks: &[AudioChunk]) -> Vec<u8> {
    chunks.iter().flat_map(|chunk| chunk.data.clone()).collect()
}

pub(crate) fn info(error: &Error) -> (ErrorType, bool) {
    let ErrorKind::Model(error) = error.kind() else { panic!("{error}") };
    (error.kind, error.retryable)
}

#[tokio::test]
async fn a_text_is_one_request_and_comes_out_as_audio() {
    let server = Server::start([pcm([1, 2, 3, 4])]).await;
    let model = model(&server)
        .voice("coral")
        .speed(1.5)
        .instructions("Whisper.")
        .extra("stream_format", "audio")
        .api_key("sk-0123456789")
        .build()
        .unwrap();
    assert!(!model.is_realtime() && model.name() == "t");
    assert_eq!(synthesize(&model, "Hi.").await.unwrap(), [AudioChunk::pcm(24_000, [1, 2, 3, 4])]);
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].path, "/v1/audio/speech");
    assert_eq!(asked[0].headers["authorization"], "Bearer sk-0123456789");
    assert_eq!(asked[0].headers["content-type"], "application/json");
    assert_eq!(
        asked[0].body,
        json!({
            "model": "t", "input": "Hi.", "voice": "coral", "response_format": "pcm",
            "speed": 1.5, "instructions": "Whisper.", "stream_format": "audio",
        })
    );
}

#[tokio::test]
async fn audio_goes_out_before_all_of_it_is_there() {
    let server = Server::start([pcm([1, 2]).then(Piece::Hang)]).await;
    let mut session = model(&server).sample_rate(16_000).build().unwrap().connect().await.unwrap();
    let (sender, text) = tts_text();
    sender.push("Hi.");
    let (audio, mut chunks) = tts_audio();
    let dropped = server.next_dropped();
    let mut speaking = session.speak(text, audio);
    let first = tokio::select! {
        chunk = chunks.next() => chunk,
        result = &mut speaking => panic!("{result:?}"),
    };
    assert_eq!(first, Some(AudioChunk::pcm(16_000, [1, 2])));
    drop(speaking);
    dropped.await.unwrap(); // who stops it hangs up
}

#[tokio::test]
async fn no_sample_is_cut() {
    let data: Vec<u8> = (0..=200).collect(); // half a sample too much
    let server = Server::start([pcm(data.clone()).in_pieces_of(7)]).await;
    let chunks = synthesize(&model(&server).build().unwrap(), "Hi.").await.unwrap();
    assert!(chunks.len() > 1);
    assert!(chunks.iter().all(|chunk| chunk.data.len() % 2 == 0), "{chunks:?}");
    assert_eq!(joined(&chunks), data[..200]);
}

#[tokio::test]
async fn half_a_sample_of_one_sentence_does_not_shift_the_next() {
    let server = Server::start([pcm([1, 2, 9]), pcm([3, 4])]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    let (chunks, result) = speak(&mut *session, &["One.", " \n", "", "Two."]).await;
    result.unwrap();
    assert_eq!(joined(&chunks), [1, 2, 3, 4]);
    let inputs: Vec<Value> = server.asked().iter().map(|asked| asked.body["input"].clone()).collect();
    assert_eq!(inputs, ["One.", "Two."]);
}

#[tokio::test]
async fn files_that_cannot_be_joined_are_one_request_a_text() {
    let cases = [
        (SpeechFormat::Wav, "wav", "audio/wav", 1),
        (SpeechFormat::Opus, "opus", "audio/ogg;codecs=opus", 1),
        (SpeechFormat::Flac, "flac", "audio/flac", 1),
        (SpeechFormat::Mp3, "mp3", "audio/mpeg", 2),
        (SpeechFormat::Aac, "aac", "audio/aac", 2),
    ];
    for (format, name, media_type, requests) in cases {
        let server = Server::start([Answer::new(200, "audio/any", [1u8, 2, 3].as_slice())]).await;
        let mut session = model(&server).format(format).build().unwrap().connect().await.unwrap();
        let (chunks, result) = speak(&mut *session, &["One.", "Two."]).await;
        result.unwrap();
        assert_eq!(joined(&chunks), [1, 2, 3].repeat(requests), "{name}");
        assert!(chunks.iter().all(|chunk| &*chunk.media_type == media_type), "{chunks:?}");
        let asked = server.asked();
        assert_eq!(asked.len(), requests);
        assert_eq!(asked[0].body["response_format"], name);
        assert_eq!(asked[0].body["input"], if requests == 1 { "One. Two." } else { "One." });
    }
}

#[tokio::test]
async fn a_text_without_words_asks_nobody() {
    let server = Server::start([pcm([1, 2])]).await;
    for format in [SpeechFormat::Pcm, SpeechFormat::Wav] {
        let mut session = model(&server).format(format).build().unwrap().connect().await.unwrap();
        for pieces in [&[][..], &["", " \n\t"]] {
            let (chunks, result) = speak(&mut *session, pieces).await;
            result.unwrap();
            assert!(chunks.is_empty());
        }
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn before_any_audio_it_is_tried_again() {
    let bad = [
        Answer::json(429, &json!({"error": {"message": "slow"}})).header("retry-after", "0"),
        pcm(""),
        pcm([1]).then(Piece::Cut), // half a sample is no audio
        Answer::json(200, &json!({"error": {"message": "busy", "code": 503}})),
        Answer::new(200, "text/html", "<title>Hello</title>"),
    ];
    for answer in bad {
        let what = format!("{answer:?}");
        let server = Server::start([answer, pcm([5, 6])]).await;
        let chunks = synthesize(&model(&server).build().unwrap(), "Hi.").await.unwrap();
        assert_eq!(joined(&chunks), [5, 6], "{what}");
        assert_eq!(server.asked().len(), 2, "{what}");
    }
}

#[tokio::test]
async fn after_audio_it_is_not() {
    let server = Server::start([pcm([1, 2]).then(Piece::Cut), pcm([5, 6])]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    let (chunks, result) = speak(&mut *session, &["Hi."]).await;
    let error = result.unwrap_err();
    assert_eq!(joined(&chunks), [1, 2]);
    assert!(error.to_string().contains("broke off"), "{error}");
    assert_eq!((info(&error).0, server.asked().len()), (ErrorType::Connection, 1));
}

#[tokio::test]
async fn failures_are_told_in_the_servers_words() {
    let refused = json!({"error": {"message": "no voice `zed`"}});
    let cases = [
        (Answer::json(400, &refused), ErrorType::InvalidRequest, "no voice `zed`"),
        (Answer::json(401, &json!({"detail": "who?"})), ErrorType::Authentication, "who?"),
        (Answer::json(200, &refused), ErrorType::Upstream, "no voice `zed`"),
        (Answer::new(200, "text/plain; charset=utf-8", "out of order"), ErrorType::Upstream, "out of order"),
        (pcm(""), ErrorType::Upstream, "no audio"),
        (pcm(vec![0; 2000]), ErrorType::Upstream, "longer than 1024 bytes"),
    ];
    for (answer, kind, words) in cases {
        let server = Server::start([answer]).await;
        let model = model(&server).max_retries(0).max_body_bytes(1024).build().unwrap();
        let error = synthesize(&model, "Hi.").await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(info(&error).0, kind, "{error}");
    }
}

#[tokio::test]
async fn silence_ends() {
    for answer in [Answer::never(), pcm([1, 2]).then(Piece::Hang)] {
        let server = Server::start([answer]).await;
        let model = model(&server).max_retries(0).idle_timeout(Duration::from_millis(50)).build().unwrap();
        let error = synthesize(&model, "Hi.").await.unwrap_err();
        assert!(error.to_string().contains("sent nothing for 50ms"), "{error}");
        assert_eq!(info(&error).0, ErrorType::Connection);
    }
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_told() {
    const KEY: &str = "sk-0123456789-very-secret";
    let words = json!({"error": {"message": format!("bad key {KEY}")}});
    for answer in [Answer::json(401, &words), Answer::json(200, &words), Answer::new(200, "text/plain", KEY)]
    {
        let server = Server::start([answer]).await;
        let builder = model(&server).api_key(KEY).max_retries(0);
        assert!(!format!("{builder:?}").contains(KEY));
        let model = builder.build().unwrap();
        let error = synthesize(&model, "Hi.").await.unwrap_err();
        assert!(error.to_string().contains("[key]"), "{error}");
        for text in [format!("{error:?}"), format!("{:?}", error.kind()), format!("{model:?}")] {
            assert!(!text.contains("sk-0123"), "{text}");
        }
    }
}

#[tokio::test]
async fn nobody_who_listens_ends_it() {
    let server = Server::start([pcm([1, 2]).then(Piece::Hang)]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    let (sender, text) = tts_text();
    sender.push("One.");
    sender.push("Two.");
    let (audio, chunks) = tts_audio();
    drop(chunks);
    session.speak(text, audio).await.unwrap();
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let builder = || OpenAiTts::builder("m").base_url("http://127.0.0.1:1/v1");
    let settings = [
        (builder().voice(" "), "voice"),
        (builder().speed(5.0), "speed"),
        (builder().speed(f64::NAN), "speed"),
        (builder().sample_rate(0), "sample_rate"),
        (builder().extra("voice", "x"), "extra"),
    ];
    for (builder, name) in settings {
        let error = builder.build().unwrap_err();
        assert!(matches!(&error, ConfigError::OutOfRange { setting, .. } if *setting == name), "{error}");
    }
    assert!(matches!(OpenAiTts::builder("m").build(), Err(ConfigError::NoKey { .. })));
}
