//! No key in what people read, whatever the server does with it.

use std::error::Error as _;

use cepa_models::{OpenAiChat, OpenAiEmbedding};
use serde_json::json;

use crate::{
    chat::{ask, model},
    server::{Answer, Server, event},
};

const KEY: &str = "sk-0123456789-very-secret";

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_told() {
    let words = format!("{}Incorrect API key provided: {KEY}.", "long ".repeat(95)); // the cut goes through the key
    let error = json!({"error": {"message": words.trim_start_matches("long "), "code": KEY}});
    let answers = [
        Answer::json(401, &json!({"error": {"message": format!("bad key {KEY}")}})),
        Answer::json(401, &error),
        Answer::json(200, &error),
        Answer::sse(event(&error)),
        Answer::sse(format!("event: error\ndata: {KEY}\n\n")),
        Answer::sse(format!("data: {KEY}\n\n")),
        Answer::new(500, "text/html", format!("<title>{KEY}</title>")),
        Answer::new(200, "text/plain", KEY),
        Answer::json(200, &json!({"choices": KEY})),
        Answer::new(307, "text/plain", "").header("location", format!("http://x/?key={KEY}")),
    ];
    for answer in answers {
        let server = Server::start([answer]).await;
        for model in [
            model(&server).api_key(KEY),
            model(&server).header("x-api-key", KEY),
            model(&server).api_key(format!(" {KEY}\n")),
        ] {
            let error = ask(&model.max_retries(0).build().unwrap()).await.unwrap_err();
            let mut texts = vec![error.to_string(), format!("{error:?}"), format!("{:?}", error.kind())];
            let mut source = error.source();
            while let Some(inner) = source {
                texts.extend([inner.to_string(), format!("{inner:?}")]);
                source = inner.source();
            }
            for text in texts {
                assert!(!text.contains("sk-0123"), "{text}");
            }
        }
    }
}

#[test]
fn debug_does_not_tell_keys() {
    let url = format!("https://example.com/v1?key={KEY}");
    let chat = OpenAiChat::builder("m").base_url(&url).api_key(KEY).header("x-key", KEY);
    let embedding = OpenAiEmbedding::builder("m").base_url(&url).api_key(KEY);
    let texts = [
        format!("{chat:?}"),
        format!("{:?}", chat.build().unwrap()),
        format!("{embedding:?}"),
        format!("{:?}", embedding.build().unwrap()),
        OpenAiChat::builder("m").base_url(format!("https://me:{KEY}@x")).build().unwrap_err().to_string(),
        OpenAiChat::builder("m").api_key(format!("{KEY}\u{1}")).build().unwrap_err().to_string(),
    ];
    for text in texts {
        assert!(!text.contains(KEY), "{text}");
    }
}
