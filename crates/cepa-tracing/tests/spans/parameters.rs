//! What a model is asked with, and what tools are.

use cepa_core::{
    BoxFuture, ChatModel, ChatResponse, ModelOptions, ModelOutlet, ModelRequest, Result, on_model_call,
    testing::{Answer, ScriptedModel, ScriptedTool},
};
use cepa_tracing::TracingMiddleware;

use crate::support::{Collector, attribute, traced};

/// A model with parameters of its own.
#[derive(Debug)]
struct WithDefaults(ScriptedModel, ModelOptions);

impl ChatModel for WithDefaults {
    fn name(&self) -> &str {
        "deep"
    }

    fn provider(&self) -> &str {
        "deepseek"
    }

    fn default_options(&self) -> Option<&ModelOptions> {
        Some(&self.1)
    }

    fn call(&self, request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        self.0.call(request, out)
    }
}

#[tokio::test]
async fn f45_parameters_of_the_request_and_the_models_own_are_told() {
    let (collector, _guard) = Collector::listening();
    let mut defaults = ModelOptions::default();
    defaults.temperature = Some(1.0);
    defaults.top_p = Some(0.9);
    defaults.seed = Some(7);
    defaults.extra.insert("top_k", 40);
    defaults.extra.insert("presence_penalty", 0.5);
    defaults.extra.insert("frequency_penalty", -0.5);
    let mut options = ModelOptions::default();
    options.temperature = Some(0.2);
    options.max_tokens = Some(100);
    options.stop = vec!["END".to_owned()];
    let model = WithDefaults(ScriptedModel::new(["Well."]), defaults);
    let mut agent = traced(model, TracingMiddleware::new()).model_options(options).build().unwrap();
    agent.reply("Go").await.unwrap();
    let spans = collector.spans();
    let chat = spans.one("chat deep");
    for (name, value) in [
        ("gen_ai.provider.name", "deepseek"),
        ("gen_ai.request.model", "deep"),
        // The request's own goes before the model's.
        ("gen_ai.request.temperature", "0.2"),
        ("gen_ai.request.max_tokens", "100"),
        ("gen_ai.request.stop_sequences", r#"["END"]"#),
        ("gen_ai.request.top_p", "0.9"),
        ("gen_ai.request.seed", "7"),
        ("gen_ai.request.top_k", "40"),
        ("gen_ai.request.presence_penalty", "0.5"),
        ("gen_ai.request.frequency_penalty", "-0.5"),
    ] {
        assert_eq!(attribute(chat, name), value, "{name}");
    }
    assert!(attribute(chat, "gen_ai.response.time_to_first_chunk").parse::<f64>().unwrap() >= 0.0);
}

#[tokio::test]
async fn f45_what_a_layer_outside_sets_is_told_too() {
    let (collector, _guard) = Collector::listening();
    let cools = on_model_call(|_cx, mut request, next| {
        request.options.temperature = Some(0.0);
        next.run(request)
    });
    let model = ScriptedModel::new(["Well."]);
    let mut agent = traced(model.clone(), TracingMiddleware::new()).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(attribute(collector.spans().one("chat scripted"), "gen_ai.request.temperature"), "");

    let (collector, _guard) = Collector::listening();
    let builder = cepa_core::Agent::builder("Friday").model(ScriptedModel::new(["Well."]));
    let mut agent = builder.middleware(cools).middleware(TracingMiddleware::new()).build().unwrap();
    agent.reply("Go").await.unwrap();
    assert_eq!(attribute(collector.spans().one("chat scripted"), "gen_ai.request.temperature"), "0");
}

#[tokio::test]
async fn f45_a_tools_description_is_told() {
    let (collector, _guard) = Collector::listening();
    let model = ScriptedModel::new([Answer::new().raw_tool_call("c1", "look", "{}"), "Well.".into()]);
    let mut agent = traced(model, TracingMiddleware::new()).tool(ScriptedTool::echo("look")).build().unwrap();
    agent.reply("Go").await.unwrap();
    let spans = collector.spans();
    let tool = spans.one("execute_tool look");
    assert_eq!(attribute(tool, "gen_ai.tool.description"), "Answers from a script.");
    assert_eq!(attribute(tool, "gen_ai.tool.type"), "function");
}
