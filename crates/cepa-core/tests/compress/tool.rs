//! The tool with which a model compresses its own context.

use std::sync::Arc;

use cepa_core::{
    ContentBlock, ContextConfig, Msg, PermissionContext, PermissionMode, TextBlock, ToolResultState, Usage,
    on_compress_context,
};

use crate::script::{
    Say, Scripted, agent, context_config, history, short, shown_context, shown_output, summary,
};

fn config(trigger: f64, reserve: f64, buffer: f64) -> ContextConfig {
    let mut config = context_config();
    (config.trigger_ratio, config.reserve_ratio, config.context_buffer_ratio) = (trigger, reserve, buffer);
    config.compression_tool_enabled = true;
    config
}

fn script() -> [Say; 2] {
    [Say::Call("t1", "CompressContext"), Say::Text("ok")]
}

/// The result of the call `t1`.
fn result(agent: &cepa_core::Agent) -> (String, ToolResultState) {
    let state = agent.state().unwrap();
    let result = state.context.iter().find_map(|msg| msg.tool_result(&"t1".into())).unwrap();
    (shown_output(&result.output), result.state)
}

#[tokio::test]
async fn it_compresses_before_the_threshold_and_its_own_call_stays() {
    let model = Arc::new(Scripted::new(500, script(), [short()]));
    let mut agent = agent(&model, history()).context_config(config(0.9, 0.1, 0.6)).build().unwrap();
    let message = agent.reply("now").await.unwrap();
    let asked = [
        vec!["chat", "system: SYS", "user: long long lo", "assistant: long long lo", "user: now"],
        vec![
            "summary",
            "system: SYS",
            "user: long long lo",
            "assistant: long long lo",
            "user: now",
            "user: COMPRESS",
        ],
        vec!["chat", "system: SYS", "user: SUMMARY[shor", "assistant: call t1|result t1"],
    ];
    assert_eq!(model.asked(), asked);
    assert_eq!(shown_context(&agent), ["assistant: call t1|result t1|ok"]);
    assert_eq!(message.usage, Some(Usage::new(50, 17)));
    let (text, state) = result(&agent);
    assert!(text.starts_with("The context was compressed from "), "{text}");
    assert_eq!(state, ToolResultState::Success);
}

#[tokio::test]
async fn on_a_short_context_it_does_nothing() {
    let model = Arc::new(Scripted::new(2_000, script(), []));
    let mut agent = agent(&model, Vec::new()).context_config(config(0.5, 0.1, 0.2)).build().unwrap();
    agent.reply("now").await.unwrap();
    assert!(result(&agent).0.contains("stays as it is"));
    assert_eq!(shown_context(&agent), ["user: now", "assistant: call t1|result t1|ok"]);
}

/// Twenty parts of 60 bytes in one message.
fn parts() -> Msg {
    let part = |n: usize| ContentBlock::from(TextBlock::new(format!("part {n:02} {}", "x".repeat(52))));
    Msg::assistant("Friday", (0..20).map(part).collect::<Vec<_>>())
}

#[tokio::test]
async fn compress__tool_reports_unchanged() {
    let model = Arc::new(Scripted::new(1_000, script(), [short()]));
    let mut agent = agent(&model, vec![parts()]).context_config(config(0.9, 0.3, 0.6)).build().unwrap();
    agent.reply("now").await.unwrap();
    // As many messages as before: it was one long one whose beginning is gone.
    assert_eq!(shown_context(&agent).len(), 3);
    assert_eq!(summary(&agent), "SUMMARY[short]");
    assert!(result(&agent).0.starts_with("The context was compressed from "));
}

#[tokio::test]
async fn f40_the_numbers_are_the_ones_before_and_after() {
    let model = Arc::new(Scripted::new(1_000, script(), [short()]));
    let mut agent = agent(&model, vec![parts()]).context_config(config(0.9, 0.3, 0.6)).build().unwrap();
    agent.reply("now").await.unwrap();
    let text = result(&agent).0;
    let numbers: Vec<u64> =
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    let [before, after] = numbers[..] else { panic!("{text}") };
    // 1 200 bytes of parts are 300 tokens, and the rest is the same before and after, but for the summary.
    let state = agent.state().unwrap();
    let kept = state.context[0].content.len() as u64;
    assert!(kept > 0 && kept < 20, "{kept}");
    assert!((before - after).abs_diff((20 - kept) * 15 - "SUMMARY[short]".len() as u64 / 4) <= 1, "{text}");
}

#[tokio::test]
async fn a_failure_is_told_to_the_model() {
    let layer = on_compress_context(|_cx, input: cepa_core::CompressInput, next| async move {
        if input.config.is_some() {
            return Err(cepa_core::Error::other("no room"));
        }
        next.run(input).await
    });
    let model = Arc::new(Scripted::new(2_000, script(), []));
    let mut agent =
        agent(&model, Vec::new()).context_config(config(0.5, 0.1, 0.2)).middleware(layer).build().unwrap();
    agent.reply("now").await.unwrap();
    let (text, state) = result(&agent);
    assert!(text.contains("no room"), "{text}");
    assert_eq!(state, ToolResultState::Error);
}

#[tokio::test]
async fn nobody_is_asked_for_a_permission() {
    let model = Arc::new(Scripted::new(2_000, script(), []));
    let mut permissions = PermissionContext::default();
    permissions.mode = PermissionMode::Default;
    let mut agent = agent(&model, Vec::new())
        .context_config(config(0.5, 0.1, 0.2))
        .permissions(permissions)
        .build()
        .unwrap();
    assert_eq!(agent.reply("now").await.unwrap().text().as_deref(), Some("ok"));
}
