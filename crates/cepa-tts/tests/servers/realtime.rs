//! Speech over a WebSocket.

use std::{sync::Arc, time::Duration};

use cepa_core::{
    CancelToken,
    serde_json::json,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_models::{DashScopeRealtimeTts, TtsModel};
use cepa_tts::{SpeechFilter, TtsMiddleware};

use crate::{
    realtime_server::{Scene, Server},
    support::{agent, audio, builder, heard, log, within},
};

fn model(server: &Server) -> impl TtsModel {
    let model = DashScopeRealtimeTts::builder("q").base_url(&server.url);
    model.retry_delay(Duration::from_millis(1)).build().unwrap()
}

/// What was said: the server makes a sample of two bytes of each character.
fn words(log: &EventLog) -> Vec<String> {
    heard(log.events()).into_iter().map(|said| said.replace('\0', "")).collect()
}

/// Two text blocks with a tool between them.
fn two_blocks(name: &str) -> ScriptedModel {
    ScriptedModel::new([
        Answer::new()
            .texts([format!("{name} one "), "**two** ".into(), "x.".into()])
            .tool_call("look", json!({})),
        Answer::new().texts([format!("{name} end"), ".".into()]),
    ])
}

#[tokio::test]
async fn two_replies_at_once_keep_their_voices_apart() {
    let mut server = Server::start([Scene::Speak]).await;
    let speech = TtsMiddleware::builder(model(&server)).filter(SpeechFilter::markdown()).build().unwrap();
    let speech = Arc::new(speech);
    let run = async |name: &str| {
        let agent = builder(&two_blocks(name)).tool(ScriptedTool::echo("look")).middleware(speech.clone());
        words(&log(&mut agent.build().unwrap()).await)
    };
    let (first, second) = tokio::join!(run("A"), run("B"));
    assert_eq!(first, ["A one two x.", "A end."]);
    assert_eq!(second, ["B one two x.", "B end."]);
    // No connection was of both.
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(within(server.over()).await.texts().concat());
    }
    told.sort();
    assert_eq!(told, ["A end.", "A one two x.", "B end.", "B one two x."]);
}

#[tokio::test]
async fn an_interrupt_hangs_up_and_leaves_no_audio() {
    let mut server = Server::start([Scene::Babble]).await;
    let answer = Answer::new().text("Hello").hangs();
    let mut agent = agent(&ScriptedModel::new([answer]), TtsMiddleware::new(model(&server)));
    let token = CancelToken::new();
    let mut stream = agent.reply("Go").cancel_on(token.clone()).stream();
    let mut events = Vec::new();
    while events.iter().filter_map(audio).count() < 5 {
        events.push(within(stream.next()).await.unwrap());
    }
    token.cancel();
    let rest = within(EventLog::of_stream(stream)).await;
    assert_eq!(rest.events().iter().filter_map(audio).count(), 0);
    rest.assert(["DATA_BLOCK_END", "...", "REPLY_END interrupted"]);
    events.extend(rest.events().iter().cloned());
    assert_eq!(heard(&events).len(), 1);
    let seen = within(server.over()).await;
    assert_eq!(seen.texts(), ["Hello"]);
    assert!(!seen.types().contains(&"session.finish"));
}

#[tokio::test]
async fn a_server_that_vanishes_costs_the_speech_of_its_block() {
    let warnings = Logged::warnings("cepa_tts");
    let server = Server::start([Scene::Speak, Scene::Vanish(1)]).await;
    let mut agent = builder(&two_blocks("A"))
        .tool(ScriptedTool::echo("look"))
        .middleware(TtsMiddleware::new(model(&server)))
        .build()
        .unwrap();
    let log = log(&mut agent).await;
    log.assert(["...", "REPLY_END completed"]);
    assert_eq!(log.text(), "A one **two** x.A end.");
    assert_eq!(words(&log), ["A one **two** x."]);
    assert_eq!(warnings.take().len(), 1);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_cut_off() {
    let warnings = Logged::warnings("cepa_tts");
    let server = Server::start([Scene::Speak, Scene::Never]).await;
    let limit = Duration::from_secs(3);
    let speech = TtsMiddleware::builder(model(&server)).connect_within(limit).first_audio_within(limit);
    let mut agent = builder(&two_blocks("A"))
        .tool(ScriptedTool::echo("look"))
        .middleware(speech.build().unwrap())
        .build()
        .unwrap();
    let log = log(&mut agent).await;
    log.assert(["...", "REPLY_END completed"]);
    assert_eq!(words(&log), ["A one **two** x."]);
    let warned = warnings.take();
    assert!(warned.len() == 1 && warned[0].contains("within 3s"), "{warned:?}");
}
