//! Speech over a WebSocket.

use std::time::Duration;

use cepa_core::ErrorType;
use cepa_models::{
    AudioChunk, ConfigError, DashScopeRealtimeTts, DashScopeRealtimeTtsBuilder, TtsModel, synthesize,
    tts_audio, tts_text,
};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use crate::{
    realtime_server::{Scene, Server, delta, said},
    speech::{info, joined, speak},
};

const KEY: &str = "sk-0123456789-very-secret";

fn model(server: &Server) -> DashScopeRealtimeTtsBuilder {
    DashScopeRealtimeTts::builder("qwen tts").base_url(&server.url).retry_delay(Duration::from_millis(1))
}

fn event(event: &Value) -> Message {
    Message::text(event.to_string())
}

fn error(message: &str, code: &str) -> Message {
    event(
        &json!({"type": "error", "error": {"type": "invalid_request_error", "code": code, "message": message}}),
    )
}

fn close(reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code: CloseCode::Policy, reason: reason.into() }))
}

#[tokio::test]
async fn the_session_is_opened_as_the_protocol_wants_it() {
    let mut server = Server::start([Scene::Speak]).await;
    let model = model(&server)
        .api_key(KEY)
        .voice("Ethan")
        .sample_rate(16_000)
        .language("English")
        .speed(1.25)
        .instructions("Whisper.")
        .extra("volume", 70)
        .build()
        .unwrap();
    assert!(model.is_realtime() && model.name() == "qwen tts");
    let chunks = synthesize(&model, "Hi.").await.unwrap();
    assert_eq!(said(&chunks), "Hi.");
    assert_eq!(&*chunks[0].media_type, "audio/pcm;rate=16000");
    let seen = server.over().await;
    assert_eq!(seen.uri, "/v1/realtime?model=qwen+tts");
    assert_eq!(seen.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(
        seen.types(),
        ["session.update", "input_text_buffer.append", "input_text_buffer.commit", "session.finish"]
    );
    assert_eq!(
        seen.events[0]["session"],
        json!({
            "voice": "Ethan", "mode": "server_commit", "response_format": "pcm", "sample_rate": 16_000,
            "language_type": "English", "speech_rate": 1.25, "instructions": "Whisper.", "volume": 70,
        })
    );
    let mut ids: Vec<_> = seen.events.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 4, "{ids:?}");
}

#[tokio::test]
async fn audio_comes_while_text_is_written() {
    let mut server = Server::start([Scene::Speak]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    let (sender, text) = tts_text();
    let (audio, mut chunks) = tts_audio();
    let write = async {
        let mut heard = Vec::new();
        for piece in ["An ", "onion", "", " has layers."] {
            sender.push(piece);
            if !piece.is_empty() {
                heard.extend(chunks.next().await); // the next piece is written when this one is heard
            }
        }
        drop(sender);
        while let Some(chunk) = chunks.next().await {
            heard.push(chunk);
        }
        heard
    };
    let (heard, result) = tokio::join!(write, session.speak(text, audio));
    result.unwrap();
    assert_eq!(said(&heard), "An onion has layers.");
    assert_eq!(server.over().await.texts(), ["An ", "onion", " has layers."]);
}

#[tokio::test]
async fn several_texts_of_a_session_are_spoken_one_after_the_other() {
    let mut server = Server::start([Scene::Speak]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    for pieces in [&["One", "."][..], &["", " \n"], &["\n", "Two."], &[], &["Three."]] {
        let (chunks, result) = speak(&mut *session, pieces).await;
        result.unwrap();
        assert_eq!(said(&chunks).trim(), pieces.concat().trim());
    }
    for text in ["One.", "\nTwo.", "Three."] {
        assert_eq!(server.over().await.texts().concat(), text);
    }
}

#[tokio::test]
async fn two_sessions_at_once_keep_their_voices_apart() {
    let server = Server::start([Scene::Speak]).await;
    let model = model(&server).build().unwrap();
    let (mut a, mut b) = (model.connect().await.unwrap(), model.connect().await.unwrap());
    let (a_sender, a_text) = tts_text();
    let (b_sender, b_text) = tts_text();
    let ((a_audio, mut a_chunks), (b_audio, mut b_chunks)) = (tts_audio(), tts_audio());
    let write = async {
        let (mut a_heard, mut b_heard) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            a_sender.push("aa");
            b_sender.push("bb");
            b_heard.extend(b_chunks.next().await);
            a_heard.extend(a_chunks.next().await);
        }
        drop((a_sender, b_sender));
        (said(&a_heard), said(&b_heard))
    };
    let (heard, a_result, b_result) = tokio::join!(write, a.speak(a_text, a_audio), b.speak(b_text, b_audio));
    a_result.unwrap();
    b_result.unwrap();
    assert_eq!(heard, ("aaaaaa".to_owned(), "bbbbbb".to_owned()));
}

#[tokio::test]
async fn a_text_that_is_dropped_leaves_nothing_for_the_next() {
    let mut server = Server::start([Scene::Babble, Scene::Speak]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    let (sender, text) = tts_text();
    sender.push("stale");
    let (audio, mut chunks) = tts_audio();
    {
        let mut speaking = session.speak(text, audio);
        let first = tokio::select! {
            chunk = chunks.next() => chunk,
            result = &mut speaking => panic!("{result:?}"),
        };
        assert_eq!(said(first.as_slice()), "stale");
    }
    assert_eq!(server.over().await.types(), ["session.update", "input_text_buffer.append"]); // hung up
    let (chunks, result) = speak(&mut *session, &["fresh"]).await;
    result.unwrap();
    assert_eq!(said(&chunks), "fresh");
}

#[tokio::test]
async fn before_any_audio_a_lost_connection_is_opened_again() {
    let finished = event(&json!({"type": "session.finished"}));
    let scenes = [
        Scene::Refuse(429, "slow"),
        Scene::Vanish(1),
        Scene::Vanish(2),
        Scene::Answer(vec![close("restart")]),
        Scene::Answer(vec![error("busy", "Throttling.RateQuota")]),
        Scene::Answer(vec![finished]), // without audio, or before the text's end
    ];
    for scene in scenes {
        let what = format!("{scene:?}");
        let server = Server::start([scene, Scene::Speak]).await;
        let mut session = model(&server).build().unwrap().connect().await.unwrap();
        let (chunks, result) = speak(&mut *session, &["An ", "onion", "."]).await;
        result.unwrap();
        assert_eq!(said(&chunks), "An onion.", "{what}");
    }
}

#[tokio::test]
async fn no_sample_is_cut() {
    let audio = [&[1u8][..], &[2, 3], &[4, 5, 6, 7], &[]].map(|bytes| event(&delta(bytes)));
    let finished = event(&json!({"type": "session.finished"}));
    let late = [audio.to_vec(), vec![finished]].concat();
    let server = Server::start([Scene::Answer(late)]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    let (chunks, _) = speak(&mut *session, &["Hi."]).await;
    assert!(chunks.iter().all(|chunk| chunk.data.len() % 2 == 0), "{chunks:?}");
    assert_eq!(joined(&chunks), [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn failures_are_told_in_the_servers_words() {
    let heard = || event(&delta(&[1, 2]));
    let failed = json!({"type": "response.done", "response": {
        "status": "failed", "status_details": {"type": "failed", "error": {"code": "x", "message": "hoarse"}},
    }});
    let cases = [
        (
            Scene::Refuse(401, r#"{"code": "InvalidApiKey", "message": "who?"}"#),
            ErrorType::Authentication,
            "who?",
        ),
        (Scene::Refuse(404, "<title>Not here</title>"), ErrorType::InvalidRequest, "Not here"),
        (
            Scene::Answer(vec![error("no voice `Zed`", "invalid_value")]),
            ErrorType::InvalidRequest,
            "no voice `Zed`",
        ),
        (
            Scene::Answer(vec![heard(), error("overloaded", "server_error")]),
            ErrorType::InvalidRequest,
            "overloaded",
        ),
        (Scene::Answer(vec![event(&failed)]), ErrorType::Upstream, "hoarse"),
        (Scene::Answer(vec![close("too many words")]), ErrorType::Upstream, "1008): too many words"),
        (Scene::Answer(vec![heard(), Message::Close(None)]), ErrorType::Connection, "before it was done"),
        (Scene::Vanish(1), ErrorType::Connection, "the connection"),
        (Scene::Answer(vec![Message::text("hello")]), ErrorType::Upstream, "no event: hello"),
        (Scene::Answer(vec![Message::binary(vec![1])]), ErrorType::Upstream, "no text"),
        (
            Scene::Answer(vec![event(&json!({"type": "response.audio.delta", "delta": "*"}))]),
            ErrorType::Upstream,
            "no base64",
        ),
        (Scene::Answer(vec![Message::text("x".repeat(5000))]), ErrorType::Upstream, "longer than 4096 bytes"),
        (
            Scene::Answer(vec![heard(), event(&delta(&[0; 2000]))]),
            ErrorType::Upstream,
            "longer than 1024 bytes",
        ),
    ];
    for (scene, kind, words) in cases {
        let what = format!("{scene:?}");
        let server = Server::start([scene]).await;
        let model = model(&server).max_retries(0).max_event_bytes(4096).max_body_bytes(1024).build().unwrap();
        let error = synthesize(&model, "Hi.").await.expect_err(&what);
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.to_string().contains("`qwen tts`"), "{error}");
        assert_eq!(info(&error).0, kind, "{error}");
    }
}

#[tokio::test]
async fn silence_ends() {
    let heard = event(&delta(&[1, 2]));
    for scene in [Scene::Answer(vec![heard]), Scene::Answer(vec![])] {
        let server = Server::start([scene]).await;
        let model = model(&server).max_retries(0).idle_timeout(Duration::from_millis(50)).build().unwrap();
        let error = synthesize(&model, "Hi.").await.unwrap_err();
        assert!(error.to_string().contains("sent nothing for 50ms"), "{error}");
        assert_eq!(info(&error), (ErrorType::Connection, true));
    }
    let server = Server::start([Scene::Never]).await;
    let model = model(&server).max_retries(0).connect_timeout(Duration::from_millis(50)).build().unwrap();
    let error = synthesize(&model, "Hi.").await.unwrap_err();
    assert!(error.to_string().contains("within 50ms (`connect_timeout`)"), "{error}");
    assert_eq!(info(&error), (ErrorType::Connection, true));
}

#[tokio::test]
async fn after_audio_there_is_no_second_attempt() {
    let begun = Scene::Answer(vec![event(&delta(&[1, 2])), close("")]);
    let server = Server::start([begun, Scene::Speak]).await;
    let mut session = model(&server).build().unwrap().connect().await.unwrap();
    let (chunks, result) = speak(&mut *session, &["Hi."]).await;
    assert_eq!(chunks, [AudioChunk::pcm(24_000, [1, 2])]);
    assert!(result.unwrap_err().to_string().contains("before it was done"));
    // The session goes on: its next text has a connection of its own.
    let (chunks, result) = speak(&mut *session, &["Again."]).await;
    result.unwrap();
    assert_eq!(said(&chunks), "Again.");
}

#[tokio::test]
async fn a_session_that_said_nothing_hangs_up_in_good_order() {
    let mut server = Server::start([Scene::Speak]).await;
    let session = model(&server).build().unwrap().connect().await.unwrap();
    session.close(Duration::from_secs(5)).await;
    let seen = server.over().await;
    assert!(seen.closed);
    assert_eq!(seen.types(), ["session.update"]);
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_told() {
    let scenes = [
        Scene::Refuse(401, KEY),
        Scene::Answer(vec![error(KEY, KEY)]),
        Scene::Answer(vec![close(KEY)]),
        Scene::Answer(vec![Message::text(KEY)]),
    ];
    for scene in scenes {
        let server = Server::start([scene]).await;
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

#[test]
fn settings_that_cannot_work_are_refused() {
    let builder = || DashScopeRealtimeTts::builder("m").base_url("ws://127.0.0.1:1/v1");
    let settings = [
        (builder().voice(""), "voice"),
        (builder().speed(3.0), "speed"),
        (builder().sample_rate(1), "sample_rate"),
        (builder().extra("mode", "commit"), "extra"),
    ];
    for (builder, name) in settings {
        let error = builder.build().unwrap_err();
        assert!(matches!(&error, ConfigError::OutOfRange { setting, .. } if *setting == name), "{error}");
    }
    let no_key = DashScopeRealtimeTts::builder("m").build().unwrap_err().to_string();
    assert!(no_key.contains("dashscope.aliyuncs.com") && no_key.contains("DASHSCOPE_API_KEY"), "{no_key}");
    let http = builder().base_url("https://x/v1").build().unwrap_err().to_string();
    assert!(http.contains("`wss:`") && http.contains("wss://dashscope"), "{http}");
}
