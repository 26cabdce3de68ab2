//! WebSockets: a connection of the same client, upgraded, so that TLS, headers and errors are those of all requests.

use std::fmt;

use cepa_core::{ErrorType, ModelError};
use futures_util::{SinkExt, StreamExt};
use reqwest::{
    Response, StatusCode, Upgraded,
    header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message, Utf8Bytes,
        handshake::{client::generate_key, derive_accept_key},
        protocol::{CloseFrame, Role, WebSocketConfig},
    },
};

use super::{Endpoint, Patience};

/// An open WebSocket.
pub(crate) type Socket = WebSocketStream<Upgraded>;

impl Endpoint {
    /// Adds a parameter to the URL.
    pub(crate) fn with_query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// Opens a WebSocket. A status other than 101 is an error that says what the server said.
    pub(crate) async fn open(&self, patience: &mut Patience) -> Result<Socket, ModelError> {
        let limit = self.settings.connect_timeout;
        let opening = tokio::time::timeout(limit, self.handshake(patience)).await;
        opening.unwrap_or_else(|_| {
            let host = self.url.authority();
            let what = format_args!("no connection to {host} within {limit:?} (`connect_timeout`)");
            Err(self.error(ErrorType::Connection, what))
        })
    }

    async fn handshake(&self, patience: &mut Patience) -> Result<Socket, ModelError> {
        let mut url = self.url.clone();
        // For HTTP, a WebSocket's URL is the one of the request that opens it.
        let scheme = if url.scheme() == "ws" { "http" } else { "https" };
        if url.set_scheme(scheme).is_err() {
            return Err(self.error(ErrorType::Internal, "the URL cannot be asked over HTTP"));
        }
        let key = generate_key();
        let request = self
            .client
            .get(url)
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &key);
        let is_good = |status: &StatusCode| *status == StatusCode::SWITCHING_PROTOCOLS;
        let response = self.send(request, is_good, patience).await?;
        if !accepts(&response, &key) {
            return Err(self.error(ErrorType::Upstream, "the server took the request for no WebSocket"));
        }
        let upgraded = response.upgrade().await.map_err(|error| self.unreachable(error))?;
        let limit = Some(self.settings.max_event_bytes);
        let config = WebSocketConfig::default().max_message_size(limit).max_frame_size(limit);
        Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
    }

    /// Sends one message.
    pub(crate) async fn tell(
        &self,
        socket: &mut Socket,
        message: String,
        patience: &mut Patience,
    ) -> Result<(), ModelError> {
        match patience.wait(socket.send(Message::text(message))).await {
            Ok(Ok(())) => Ok(()),
            // The server may have said why it hung up.
            Ok(Err(error)) => Err(match patience.wait(self.hear(socket)).await {
                Ok(Err(reason)) => reason,
                _ => self.broken(&error),
            }),
            Err(impatient) => Err(self.impatient(impatient)),
        }
    }

    /// The next message, however long it takes. Cancel-safe. A connection at its end is an error.
    pub(crate) async fn hear(&self, socket: &mut Socket) -> Result<Utf8Bytes, ModelError> {
        loop {
            match socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Close(frame))) => return Err(self.hung_up(frame.as_ref())),
                Some(Ok(Message::Binary(bytes))) => {
                    return Err(self.garbage("the server sent a message that is no text", &bytes));
                }
                Some(Ok(_)) => {} // pings answer themselves
                Some(Err(error)) => return Err(self.broken(&error)),
                None => return Err(self.hung_up(None)),
            }
        }
    }

    /// The next message, if it comes in time.
    pub(crate) async fn hear_soon(
        &self,
        socket: &mut Socket,
        patience: &mut Patience,
    ) -> Result<Utf8Bytes, ModelError> {
        patience.wait(self.hear(socket)).await.unwrap_or_else(|impatient| Err(self.impatient(impatient)))
    }

    fn hung_up(&self, frame: Option<&CloseFrame>) -> ModelError {
        let what = "the server closed the connection before it was done";
        match frame {
            Some(frame) if !frame.reason.is_empty() => {
                self.garbage(&format!("{what} (code {})", frame.code), frame.reason.as_bytes())
            }
            Some(frame) => self.error(ErrorType::Upstream, format_args!("{what} (code {})", frame.code)),
            None => self.error(ErrorType::Connection, what),
        }
    }

    fn broken(&self, error: &tungstenite::Error) -> ModelError {
        let what: &dyn fmt::Display = match error {
            tungstenite::Error::Capacity(_) => {
                let limit = self.settings.max_event_bytes;
                let what = format_args!("a message is longer than {limit} bytes (`max_event_bytes`)");
                let mut error = self.error(ErrorType::Upstream, what);
                error.retryable = false;
                return error;
            }
            tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => {
                return self.hung_up(None);
            }
            error => error,
        };
        self.error(ErrorType::Connection, format_args!("the connection broke off: {what}"))
    }
}

fn accepts(response: &Response, key: &str) -> bool {
    let accept = response.headers().get(SEC_WEBSOCKET_ACCEPT);
    accept.is_some_and(|accept| accept.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes())
}
