//! A server that speaks OpenAI's API on loopback, and does what it is told to with each request.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::Outcome;

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Refuses: too many requests; come back after so many seconds.
    Busy(u32),
    /// Fails with a status.
    Fail(u16),
    /// Takes the request and never says a word.
    Hang,
    /// Says this and breaks off.
    Cut(&'static str),
    /// Says this, three characters at a time.
    Say(&'static str),
    /// Calls this tool.
    Call(&'static str, Value),
}

#[derive(Default)]
struct Shared {
    acts: VecDeque<Act>,
    asked: Vec<String>,
}

/// The server.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    shared: Arc<Mutex<Shared>>,
}

impl Server {
    pub(crate) async fn start() -> io::Result<Self> {
        let shared = Arc::<Mutex<Shared>>::default();
        let app = Router::new().route("/v1/chat/completions", post(answer)).with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Self { url, shared })
    }

    /// What it does next. When nothing is left it says that it is done.
    pub(crate) fn will(&self, acts: impl IntoIterator<Item = Act>) {
        let mut shared = lock(&self.shared);
        shared.acts.clear();
        shared.acts.extend(acts);
    }

    /// How many acts are left: something was not asked for.
    pub(crate) fn left(&self) -> usize {
        lock(&self.shared).acts.len()
    }

    /// The requests so far, as they came.
    pub(crate) fn asked(&self) -> Vec<String> {
        lock(&self.shared).asked.clone()
    }
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(State(shared): State<Arc<Mutex<Shared>>>, Json(request): Json<Value>) -> Response {
    let text = request.to_string();
    println!("      server <- {} ({} bytes)", request["model"].as_str().unwrap_or("?"), text.len());
    let act = {
        let mut shared = lock(&shared);
        shared.asked.push(text);
        // Choosing a model is no part of the play.
        match request["model"] == "chooser" {
            true => Act::Call("generate_structured_output", json!({"choice": choice(&request)})),
            false => shared.acts.pop_front().unwrap_or(Act::Say("Done.")),
        }
    };
    println!("      server -> {}", told(&act));
    perform(act).await
}

/// Proofs are for the large model.
fn choice(request: &Value) -> &'static str {
    let messages = request["messages"].as_array();
    let last = messages.and_then(|messages| messages.last()).map(Value::to_string);
    if last.is_some_and(|text| text.contains("Prove")) { "large" } else { "small" }
}

fn told(act: &Act) -> String {
    match act {
        Act::Busy(seconds) => format!("429, Retry-After: {seconds}"),
        Act::Fail(status) => format!("{status}"),
        Act::Hang => "(hangs)".to_owned(),
        Act::Cut(_) => "half an answer".to_owned(),
        Act::Say(_) => "an answer".to_owned(),
        Act::Call(tool, _) => format!("a call of {tool}"),
    }
}

async fn perform(act: Act) -> Response {
    match act {
        Act::Busy(seconds) => {
            let body = json!({"error": {"message": "slow down", "type": "rate_limit_error"}});
            (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds.to_string())], Json(body))
                .into_response()
        }
        Act::Fail(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Json(json!({"error": {"message": "out of order", "type": "server_error"}})))
                .into_response()
        }
        Act::Hang => std::future::pending().await,
        Act::Cut(text) => events(deltas(text), false),
        Act::Say(text) => events(deltas(text), true),
        Act::Call(tool, arguments) => {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            let call =
                json!({"index": 0, "id": format!("call_{tool}"), "type": "function", "function": function});
            events(vec![json!({"tool_calls": [call]})], true)
        }
    }
}

/// The text in pieces, so that values are parted.
fn deltas(text: &str) -> Vec<Value> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(3).map(|piece| json!({"content": piece.iter().collect::<String>()})).collect()
}

/// A stream of events, to its end or broken off.
fn events(deltas: Vec<Value>, to_the_end: bool) -> Response {
    let is_call = deltas.iter().any(|delta| !delta["tool_calls"].is_null());
    let chunk =
        |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": choices});
    let mut chunks: Vec<Value> = deltas
        .into_iter()
        .map(|delta| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])))
        .collect();
    if to_the_end {
        let reason = if is_call { "tool_calls" } else { "stop" };
        chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}])));
        let mut last = chunk(json!([]));
        last["usage"] = json!({"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150});
        chunks.push(last);
    }
    let mut lines: Vec<io::Result<Bytes>> =
        chunks.into_iter().map(|chunk| Ok(Bytes::from(format!("data: {chunk}\n\n")))).collect();
    lines.push(match to_the_end {
        true => Ok(Bytes::from_static(b"data: [DONE]\n\n")),
        false => Err(io::ErrorKind::ConnectionReset.into()),
    });
    // One after the other, so that what comes first is read before the connection breaks.
    let body = stream::iter(lines).then(|line| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        line
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

/// Fails where the play went otherwise than it was written.
pub(crate) fn nothing_left(server: &Server, turn: &str) -> Outcome {
    match server.left() {
        0 => Ok(()),
        left => Err(format!("\"{turn}\": {left} acts of the server were not asked for").into()),
    }
}
