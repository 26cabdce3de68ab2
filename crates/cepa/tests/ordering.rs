//! The recommended stack of `docs/ordering.md`: it is whole, and no layer has anything against it.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::{path::Path, sync::Arc};

use cepa::{
    Agent, AgentDefinition, ChatModel, Middleware,
    budget::ReplyBudgetControlMiddleware,
    guard::{
        Action, ArgumentGuard, ArgumentRule, AuditLog, PathGuard, PiiGuard, SecretScrub, ToolOutputLimit,
    },
    memory::AgenticMemoryMiddleware,
    models::OpenAiTts,
    rag::{EmbeddedStore, KnowledgeBase, RagMiddleware},
    resilience::{
        BackgroundTools, CircuitBreaker, ConcurrencyLimit, ModelCallLimit, ModelFallback, ModelRetry,
        RateLimit, Timeout, ToolCallLimit, ToolErrorPolicy, ToolRetry,
    },
    router::{
        ChatModelCandidate, ContextEditing, DynamicContext, ModelRouterMiddleware, PromptCacheHints,
        ToolSelector,
    },
    testing::{Logged, ScriptedModel},
    tracing::{TracingMiddleware, UsageMiddleware},
    tts::{RecordSpeech, TtsMiddleware},
};

type Layer = Arc<dyn Middleware>;

fn model() -> Arc<dyn ChatModel> {
    Arc::new(ScriptedModel::new([""; 0]))
}

/// The names in the first block of the document that lists them.
fn documented() -> Vec<String> {
    let document = include_str!("../../../docs/ordering.md");
    let block = document.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    block.lines().map(|line| line.split("  ").next().unwrap().trim().to_owned()).collect()
}

fn stack(folder: &Path) -> Vec<Layer> {
    let pii = PiiGuard::builder().detect_all(Action::Redact).build().unwrap();
    let secrets = SecretScrub::builder().build().unwrap();
    let docs = KnowledgeBase::builder("docs", "What is known.", EmbeddedStore::in_memory()).build().unwrap();
    let voice = OpenAiTts::builder("voice").base_url("http://127.0.0.1:1").build().unwrap();
    let others = || [ChatModelCandidate::new("other", model(), "everything else")];
    vec![
        Arc::new(pii.for_input()),
        Arc::new(secrets.for_input()),
        Arc::new(TracingMiddleware::new()),
        Arc::new(UsageMiddleware::new()),
        Arc::new(BackgroundTools::builder().build().unwrap()),
        Arc::new(AgenticMemoryMiddleware::new(folder.join("memory")).unwrap()),
        Arc::new(DynamicContext::builder().date().build().unwrap()),
        Arc::new(RagMiddleware::builder([docs]).build().unwrap()),
        Arc::new(RecordSpeech::to(folder.join("reply.wav"))),
        Arc::new(TtsMiddleware::new(voice)),
        Arc::new(ReplyBudgetControlMiddleware::builder(10_000).build().unwrap()),
        Arc::new(ModelRouterMiddleware::builder(others()).router_model(model()).build().unwrap()),
        Arc::new(ToolSelector::builder().build().unwrap()),
        Arc::new(ContextEditing::builder().build()),
        Arc::new(PromptCacheHints::new()),
        Arc::new(ModelFallback::builder().model(model()).build().unwrap()),
        Arc::new(ModelRetry::default()),
        Arc::new(ToolErrorPolicy::new()),
        Arc::new(ToolOutputLimit::builder().max_bytes(10_000).build().unwrap()),
        Arc::new(ToolRetry::builder().build().unwrap()),
        Arc::new(AuditLog::builder(folder.join("audit.jsonl")).build().unwrap()),
        Arc::new(ModelCallLimit::builder().per_reply(10).build().unwrap()),
        Arc::new(ToolCallLimit::builder().per_reply(10).build().unwrap()),
        Arc::new(CircuitBreaker::builder().build().unwrap()),
        Arc::new(RateLimit::builder().requests_per_minute(60).build().unwrap()),
        Arc::new(ConcurrencyLimit::builder().model_calls(4).build().unwrap()),
        Arc::new(Timeout::builder().first_item(std::time::Duration::from_secs(9)).build().unwrap()),
        Arc::new(pii),
        Arc::new(secrets),
        Arc::new(
            ArgumentGuard::builder().rule(ArgumentRule::of("pay").at("/sum").at_most(10)).build().unwrap(),
        ),
        Arc::new(PathGuard::builder().root(folder).build().unwrap()),
    ]
}

fn define(layers: impl IntoIterator<Item = Layer>) -> AgentDefinition {
    let builder = Agent::builder("Friday").model(model());
    layers.into_iter().fold(builder, |builder, layer| builder.middleware(layer)).define().unwrap()
}

#[test]
fn no_layer_has_anything_against_the_recommended_stack() {
    let folder = tempfile::tempdir().unwrap();
    let stack = stack(folder.path());
    let names: Vec<_> = stack.iter().map(|layer| layer.name().into_owned()).collect();
    assert_eq!(names, documented());
    let warnings = Logged::warnings("cepa_core");
    define(stack);
    assert_eq!(warnings.take(), [""; 0]);
}

#[test]
fn each_rule_warns_where_the_stack_is_turned_round() {
    let folder = tempfile::tempdir().unwrap();
    let stack = stack(folder.path());
    let rules: usize = stack.iter().map(|layer| layer.order().len()).sum();
    assert!(rules > 40, "{rules}");
    let warnings = Logged::warnings("cepa_core");
    define(stack.into_iter().rev());
    // A rule that warns of nothing names a layer that is not there.
    assert_eq!(warnings.take().len(), rules);
}
