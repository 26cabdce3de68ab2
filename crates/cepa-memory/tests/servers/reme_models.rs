//! The model of ReMe's own agent: an OpenAI-compatible server that follows a script.

use axum::{Json, Router, http::header, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Serves a model that writes the conversation down as it is.
pub(crate) async fn serve() -> String {
    let app = Router::new().route("/v1/chat/completions", post(complete));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

async fn complete(Json(request): Json<Value>) -> impl IntoResponse {
    let messages = request["messages"].as_array().unwrap();
    let is_written = messages.iter().any(|message| message["role"] == "tool");
    let prompt = messages.iter().map(Value::to_string).collect::<String>();
    let between = |from: &str, to: &str| {
        let (_, rest) = prompt.split_once(from)?;
        rest.split_once(to).map(|(text, _)| text.replace("\\n", "\n").trim().to_owned())
    };
    let delta = match (is_written, between("Session ID: ", "\\n")) {
        (false, Some(session_id)) => {
            let note = json!({
                "session_id": session_id,
                "name": format!("conversation-{session_id}"),
                "description": "what was said",
                "date": between("Today: ", "\\n"),
                "content": between("# Recent Conversation", "# Your Task"),
            });
            let function = json!({"name": "daily_write", "arguments": note.to_string()});
            json!({"role": "assistant", "tool_calls":
                [{"index": 0, "id": "c1", "type": "function", "function": function}]})
        }
        _ => json!({"role": "assistant", "content": "Written."}),
    };
    let reason = if delta["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    let chunk = json!({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    ([(header::CONTENT_TYPE, "text/event-stream")], format!("data: {chunk}\n\ndata: [DONE]\n\n"))
}
