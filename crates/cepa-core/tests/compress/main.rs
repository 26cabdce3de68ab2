//! Keeping the context short, as a user of the agent sees it. Figures as AgentScope 2.0.11 counts them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]
#![allow(non_snake_case, reason = "some tests are named after the cases they tell again")]

mod failing;
mod images;
mod layers;
mod long_context;
mod room;
mod script;
mod tool;
mod tool_results;

use std::sync::Arc;

use cepa_core::{
    CompressInput, ErrorKind, HintBlock, Msg, ReadCacheEntry, ToolCallBlock, ToolResultBlock,
    ToolResultState, Usage, serde_json::json,
};

use self::script::{
    Kept, Say, Scripted, agent, context_config, history, long, repeat, short, shown_context, summary,
};

#[tokio::test]
async fn over_the_threshold_a_summary_takes_the_place_of_the_older_messages() {
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let mut agent = agent(&model, history()).build().unwrap();
    let message = agent.reply("now").await.unwrap();
    let asked = [
        vec!["summary", "system: SYS", "user: long long lo", "assistant: long long lo", "user: COMPRESS"],
        vec!["chat", "system: SYS", "user: SUMMARY[shor", "user: now"],
    ];
    assert_eq!(model.asked(), asked);
    assert_eq!(summary(&agent), "SUMMARY[short]");
    assert_eq!(shown_context(&agent), ["user: now", "assistant: ok"]);
    assert_eq!(message.text().as_deref(), Some("ok"));
}

#[tokio::test]
async fn below_the_threshold_nothing_happens() {
    let model = Arc::new(Scripted::new(400, [Say::Text("ok")], []));
    let mut agent = agent(&model, history()).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(model.asked().len(), 1);
    assert_eq!(summary(&agent), "");
    assert_eq!(shown_context(&agent).len(), 4);
}

#[tokio::test]
async fn f03_the_summary_is_paid_by_the_reply_that_caused_it() {
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let mut agent = agent(&model, history()).build().unwrap();
    let message = agent.reply("now").await.unwrap();
    assert_eq!(message.usage, Some(Usage::new(40, 12)));
    assert_eq!(agent.state().unwrap().context.last().unwrap().usage, Some(Usage::new(40, 12)));
}

#[tokio::test]
async fn a_long_tool_result_goes_into_the_summary_with_its_call_and_the_costs_stay() {
    let chat = [Say::Call("t1", "repeat"), Say::Text("ok")];
    let model = Arc::new(Scripted::new(200, chat, [short()]));
    let mut agent = agent(&model, Vec::new()).tool(repeat("abcd", 110)).build().unwrap();
    let message = agent.reply("now").await.unwrap();
    let asked = [
        vec!["chat", "system: SYS", "user: now"],
        vec!["summary", "system: SYS", "user: now", "assistant: call t1|result t1", "user: COMPRESS"],
        vec!["chat", "system: SYS", "user: SUMMARY[shor", "assistant: "],
    ];
    assert_eq!(model.asked(), asked);
    assert_eq!(shown_context(&agent), ["assistant: ok"]);
    assert_eq!(message.usage, Some(Usage::new(50, 17)));
}

#[tokio::test]
async fn a_direct_call_takes_instructions() {
    let model = Arc::new(Scripted::new(200, [], [short()]));
    let mut agent = agent(&model, history()).build().unwrap();
    let mut input = CompressInput::default();
    input.instructions = Some(HintBlock::new("keep names"));
    agent.compress(input).await.unwrap();
    let asked = model.asked().remove(0);
    assert_eq!(asked[4..], ["assistant: hint keep names", "user: COMPRESS"]);
    assert_eq!(summary(&agent), "SUMMARY[short]");
    let state = agent.state().unwrap();
    assert_eq!(state.context.len(), 1);
    assert_eq!((state.context[0].content.len(), &state.context[0].usage), (0, &Some(Usage::new(30, 7))));
}

#[tokio::test]
async fn a_direct_call_with_other_limits() {
    let model = Arc::new(Scripted::new(10_000, [], [short()]));
    let mut agent = agent(&model, history()).build().unwrap();
    let mut config = context_config();
    config.trigger_ratio = 0.01;
    config.reserve_ratio = 0.009;
    let mut input = CompressInput::default();
    input.config = Some(Arc::new(config));
    agent.compress(input).await.unwrap();
    assert_eq!(shown_context(&agent), ["assistant: long long lo"]);
    assert_eq!(summary(&agent), "SUMMARY[short]");
    // The reply at hand has no message; the costs are with the last one.
    assert_eq!(agent.state().unwrap().context[0].usage, Some(Usage::new(30, 7)));
}

#[tokio::test]
async fn an_older_summary_is_summed_up_too() {
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let mut agent = agent(&model, history()).build().unwrap();
    agent.state().unwrap().summary = "EARLIER".into();
    agent.reply("now").await.unwrap();
    assert_eq!(model.asked()[0][..3], ["summary", "system: SYS", "user: EARLIER"]);
    assert_eq!(summary(&agent), "SUMMARY[short]");
}

#[tokio::test]
async fn a_prompt_that_is_over_the_threshold_by_itself_is_an_error() {
    let model = Arc::new(Scripted::new(100, [], []));
    let mut agent = agent(&model, Vec::new()).system_prompt(long()).build().unwrap();
    let error = agent.compress(CompressInput::default()).await.unwrap_err();
    let ErrorKind::SystemPromptExceedsThreshold { tokens, threshold, with_summary, .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!((*tokens, *threshold, *with_summary), (75, 50, false));
}

#[tokio::test]
async fn r22_no_pair_of_call_and_result_is_split() {
    let call = |id: &str| ToolCallBlock::new(id, "f", "{}").into();
    let result = |id: &str| {
        let block = ToolResultBlock::new(id, "f", "x".repeat(100), ToolResultState::Success);
        block.into()
    };
    let blocks = [
        call("t1"),
        call("t2"),
        result("t1"),
        result("t2"),
        Msg::user("", "x".repeat(100)).content.remove(0),
    ];
    let model = Arc::new(Scripted::new(100, [], [short()]));
    let mut config = context_config();
    config.trigger_ratio = 0.7;
    config.reserve_ratio = 0.6;
    let mut agent =
        agent(&model, vec![Msg::assistant("Friday", blocks)]).context_config(config).build().unwrap();
    agent.compress(CompressInput::default()).await.unwrap();
    // Of 60 tokens the text and the second result take 51, but that result goes with its call.
    assert_eq!(model.asked()[0][2], "assistant: call t1|call t2|result t1|result t2");
    assert_eq!(shown_context(&agent), ["assistant: xxxxxxxxxxxx"]);
}

#[tokio::test]
async fn the_model_is_told_where_the_messages_are_kept() {
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let kept = Arc::new(Kept::default());
    let mut agent = agent(&model, history()).offloader(kept.clone()).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(*kept.0.lock().unwrap(), ["user: long long lo; assistant: long long lo"]);
    let summary = summary(&agent);
    assert!(summary.starts_with("SUMMARY[short]\n") && summary.matches("/off/1").count() == 1, "{summary}");
}

#[tokio::test]
async fn files_that_were_read_in_the_older_part_are_forgotten() {
    let read = |id: &str, path: &str| {
        let call = ToolCallBlock::new(id, "Read", json!({"file_path": path}).to_string());
        let result = ToolResultBlock::new(id, "Read", "…", ToolResultState::Success);
        Msg::assistant("Friday", [call.into(), result.into()])
    };
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let older = vec![
        read("t1", "old.txt"),
        Msg::user("user", long()),
        Msg::user("user", long()),
        read("t2", "new.txt"),
    ];
    let mut agent = agent(&model, older).build().unwrap();
    agent.state().unwrap().tool_context.read_file_cache =
        ["old.txt", "new.txt"].map(|path| ReadCacheEntry::new(path, Vec::new(), 0.0)).into();
    agent.reply("now").await.unwrap();
    let state = agent.state().unwrap();
    let files: Vec<_> = state.tool_context.read_file_cache.iter().map(|entry| &*entry.file_path).collect();
    assert_eq!(files, ["new.txt"]);
}

#[tokio::test]
async fn what_the_summary_says_is_data() {
    let mut config = context_config();
    config.summary_template = "{s}/{n}/{list}/{left_out}/{other}".to_owned();
    config.summary_schema = json!({"type": "object", "properties": {"left_out": {"type": "string"}}});
    let model = Arc::new(Scripted::new(200, [], [Say::Object(json!({"s": "{n} {", "n": 1, "list": ["a"]}))]));
    let mut agent = agent(&model, history()).context_config(config).build().unwrap();
    agent.compress(CompressInput::default()).await.unwrap();
    assert_eq!(summary(&agent), r#"{n} {/1/["a"]//{other}"#);
}

#[tokio::test]
async fn the_request_for_a_summary_tells_the_time() {
    let mut config = context_config();
    config.compression_prompt = "{current_time}".to_owned();
    let model = Arc::new(Scripted::new(200, [], [short()]));
    let mut agent = agent(&model, history()).context_config(config).build().unwrap();
    agent.compress(CompressInput::default()).await.unwrap();
    let request = model.requests().remove(0);
    let prompt = request.messages.last().unwrap().content[0].as_text().unwrap().to_owned();
    assert!(prompt.len() == "2026-01-01T00:00:00 (UTC)".len() && prompt.ends_with(" (UTC)"), "{prompt}");
}
