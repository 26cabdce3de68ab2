//! What a good server sends, in all its forms.

use std::time::Duration;

use cepa_core::{
    ChatResponse, ContentBlock, DataBlock, ModelRequest, Msg, Result, Source, TextBlock, ToolCallBlock,
    ToolSchema, generate,
};
use cepa_models::{OpenAiChat, OpenAiChatBuilder};
use serde_json::{Value, json};

use crate::server::{Answer, Piece, Server, delta, event, finish, hello};

/// A model on this server that does not wait long.
pub(crate) fn model(server: &Server) -> OpenAiChatBuilder {
    OpenAiChat::builder("m")
        .base_url(&server.url)
        .retry_delay(Duration::from_millis(1))
        .idle_timeout(Duration::from_secs(5))
}

pub(crate) async fn ask(model: &OpenAiChat) -> Result<ChatResponse> {
    generate(model, ModelRequest::new([Msg::user("user", "hi")])).await
}

fn thinking(response: &ChatResponse) -> String {
    let thinking = response.content.blocks().iter().filter_map(|block| match block {
        ContentBlock::Thinking(block) => Some(block.thinking.as_str()),
        _ => None,
    });
    thinking.collect()
}

fn calls(response: &ChatResponse) -> Vec<&ToolCallBlock> {
    response.content.blocks().iter().filter_map(ContentBlock::as_tool_call).collect()
}

fn full_stream() -> String {
    let usage =
        json!({"prompt_tokens": 12, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}});
    [
        delta(&json!({"role": "assistant", "content": null, "reasoning_content": "Hm, größer"})),
        ": keep-alive\n\n".to_owned(),
        delta(&json!({"content": "Grüße, "})),
        delta(&json!({"content": "世界 🧅"})),
        finish("stop"),
        event(&json!({"choices": [], "usage": usage})),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat()
}

#[tokio::test]
async fn a_stream_brings_text_thinking_and_usage() {
    let server = Server::start([Answer::sse(full_stream())]).await;
    let response = ask(&model(&server).api_key("sk-test-key").build().unwrap()).await.unwrap();
    assert_eq!(response.text(), "Grüße, 世界 🧅");
    assert_eq!(thinking(&response), "Hm, größer");
    let usage = response.usage.as_ref().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_input_tokens), (12, 7, 4));
    assert_eq!(response.id, "c1");
    assert_eq!(response.metadata.get("finish_reason"), Some(&json!("stop")));

    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.headers["authorization"], "Bearer sk-test-key");
    assert_eq!(asked.body["stream_options"], json!({"include_usage": true}));
    assert_eq!(asked.body["messages"], json!([{"role": "user", "content": "hi"}]));
}

#[tokio::test]
async fn marks_and_the_key_for_the_servers_cache_reach_it() {
    let server = Server::start([Answer::sse(full_stream())]).await;
    let mut prompt = Msg::system("system", "be brief");
    prompt.metadata.insert("cache_control", json!({"type": "ephemeral"}));
    let mut request = ModelRequest::new([prompt, Msg::user("user", "hi")]);
    request.options.extra.insert("prompt_cache_key", "s1");
    generate(&model(&server).build().unwrap(), request).await.unwrap();
    let body = &server.asked()[0].body;
    let part = json!({"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}});
    assert_eq!(body["messages"][0], json!({"role": "system", "content": [part]}));
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "hi"}));
    assert_eq!(body["prompt_cache_key"], "s1");
}

#[tokio::test]
async fn a_stream_may_be_cut_anywhere_even_within_a_character() {
    for length in [1, 2, 3, 7] {
        let body = format!("\u{feff}{}", full_stream().replace('\n', "\r\n"));
        let server = Server::start([Answer::sse(body).in_pieces_of(length)]).await;
        let response = ask(&model(&server).build().unwrap()).await.unwrap();
        assert_eq!(response.text(), "Grüße, 世界 🧅");
        assert_eq!(thinking(&response), "Hm, größer");
    }
}

fn whole_answer() -> Value {
    json!({
        "id": "c2", "model": "served",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Look:", "reasoning": "so",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":2}"}},
            ],
        }}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "prompt_cache_hit_tokens": 1},
    })
}

fn check_whole_answer(response: &ChatResponse) {
    assert_eq!(response.text(), "Look:");
    assert_eq!(thinking(response), "so");
    let calls = calls(response);
    assert_eq!(calls.iter().map(|call| call.input.as_str()).collect::<Vec<_>>(), ["{\"x\":1}", "{\"x\":2}"]);
    assert_ne!(calls[0].id, calls[1].id);
    assert_eq!(response.usage.as_ref().unwrap().cache_input_tokens, 1);
}

#[tokio::test]
async fn an_answer_need_not_be_streamed() {
    let server = Server::start([Answer::json(200, &whole_answer())]).await;
    check_whole_answer(&ask(&model(&server).stream(false).build().unwrap()).await.unwrap());
    assert_eq!(server.asked()[0].body["stream"], false);
    assert_eq!(server.asked()[0].body.get("stream_options"), None);
}

#[tokio::test]
async fn servers_that_do_not_care_whether_to_stream_are_understood() {
    for stream in [true, false] {
        let server = Server::start([
            Answer::json(200, &whole_answer()),
            Answer::new(200, "text/plain", serde_json::to_string_pretty(&whole_answer()).unwrap()),
            Answer::new(200, "application/octet-stream", full_stream()),
        ])
        .await;
        let model = model(&server).stream(stream).build().unwrap();
        check_whole_answer(&ask(&model).await.unwrap());
        check_whole_answer(&ask(&model).await.unwrap());
        assert_eq!(ask(&model).await.unwrap().text(), "Grüße, 世界 🧅");
    }
}

#[tokio::test]
async fn interleaved_tool_calls_are_put_together() {
    let piece = |index: u64, id: Value, name: Value, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        delta(&json!({"tool_calls": [{"index": index, "id": id, "function": function}]}))
    };
    let body = [
        piece(0, json!("call_0"), json!("f"), ""),
        piece(1, Value::Null, json!("g"), "{\"b\""),
        piece(0, Value::Null, Value::Null, "{\"a\":"),
        piece(1, Value::Null, Value::Null, ":2}"),
        piece(0, Value::Null, Value::Null, "1}"),
        piece(2, json!(""), json!("h"), ""),
        finish("tool_calls"),
        "data: [DONE]\n\n".to_owned(),
    ];
    let server = Server::start([Answer::sse(body.concat())]).await;
    // `call_0` is taken: this server counts anew in each answer
    let earlier = ToolCallBlock::new("call_0", "f", "{}");
    let request = ModelRequest::new([Msg::user("user", "hi"), Msg::assistant("bot", earlier)])
        .with_tools([ToolSchema::new("f", "", json!({"type": "object"}))]);
    let response = generate(&model(&server).build().unwrap(), request).await.unwrap();
    let calls = calls(&response);
    let what: Vec<_> = calls.iter().map(|call| (&*call.name, call.input.as_str())).collect();
    assert_eq!(what, [("f", "{\"a\":1}"), ("g", "{\"b\":2}"), ("h", "{}")]);
    let mut ids: Vec<_> = calls.iter().map(|call| call.id.to_string()).collect();
    assert!(!ids.contains(&"call_0".to_owned()) && ids.iter().all(|id| !id.is_empty()));
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn the_epilogue_of_an_answer_may_be_missing() {
    let body = || [delta(&json!({"content": "Hello"})), finish("stop")].concat();
    let open = body().trim_end().to_owned(); // without the empty line at the end
    for answer in [Answer::sse(body()), Answer::sse(open), Answer::sse(body()).then(Piece::Cut)] {
        let server = Server::start([answer]).await;
        assert_eq!(ask(&model(&server).build().unwrap()).await.unwrap().text(), "Hello");
    }
    let server = Server::start([Answer::sse(body()).then(Piece::Hang)]).await;
    let model = model(&server).idle_timeout(Duration::from_millis(50)).build().unwrap();
    assert_eq!(ask(&model).await.unwrap().text(), "Hello");
}

#[tokio::test]
async fn nothing_is_read_after_done() {
    let answer = hello().then(Piece::Send("data: garbage\n\n".into())).then(Piece::Hang);
    let server = Server::start([answer]).await;
    assert_eq!(ask(&model(&server).build().unwrap()).await.unwrap().text(), "Hello");
}

#[tokio::test]
async fn images_and_sounds_are_sent() {
    let server = Server::start([hello()]).await;
    let block = |source| ContentBlock::from(DataBlock::new(source));
    let message = Msg::user(
        "user",
        vec![
            TextBlock::new("What is this?").into(),
            block(Source::url("https://example.com/a.png", "image/png")),
            block(Source::base64("AAE=", "audio/wav")),
        ],
    );
    generate(&model(&server).build().unwrap(), ModelRequest::new([message])).await.unwrap();
    assert_eq!(
        server.asked()[0].body["messages"][0]["content"],
        json!([
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            {"type": "input_audio", "input_audio": {"data": "AAE=", "format": "wav"}},
        ])
    );
}

#[tokio::test]
async fn giving_up_ends_the_request() {
    let server = Server::start([Answer::sse(delta(&json!({"content": "Hel"}))).then(Piece::Hang)]).await;
    let dropped = server.next_dropped();
    let model = model(&server).build().unwrap();
    let asking = tokio::time::timeout(Duration::from_millis(100), ask(&model)).await;
    assert!(asking.is_err(), "the server hangs");
    tokio::time::timeout(Duration::from_secs(5), dropped).await.expect("the server notices").unwrap();
}
