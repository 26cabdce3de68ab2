//! Who runs a server, as traces name it.

/// Names of the OpenTelemetry GenAI semantic conventions, and AgentScope 2.0.11's for those that they do not have, by the
/// end of the host's name.
const PROVIDERS: &[(&str, &str)] = &[
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure.ai.openai"),
    ("api.x.ai", "x_ai"),
    ("amazonaws.com", "aws.bedrock"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("anthropic.com", "anthropic"),
    ("api.mistral.ai", "mistral_ai"),
    ("groq.com", "groq"),
    ("perplexity.ai", "perplexity"),
    ("deepseek.com", "deepseek"),
    ("aliyuncs.com", "dashscope"),
    ("moonshot.cn", "moonshot"),
    ("moonshot.ai", "moonshot"),
    ("volces.com", "volcengine"),
];

/// Who runs the server of this name. For one that is not known it is the API that it speaks: `openai`.
pub(super) fn provider(host: &str) -> &'static str {
    let is_of = |domain: &str| {
        host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    PROVIDERS.iter().find(|(domain, _)| is_of(domain)).map_or("openai", |(_, provider)| provider)
}

#[cfg(test)]
mod tests {
    use super::provider;

    #[test]
    fn by_whole_labels_of_the_host() {
        assert_eq!(provider("api.deepseek.com"), "deepseek");
        assert_eq!(provider("dashscope-intl.aliyuncs.com"), "dashscope");
        assert_eq!(provider("mine.openai.azure.com"), "azure.ai.openai");
        assert_eq!(provider("notdeepseek.com"), "openai");
        assert_eq!(provider("localhost"), "openai");
    }
}
