//! A server on loopback that speaks DashScope's realtime protocol. Its voice is simple: of each byte of text it makes
//! one sample, so that what was said can be read in the audio.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use cepa_models::AudioChunk;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{ErrorResponse, Request, Response},
        http::HeaderMap,
    },
};

/// What the server does with a connection.
#[derive(Clone, Debug)]
pub(crate) enum Scene {
    /// Speaks each text as it comes, and says so at the end.
    Speak,
    /// The same, with a burst of audio from the first text on that nobody waits for.
    Babble,
    /// Answers the first text with these messages, and then is silent.
    Answer(Vec<Message>),
    /// Drops the connection after so many texts, with no audio and no word.
    Vanish(usize),
    /// Refuses the WebSocket.
    Refuse(u16, &'static str),
    /// Not even a status.
    Never,
}

/// A connection, when it is over.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) events: Vec<Value>,
    /// The client said that it goes.
    pub(crate) closed: bool,
}

impl Seen {
    /// The types of the events.
    pub(crate) fn types(&self) -> Vec<&str> {
        self.events.iter().filter_map(|event| event["type"].as_str()).collect()
    }

    /// The texts.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.events.iter().filter_map(|event| event["text"].as_str()).collect()
    }
}

/// The server. It plays its scenes in turn, the last one for ever.
pub(crate) struct Server {
    pub(crate) url: String,
    over: UnboundedReceiver<Seen>,
}

impl Server {
    pub(crate) async fn start(scenes: impl IntoIterator<Item = Scene>) -> Self {
        let scenes = Arc::new(Mutex::new(scenes.into_iter().collect::<VecDeque<_>>()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/v1", listener.local_addr().unwrap());
        let (sender, over) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let scene = {
                    let mut scenes = scenes.lock().unwrap();
                    if scenes.len() > 1 { scenes.pop_front().unwrap() } else { scenes[0].clone() }
                };
                tokio::spawn(play(stream, scene, sender.clone()));
            }
        });
        Self { url, over }
    }

    /// The next connection that is over.
    pub(crate) async fn over(&mut self) -> Seen {
        self.over.recv().await.unwrap()
    }
}

async fn play(stream: TcpStream, scene: Scene, over: UnboundedSender<Seen>) {
    let mut seen = Seen::default();
    if let Scene::Never = scene {
        return std::future::pending().await;
    }
    #[allow(clippy::result_large_err, reason = "the library wants it so")]
    let look = |request: &Request, response: Response| {
        seen.uri = request.uri().to_string();
        seen.headers = request.headers().clone();
        if let Scene::Refuse(status, body) = scene {
            let mut refusal = ErrorResponse::new(Some(body.to_owned()));
            *refusal.status_mut() = status.try_into().unwrap();
            refusal.headers_mut().insert("retry-after", "0".parse().unwrap());
            return Err(refusal);
        }
        Ok(response)
    };
    if let Ok(mut socket) = accept_hdr_async(stream, look).await {
        let _ = send(&mut socket, json!({"type": "session.created", "session": {"id": "s"}})).await;
        let _ = talk(&mut socket, &scene, &mut seen).await;
    }
    let _ = over.send(seen);
}

type Socket = WebSocketStream<TcpStream>;

async fn talk(socket: &mut Socket, scene: &Scene, seen: &mut Seen) -> Option<()> {
    loop {
        let event: Value = match socket.next().await?.ok()? {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            Message::Close(_) => {
                seen.closed = true;
                continue;
            }
            _ => continue,
        };
        seen.events.push(event.clone());
        let texts = seen.texts().len();
        match (event["type"].as_str()?, scene) {
            ("session.update", _) => {
                send(socket, json!({"type": "session.updated", "session": event["session"]})).await?;
            }
            ("input_text_buffer.append", Scene::Answer(messages)) if texts == 1 => {
                for message in messages {
                    socket.send(message.clone()).await.ok()?;
                }
            }
            ("input_text_buffer.append", Scene::Vanish(most)) if texts == *most => return None,
            ("input_text_buffer.append", Scene::Speak | Scene::Babble) => {
                send(socket, json!({"type": "response.created", "response": {"id": "r"}})).await?;
                let times = if matches!(scene, Scene::Babble) { 50 } else { 1 };
                for _ in 0..times {
                    send(socket, delta(&voice(event["text"].as_str()?))).await?;
                }
                send(socket, json!({"type": "response.done", "response": {"status": "completed"}})).await?;
            }
            ("session.finish", Scene::Speak) => {
                send(socket, json!({"type": "session.finished"})).await?;
                return socket.close(None).await.ok();
            }
            _ => {}
        }
    }
}

async fn send(socket: &mut Socket, event: Value) -> Option<()> {
    socket.send(Message::text(event.to_string())).await.ok()
}

/// An event with this audio.
pub(crate) fn delta(audio: &[u8]) -> Value {
    json!({"type": "response.audio.delta", "response_id": "r", "delta": STANDARD.encode(audio)})
}

fn voice(text: &str) -> Vec<u8> {
    text.bytes().flat_map(|byte| [byte, 0]).collect()
}

/// What the audio says.
pub(crate) fn said(chunks: &[AudioChunk]) -> String {
    let samples = chunks.iter().flat_map(|chunk| chunk.data.chunks(2));
    String::from_utf8(samples.map(|sample| sample[0]).collect()).unwrap()
}
