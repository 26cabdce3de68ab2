//! Servers that fail, and what the caller is told.

use std::time::{Duration, Instant};

use cepa_core::{ErrorKind, ErrorType, ModelError, Origin};
use cepa_models::{ConfigError, OpenAiChat, OpenAiChatBuilder};
use serde_json::json;

use crate::{
    chat::{ask, model},
    server::{Answer, Piece, Server, delta, event, finish, hello},
};

/// What went wrong, and how often the server was asked.
async fn fail(server: &Server, builder: OpenAiChatBuilder) -> (ModelError, usize) {
    let error = ask(&builder.build().unwrap()).await.expect_err("this server fails");
    assert_eq!(error.origin(), Origin::Model);
    let ErrorKind::Model(inner) = error.kind() else { panic!("{error}") };
    let mut copy = ModelError::new(inner.kind, inner.message.clone()).with_retry_after(inner.retry_after);
    copy.retryable = inner.retryable;
    (copy, server.asked().len())
}

#[tokio::test]
async fn each_status_has_its_kind_and_the_servers_words() {
    let cases = [
        (400, ErrorType::InvalidRequest, false),
        (401, ErrorType::Authentication, false),
        (402, ErrorType::Permission, false),
        (403, ErrorType::Permission, false),
        (404, ErrorType::InvalidRequest, false),
        (408, ErrorType::Upstream, true),
        (409, ErrorType::Upstream, true),
        (413, ErrorType::InvalidRequest, false),
        (429, ErrorType::RateLimit, true),
        (500, ErrorType::Upstream, true),
        (529, ErrorType::Upstream, true),
    ];
    for (status, kind, retryable) in cases {
        let body = json!({"error": {"message": "words of the server", "type": "x"}});
        let server = Server::start([Answer::json(status, &body)]).await;
        let (error, asked) = fail(&server, model(&server).max_retries(1)).await;
        assert_eq!((error.kind, error.retryable), (kind, retryable), "{status}");
        assert!(error.message.contains("words of the server"), "{error}");
        assert!(error.message.contains(&status.to_string()) && error.message.contains("`m`"), "{error}");
        assert_eq!(asked, if retryable { 2 } else { 1 }, "{status}");
    }
}

#[tokio::test]
async fn what_may_go_away_is_tried_again() {
    let busy = |status| Answer::json(status, &json!({"error": {"message": "busy"}}));
    let server = Server::start([busy(503), busy(429).header("retry-after", "0"), hello()]).await;
    let response = ask(&model(&server).build().unwrap()).await.unwrap();
    assert_eq!(response.text(), "Hello");
    assert_eq!(response.metadata.get("resend_count"), Some(&json!(2)));
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].body, asked[2].body);
}

#[tokio::test]
async fn retry_after_is_waited_for() {
    let busy = Answer::json(429, &json!({})).header("retry-after-ms", "120");
    let server = Server::start([busy, hello()]).await;
    let began = Instant::now();
    ask(&model(&server).build().unwrap()).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(120));
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_told_instead() {
    let busy =
        Answer::json(429, &json!({"error": {"message": "come back tomorrow"}})).header("retry-after", "3600");
    let server = Server::start([busy]).await;
    let (error, asked) = fail(&server, model(&server)).await;
    assert_eq!(asked, 1);
    assert_eq!(error.retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(error.kind, ErrorType::RateLimit);
}

#[tokio::test]
async fn no_money_is_not_tried_again() {
    let body = json!({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}});
    let server = Server::start([Answer::json(429, &body)]).await;
    let (error, asked) = fail(&server, model(&server)).await;
    assert_eq!((error.kind, error.retryable, asked), (ErrorType::RateLimit, false, 1));
}

#[tokio::test]
async fn an_error_in_an_answer_of_success_is_an_error() {
    let error = json!({"error": {"message": "model overloaded", "code": 503}});
    let in_choice = json!({"error": {"message": "model overloaded", "code": 503}, "choices": [{"delta": {"content": ""}}]});
    let answers = [
        Answer::json(200, &error),
        Answer::sse(event(&error)),
        Answer::sse(error.to_string()),
        Answer::sse(event(&in_choice)),
        Answer::sse("event: error\ndata: model overloaded\n\n"),
        Answer::sse(format!("data: {error}")), // the last event, left open
    ];
    for answer in answers {
        let what = format!("{answer:?}");
        let server = Server::start([answer.clone(), hello()]).await;
        assert_eq!(ask(&model(&server).build().unwrap()).await.unwrap().text(), "Hello", "{what}");
        server.set(answer);
        let (error, _) = fail(&server, model(&server).max_retries(0)).await;
        assert_eq!(error.kind, ErrorType::Upstream, "{what}");
        assert!(error.message.contains("model overloaded"), "{error}");
    }
}

#[tokio::test]
async fn after_a_piece_went_out_there_is_no_second_attempt() {
    let begun = || Answer::sse(delta(&json!({"content": "Hel"})));
    let overloaded = event(&json!({"error": {"message": "overloaded"}}));
    let cases = [
        (begun(), ErrorType::Upstream, "stopped in the middle"),
        (begun().then(Piece::Cut), ErrorType::Connection, "broke off"),
        (begun().then(Piece::Send(overloaded.into())), ErrorType::Upstream, "overloaded"),
        (begun().then(Piece::Send("data: {\n\n".into())), ErrorType::Upstream, "not JSON"),
        (begun().then(Piece::Send(finish("error").into())), ErrorType::Upstream, "with an error"),
    ];
    for (answer, kind, words) in cases {
        let server = Server::start([answer, hello()]).await;
        let (error, asked) = fail(&server, model(&server)).await;
        assert_eq!((error.kind, asked), (kind, 1), "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn before_a_piece_went_out_there_is() {
    for answer in [Answer::sse(": hi\n\n").then(Piece::Cut), Answer::sse(""), Answer::sse(": hi\n\n")] {
        let server = Server::start([answer, hello()]).await;
        assert_eq!(ask(&model(&server).build().unwrap()).await.unwrap().text(), "Hello");
    }
}

#[tokio::test]
async fn silence_ends() {
    let cases = [
        Answer::never(),
        Answer::sse("").then(Piece::Hang),
        Answer::sse(delta(&json!({"content": "Hel"}))).then(Piece::Hang),
        Answer::json(200, &json!({})).then(Piece::Hang),
        Answer::json(500, &json!({})).then(Piece::Hang),
    ];
    for answer in cases {
        let what = format!("{answer:?}");
        let server = Server::start([answer]).await;
        let impatient = model(&server).idle_timeout(Duration::from_millis(50)).max_retries(0);
        let (error, _) = fail(&server, impatient).await;
        let is_status = error.message.contains("500");
        assert!(is_status || error.message.contains("sent nothing for 50ms"), "{what}: {error}");
        assert_eq!(error.kind, if is_status { ErrorType::Upstream } else { ErrorType::Connection });
    }
}

#[tokio::test]
async fn the_total_limit_counts_all_attempts() {
    let server = Server::start([Answer::never()]).await;
    let impatient = model(&server)
        .idle_timeout(Duration::from_millis(40))
        .timeout(Duration::from_millis(100))
        .max_retries(1000);
    let began = Instant::now();
    let (_, asked) = fail(&server, impatient).await;
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!((1..=3).contains(&asked), "{asked}");
}

#[tokio::test]
async fn a_redirect_says_where_to() {
    let answer = Answer::new(308, "text/html", "").header("location", "https://elsewhere.example/v1");
    let server = Server::start([answer]).await;
    let (error, asked) = fail(&server, model(&server)).await;
    assert_eq!((error.kind, asked), (ErrorType::Setup, 1));
    assert!(error.message.contains("https://elsewhere.example/v1"), "{error}");
}

#[tokio::test]
async fn nobody_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let model =
        OpenAiChat::builder("m").base_url(format!("http://{address}/v1")).max_retries(0).build().unwrap();
    let error = ask(&model).await.unwrap_err();
    let text = error.to_string().to_lowercase();
    assert!(text.contains(&address.to_string()) && text.contains("refused"), "{text}");
    assert_eq!(error.info().kind, ErrorType::Connection);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let builder = || OpenAiChat::builder("m").base_url("http://127.0.0.1:1/v1");
    let refuse = |builder: OpenAiChatBuilder| builder.build().unwrap_err();
    assert_eq!(refuse(OpenAiChat::builder(" ")), ConfigError::NoName);
    assert!(matches!(refuse(OpenAiChat::builder("m")), ConfigError::NoKey { .. }));
    assert!(matches!(refuse(builder().base_url("localhost:1")), ConfigError::BadBaseUrl { .. }));
    assert_eq!(refuse(builder().api_key("a\nb")), ConfigError::BadKey);
    assert!(matches!(refuse(builder().header("a b", "c")), ConfigError::BadHeader { .. }));
    assert!(matches!(
        refuse(builder().timeout(Duration::ZERO)),
        ConfigError::OutOfRange { setting: "timeout", .. }
    ));
    assert!(matches!(refuse(builder().context_size(0)), ConfigError::OutOfRange { .. }));
    let as_error = cepa_core::Error::from(ConfigError::NoName);
    assert_eq!(as_error.info().kind, ErrorType::Setup);
}
