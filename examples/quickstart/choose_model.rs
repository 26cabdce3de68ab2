//! Which model answers: one behind a key, one of a running Ollama, or the extractive one.

use std::{env, sync::Arc, time::Duration};

use cepa::{
    ChatModel,
    models::{ExtractiveModel, OpenAiChat},
};

/// A model, and what the user is told of it.
pub(crate) struct Chosen {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) introduction: String,
}

/// Where Ollama listens unless `OLLAMA_HOST` says otherwise.
const OLLAMA: &str = "http://127.0.0.1:11434";

pub(crate) async fn choose() -> Result<Chosen, Box<dyn std::error::Error>> {
    let wanted = env::var("CEPA_MODEL").ok();
    if env::var("OPENAI_API_KEY").is_ok_and(|key| !key.is_empty()) {
        let name = wanted.unwrap_or_else(|| "gpt-4o-mini".to_owned());
        let introduction = format!("Model: {name}, over the API of OPENAI_BASE_URL.");
        return Ok(Chosen { model: Arc::new(OpenAiChat::from_env(name)?), introduction });
    }
    let host = env::var("OLLAMA_HOST").unwrap_or_else(|_| OLLAMA.to_owned());
    let host = if host.contains("://") { host } else { format!("http://{host}") };
    if let Some(name) = ollama_model(&host, wanted).await {
        let model =
            OpenAiChat::builder(name.as_str()).base_url(format!("{host}/v1")).api_key("ollama").build()?;
        return Ok(Chosen {
            model: Arc::new(model),
            introduction: format!("Model: {name}, of the Ollama at {host}."),
        });
    }
    Ok(Chosen {
        model: Arc::new(ExtractiveModel::new()),
        introduction: "This is not a language model: without OPENAI_API_KEY and without a running Ollama, the answer is \
                       put together from sentences of the files."
            .to_owned(),
    })
}

/// The wanted model of a running Ollama, or its first one. `None` when none runs.
async fn ollama_model(host: &str, wanted: Option<String>) -> Option<String> {
    let client = reqwest::Client::builder().timeout(Duration::from_millis(500)).no_proxy().build().ok()?;
    let tags: serde_json::Value =
        client.get(format!("{host}/api/tags")).send().await.ok()?.json().await.ok()?;
    let names = tags["models"].as_array()?.iter().filter_map(|model| model["name"].as_str());
    let mut names = names.map(str::to_owned);
    match wanted {
        Some(wanted) => names.find(|name| *name == wanted),
        None => names.next(),
    }
}
