//! The same against a real server, where `CEPA_TEST_OPENAI_URL` names one (`http://127.0.0.1:18090/v1`).

use cepa_core::{ContentBlock, ModelOptions, ModelRequest, Msg, ToolChoice, ToolSchema, generate};
use cepa_models::{EmbeddingModel, OpenAiChat, OpenAiEmbedding, json_schema_format};
use serde_json::{Value, json};

fn url() -> Option<String> {
    let url = std::env::var("CEPA_TEST_OPENAI_URL").ok();
    if url.is_none() {
        println!("skipped: CEPA_TEST_OPENAI_URL is not set");
    }
    url
}

fn short(max_tokens: u32) -> ModelOptions {
    let mut options = ModelOptions::default();
    options.max_tokens = Some(max_tokens);
    options.temperature = Some(0.0);
    options
}

#[tokio::test]
async fn chats_streamed_and_not() {
    let Some(url) = url() else { return };
    for stream in [true, false] {
        let model =
            OpenAiChat::builder("local").base_url(&url).stream(stream).options(short(24)).build().unwrap();
        let response = generate(&model, ModelRequest::new([Msg::user("user", "Say hello.")])).await.unwrap();
        assert!(!response.text().trim().is_empty());
        let usage = response.usage.unwrap();
        assert!(usage.input_tokens > 0 && usage.output_tokens > 0, "{usage:?}");
    }
}

#[tokio::test]
async fn calls_a_tool() {
    let Some(url) = url() else { return };
    let parameters =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let request = ModelRequest::new([Msg::user("user", "What is the weather in Paris?")])
        .with_tools([ToolSchema::new("get_weather", "Tells the weather of a city.", parameters)])
        .with_tool_choice(ToolChoice::required());
    for stream in [true, false] {
        let model =
            OpenAiChat::builder("local").base_url(&url).stream(stream).options(short(64)).build().unwrap();
        let response = generate(&model, request.clone()).await.unwrap();
        let call = response.content.blocks().iter().find_map(ContentBlock::as_tool_call).unwrap();
        assert_eq!(&*call.name, "get_weather");
        assert!(serde_json::from_str::<Value>(&call.input).unwrap()["city"].is_string());
    }
}

#[tokio::test]
async fn answers_by_schema() {
    let Some(url) = url() else { return };
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
    });
    let mut options = short(48);
    options.extra.insert("response_format", json_schema_format("place", &schema));
    let model = OpenAiChat::builder("local").base_url(&url).options(options).build().unwrap();
    let request = ModelRequest::new([Msg::user("user", "Name a city, as JSON.")]);
    let text = generate(&model, request).await.unwrap().text();
    assert!(serde_json::from_str::<Value>(&text).unwrap()["city"].is_string(), "{text}");
}

#[tokio::test]
async fn embeds() {
    let Some(url) = url() else { return };
    let model = OpenAiEmbedding::builder("local").base_url(&url).batch_size(2).build().unwrap();
    let texts = ["a cat on a mat", "a kitten on a rug", "the stock market fell"].map(str::to_owned);
    let vectors = model.embed(&texts).await.unwrap().vectors;
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    assert!(dot(&vectors[0], &vectors[1]) > dot(&vectors[0], &vectors[2]));
}
