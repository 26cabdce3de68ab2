//! What does not fit in an agent, and what a person is told of it.

use cepa_core::{
    Agent, AgentBuilder, BuildError, ContextConfig, InjectionConfig, ReactConfig, SchemaTool, ToolGroup,
    serde_json::json, testing::ScriptedModel,
};

fn builder() -> AgentBuilder {
    Agent::builder("Friday").model(ScriptedModel::new(["hi"]))
}

fn tool(name: &str) -> SchemaTool {
    SchemaTool::new(name, "Does something.", json!({"type": "object"}))
}

fn error(builder: AgentBuilder) -> String {
    match builder.build() {
        Ok(_) => "built".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn names_and_models() {
    assert_eq!(error(builder()), "built");
    assert_eq!(
        error(Agent::builder(" ").model(ScriptedModel::new(["hi"]))),
        BuildError::EmptyName.to_string()
    );
    assert_eq!(error(Agent::builder("Friday")), "agent `Friday` has no model: add one with `.model(…)`");
}

#[test]
fn tools_and_groups() {
    assert_eq!(
        error(builder().tool(tool("f")).tool(tool("f"))),
        "two tools are named `f`: one of the agent, one of the agent; rename one of them"
    );
    assert_eq!(error(builder().tool(tool(""))), "a tool of the agent has an empty name");
    assert_eq!(
        error(builder().tool(tool("f")).tool_group(ToolGroup::new("more", "More.").tool(tool("f")))),
        "two tools are named `f`: one of the agent, one of the group `more`; rename one of them"
    );
    let clash = error(builder().tool(tool("GenerateStructuredOutput")));
    assert!(clash.contains("`GenerateStructuredOutput`") && clash.contains("the agent itself"), "{clash}");
    let schema = SchemaTool::new("f", "Does something.", json!({"type": "strng"}));
    let schema = error(builder().tool(schema));
    assert!(schema.starts_with("the input schema of tool `f` is not valid: "), "{schema}");
    let twice = builder().tool_group(ToolGroup::new("a", "A.")).tool_group(ToolGroup::new("a", "A."));
    assert_eq!(error(twice), "two tool groups are named `a`; rename one of them");
    assert_eq!(
        error(builder().tool_group(ToolGroup::new("basic", "A."))),
        "a tool group cannot be named `basic`"
    );
}

#[test]
fn numbers() {
    let context = |change: fn(&mut ContextConfig)| {
        let mut config = ContextConfig::default();
        change(&mut config);
        error(builder().context_config(config))
    };
    assert_eq!(
        context(|config| config.trigger_ratio = 0.95),
        "`trigger_ratio` is 0.95, but must be above 0 and at most 0.9"
    );
    assert_eq!(
        context(|config| config.trigger_ratio = f64::NAN),
        "`trigger_ratio` is NaN, but must be above 0 and at most 0.9"
    );
    assert_eq!(
        context(|config| config.reserve_ratio = 0.85),
        "`reserve_ratio` is 0.85, but must be below `trigger_ratio`"
    );
    assert_eq!(
        context(|config| config.context_buffer_ratio = 0.8),
        "`context_buffer_ratio` is 0.8, but must be below `trigger_ratio`"
    );
    let schema = context(|config| config.summary_schema = json!({"type": 1}));
    assert!(schema.starts_with("`summary_schema` cannot be used: "), "{schema}");

    let mut injection = InjectionConfig::default();
    injection.tool_retries_limit = 2;
    assert_eq!(
        error(builder().injection_config(injection)),
        "`tool_retries_limit` is 2, but must be 3 or more"
    );
    let mut injection = InjectionConfig::default();
    injection.timezone = "Moon/Tycho".to_owned();
    let zone = error(builder().injection_config(injection));
    assert!(zone.starts_with("`timezone` cannot be used: ") && zone.contains("IANA"), "{zone}");
    let mut react = ReactConfig::default();
    react.structured_output_grace_iters = 0;
    assert_eq!(
        error(builder().react_config(react)),
        "`structured_output_grace_iters` is 0, but must be 1 or more"
    );
}
