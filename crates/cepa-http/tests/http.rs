//! JSON over real HTTP, with servers that do what they should not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use axum::{
    Json, Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
    routing::{get, post},
};
use cepa_http::{AUTHORIZATION, Http, Method, SecretString, ServerError};
use serde_json::{Value, json};

const KEY: &str = "key-of-the-test";

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

fn http(url: &str) -> Http {
    let http = Http::new("the shop", url, Duration::from_secs(20)).unwrap();
    http.sign_in(AUTHORIZATION, "Token ", SecretString::from(KEY)).unwrap()
}

async fn ask(url: &str, path: &str) -> Result<Value, ServerError> {
    http(url).call(Method::GET, path, None::<&()>).await
}

#[tokio::test]
async fn json_goes_there_and_comes_back_with_the_key() {
    let echo = |headers: HeaderMap, Json(body): Json<Value>| async move {
        let key = headers[AUTHORIZATION].to_str().unwrap().to_owned();
        Json(json!({"key": key, "body": body}))
    };
    let url = serve(Router::new().route("/shop/orders", post(echo))).await;
    // The path of the URL stays, however it is written.
    for url in [format!("{url}/shop"), format!("{url}/shop/")] {
        for path in ["orders", "/orders"] {
            let answer = http(&url).call(Method::POST, path, Some(&json!({"tea": 2}))).await.unwrap();
            assert_eq!(answer, json!({"key": format!("Token {KEY}"), "body": {"tea": 2}}));
        }
    }
}

#[tokio::test]
async fn an_answer_is_read_up_to_16_mib() {
    let sized = |more: usize| {
        get(move || async move {
            let mut body = vec![b' '; (16 << 20) + more];
            body[0] = b'1';
            Bytes::from(body)
        })
    };
    let url = serve(Router::new().route("/fits", sized(0)).route("/more", sized(1))).await;
    assert_eq!(ask(&url, "fits").await.unwrap(), json!(1));
    let error = ask(&url, "more").await.unwrap_err();
    assert!(matches!(error, ServerError::TooLarge { .. }) && !error.is_transient(), "{error:?}");
    assert_eq!(error.to_string(), "the shop answers with more than 16777216 bytes");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_takes_no_key_with_it() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let thief = serve(Router::new().fallback(move || async move {
        count.fetch_add(1, SeqCst);
        "{}"
    }))
    .await;
    for status in [301, 302, 303, 307, 308] {
        let (status, to) = (StatusCode::from_u16(status).unwrap(), thief.clone());
        let away = Router::new().fallback(move || async move { (status, [(header::LOCATION, to)]) });
        let error = ask(&serve(away).await, "orders").await.unwrap_err();
        assert!(matches!(error, ServerError::Refused { .. }) && !error.is_transient(), "{error:?}");
    }
    assert_eq!(asked.load(SeqCst), 0);
}

#[tokio::test]
async fn an_empty_answer_is_null_and_other_words_are_none() {
    let router = Router::new()
        .route("/nothing", get(|| async { StatusCode::NO_CONTENT }))
        .route("/html", get(|| async { "<html>" }));
    let url = serve(router).await;
    assert_eq!(ask(&url, "nothing").await.unwrap(), Value::Null);
    let error = ask(&url, "html").await.unwrap_err();
    assert!(
        matches!(error, ServerError::Nonsense { .. }) && error.to_string().contains("no JSON"),
        "{error}"
    );
}

#[tokio::test]
async fn a_service_that_says_no_is_quoted_shortly_and_without_the_key() {
    // The key lies across the place where the words are cut.
    for before in 280..305 {
        let words = format!("{}{KEY} {}", "é".repeat(before), "y".repeat(500));
        let refuses = Router::new().fallback(move || async move { (StatusCode::FORBIDDEN, words) });
        let error = ask(&serve(refuses).await, "orders").await.unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with("the shop refuses (403): é") && said.ends_with('…'), "{said}");
        assert!(!said.contains("key-") && said.chars().count() < 340, "{said}");
    }
    for (status, is_transient) in
        [(400, false), (408, true), (409, false), (429, true), (500, true), (503, true)]
    {
        let status = StatusCode::from_u16(status).unwrap();
        let url = serve(Router::new().fallback(move || async move { (status, "a\n b") })).await;
        let error = ask(&url, "orders").await.unwrap_err();
        assert_eq!(error.is_transient(), is_transient, "{error}");
        assert!(error.to_string().ends_with(": a b"), "{error}");
    }
}

#[tokio::test]
async fn who_is_not_there_or_hangs_is_told_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = format!("http://user:password@{}", listener.local_addr().unwrap());
    drop(listener);
    let error = ask(&gone, "orders").await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("refused"), "{error}");
    assert!(!format!("{error} {error:?} {:?}", http(&gone)).contains("password"), "{error}");

    let url = serve(Router::new().fallback(std::future::pending::<()>)).await;
    let limit = Duration::from_millis(50);
    let start = Instant::now();
    let hangs = Http::new("the shop", &url, limit).unwrap();
    let error = hangs.call(Method::GET, "orders", None::<&()>).await.unwrap_err();
    assert!(matches!(error, ServerError::Deadline { .. }) && error.is_transient(), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_url_that_is_none_is_told_without_what_is_secret_in_it() {
    let urls = [
        "ftp://user:secret@host/path",
        "user:secret@host:8000",
        "http://user:secret@",
        "http://user:se/cret@host:x/?key=secret",
        "host/path?key=secret",
        "postgres://us@er:secret@host#secret",
    ];
    for url in urls {
        let error = Http::new("the shop", url, Duration::from_secs(1)).unwrap_err().to_string();
        assert!(error.contains("is no URL of the shop: write it as `http://"), "{error}");
        assert!(!error.contains("secret") && !error.contains("cret@") && !error.contains("user"), "{error}");
    }
    let error = Http::new("the shop", "127.0.0.1:8000", Duration::from_secs(1)).unwrap_err().to_string();
    assert!(error.starts_with("`127.0.0.1:8000` is no URL"), "{error}");
    assert!(
        Http::new("the shop", "http://host", Duration::ZERO).unwrap_err().to_string().contains("deadline")
    );
    let http = Http::new("the shop", "http://host", Duration::from_secs(1)).unwrap();
    let error = http.sign_in(AUTHORIZATION, "Token ", SecretString::from("a\nb")).unwrap_err();
    assert!(error.to_string().contains("characters that no key has"), "{error}");
}
