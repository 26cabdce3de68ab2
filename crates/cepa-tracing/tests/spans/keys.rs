//! Keys of models.

use cepa_models::OpenAiChat;
use cepa_tracing::{Capture, TracingMiddleware};
use opentelemetry::trace::Status;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::support::{Collector, traced};

const KEY: &str = "sk-0123456789-very-secret";

/// Reads a request and repeats its headers in the error it answers with.
async fn repeat_headers(connection: TcpStream) -> std::io::Result<()> {
    let mut connection = BufReader::new(connection);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).await?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(line.trim());
        head.push(' ');
    }
    assert!(head.contains(KEY), "{head}");
    connection.read_exact(&mut vec![0; length]).await?;
    let body = format!(r#"{{"error": {{"message": "not for you: {head}", "code": "{KEY}"}}}}"#);
    let head = format!(
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(format!("{head}{body}").as_bytes()).await?;
    connection.shutdown().await
}

#[tokio::test]
async fn a_key_is_in_no_span_whatever_the_server_does_with_it() {
    for capture in
        [Capture::off(), Capture::lengths(), Capture::full()].map(|capture| capture.error_texts(true))
    {
        let (collector, _guard) = Collector::listening();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (connection, _) = listener.accept().await?;
            repeat_headers(connection).await
        });
        let model = OpenAiChat::builder("m").base_url(&url).api_key(KEY).max_retries(0).build().unwrap();
        let mut agent = traced(model, TracingMiddleware::new().capture(capture)).build().unwrap();
        agent.reply("Go").await.unwrap_err();
        server.await.unwrap().unwrap();
        drop(agent);
        let spans = collector.spans();
        for name in ["chat m", "invoke_agent Friday"] {
            let status = &spans.one(name).status;
            // The server was heard.
            assert!(
                matches!(status, Status::Error { description } if description.contains("not for you")),
                "{status:?}"
            );
        }
        let words = spans.words();
        assert!(!words.contains("sk-0123"), "{words}");
    }
}
