//! Tokens, as servers count them.

use cepa_core::ChatUsage;
use serde::Deserialize;

/// `usage` of an answer. Counts are read as floating point, because some servers send them so.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    total_tokens: Option<f64>,
    prompt_tokens_details: Option<PromptDetails>,
    /// Moonshot.
    cached_tokens: Option<f64>,
    /// DeepSeek.
    prompt_cache_hit_tokens: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<f64>,
    /// DashScope and gateways to Anthropic's models.
    cache_creation_input_tokens: Option<f64>,
}

impl WireUsage {
    /// The usage of a call that took this many seconds.
    pub(super) fn chat(&self, seconds: f64) -> ChatUsage {
        let details = self.prompt_tokens_details.as_ref();
        let cached = details
            .and_then(|details| details.cached_tokens)
            .or(self.cached_tokens)
            .or(self.prompt_cache_hit_tokens);
        let mut usage = ChatUsage::new(count(self.prompt_tokens), count(self.completion_tokens), seconds);
        usage.cache_input_tokens = count(cached);
        usage.cache_creation_input_tokens =
            count(details.and_then(|details| details.cache_creation_input_tokens));
        usage
    }

    /// The tokens of an embedding.
    pub(super) fn embedding(&self) -> Option<u64> {
        self.prompt_tokens.or(self.total_tokens).map(|tokens| count(Some(tokens)))
    }
}

fn count(tokens: Option<f64>) -> u64 {
    tokens.unwrap_or(0.0) as u64 // saturates: nothing below zero
}
