//! A server on loopback that answers as it is told: piece by piece, cut off, or not at all.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    task::Poll,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A piece of an answer's body.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Send(Bytes),
    /// The connection breaks.
    Cut,
    /// Nothing more comes, but the connection stays.
    Hang,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<Piece>,
    never: bool,
}

impl Answer {
    /// A body of this type in one piece.
    pub(crate) fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self { status, headers, pieces: vec![Piece::Send(body.into())], never: false }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// A stream of events with this text.
    pub(crate) fn sse(body: impl Into<Bytes>) -> Self {
        Self::new(200, "text/event-stream", body)
    }

    /// Not even a status.
    pub(crate) fn never() -> Self {
        Self { never: true, ..Self::sse("") }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The body in pieces of so many bytes.
    pub(crate) fn in_pieces_of(mut self, length: usize) -> Self {
        let pieces = std::mem::take(&mut self.pieces);
        for piece in pieces {
            match piece {
                Piece::Send(bytes) => {
                    self.pieces
                        .extend(bytes.chunks(length).map(|chunk| Piece::Send(Bytes::copy_from_slice(chunk))));
                }
                other => self.pieces.push(other),
            }
        }
        self
    }

    /// How it goes on after the body so far.
    pub(crate) fn then(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

#[derive(Default)]
struct Shared {
    answers: VecDeque<Answer>,
    asked: Vec<Asked>,
    on_drop: Option<oneshot::Sender<()>>,
}

/// The server. It gives its answers in turn, the last one for ever.
pub(crate) struct Server {
    pub(crate) url: String,
    shared: Arc<Mutex<Shared>>,
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let shared =
            Arc::new(Mutex::new(Shared { answers: answers.into_iter().collect(), ..Shared::default() }));
        let app = Router::new().fallback(answer).with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, shared }
    }

    /// Gives this answer from now on.
    pub(crate) fn set(&self, answer: Answer) {
        self.shared.lock().unwrap().answers = VecDeque::from([answer]);
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.lock().unwrap().asked.clone()
    }

    /// Tells when the body of the next answer is dropped: its reader is gone.
    pub(crate) fn next_dropped(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.shared.lock().unwrap().on_drop = Some(sender);
        receiver
    }
}

struct TellOnDrop(Option<oneshot::Sender<()>>);

impl Drop for TellOnDrop {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(());
        }
    }
}

async fn answer(State(shared): State<Arc<Mutex<Shared>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let (answer, tell) = {
        let mut shared = shared.lock().unwrap();
        shared.asked.push(Asked { path: parts.uri.path().to_owned(), headers: parts.headers, body });
        let answer = match shared.answers.len() {
            1 => shared.answers[0].clone(),
            _ => shared.answers.pop_front().expect("an answer"),
        };
        (answer, TellOnDrop(shared.on_drop.take()))
    };
    if answer.never {
        std::future::pending::<()>().await;
    }
    let mut response = Response::builder().status(StatusCode::from_u16(answer.status).unwrap());
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    let pieces = stream::unfold((answer.pieces.into_iter(), tell), |(mut pieces, tell)| async move {
        yield_once().await; // so that each piece is sent on its own
        match pieces.next()? {
            Piece::Send(bytes) => Some((Ok(bytes), (pieces, tell))),
            Piece::Cut => Some((Err(std::io::Error::other("cut")), (pieces, tell))),
            Piece::Hang => std::future::pending().await,
        }
    });
    response.body(Body::from_stream(pieces)).unwrap()
}

async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// One packet of a stream with this delta.
pub(crate) fn delta(delta: &Value) -> String {
    event(
        &json!({"id": "c1", "model": "served", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
    )
}

/// The packet that ends an answer.
pub(crate) fn finish(reason: &str) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

/// An event with this data.
pub(crate) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A whole, good answer.
pub(crate) fn hello() -> Answer {
    let text = [delta(&json!({"content": "Hel"})), delta(&json!({"content": "lo"})), finish("stop")];
    Answer::sse(format!("{}data: [DONE]\n\n", text.concat()))
}
