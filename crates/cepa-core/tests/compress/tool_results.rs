//! Tool results that are too long by themselves.

use std::sync::Arc;

use cepa_core::{DataBlock, OutputBlock, Source, TextBlock, Tool, texts};

use crate::script::{Blocks, Kept, Say, Scripted, agent, repeat, shown_output};

fn text(text: &str) -> OutputBlock {
    TextBlock::new(text).into()
}

/// What is in the context of the tool's result, under this limit.
async fn stored(tool: impl Tool, limit: u64, offloader: Option<Arc<Kept>>) -> String {
    let model = Arc::new(Scripted::new(100_000, [Say::Call("t1", "repeat"), Say::Text("done")], []));
    let mut config = crate::script::context_config();
    config.tool_result_limit = limit;
    let mut builder = agent(&model, Vec::new()).context_config(config).tool(tool);
    if let Some(offloader) = offloader {
        builder = builder.offloader(offloader);
    }
    let mut agent = builder.build().unwrap();
    agent.reply("hi").await.unwrap();
    let state = agent.state().unwrap();
    let result = state.context[1].tool_result(&"t1".into()).unwrap();
    shown_output(&result.output)
}

#[tokio::test]
async fn a_long_result_is_cut() {
    let output = stored(repeat("abcd", 20), 10, None).await;
    assert_eq!(output, "abcd".repeat(10) + texts::TRUNCATED);
}

#[tokio::test]
async fn the_rest_is_kept_elsewhere() {
    let kept = Arc::new(Kept::default());
    let output = stored(repeat("abcd", 20), 10, Some(kept.clone())).await;
    let note = texts::fill(texts::TRUNCATED_OFFLOADED, &[("path", "/off/1")]);
    assert_eq!(output, "abcd".repeat(10) + &note);
    assert_eq!(*kept.0.lock().unwrap(), ["abcd".repeat(10)]);
}

#[tokio::test]
async fn a_result_at_the_limit_stays() {
    assert_eq!(stored(repeat("abcd", 10), 10, None).await, "abcd".repeat(10));
}

#[tokio::test]
async fn it_is_cut_between_characters() {
    // 20 characters of 4 bytes: half of them stay.
    assert_eq!(stored(repeat("🧅", 20), 10, None).await, "🧅".repeat(10) + texts::TRUNCATED);
}

#[tokio::test]
async fn whole_blocks_stay_while_they_fit() {
    let kept = Arc::new(Kept::default());
    let image = DataBlock::new(Source::base64("AAE=", "image/png"));
    let blocks = vec![text(&"a".repeat(20)), text(&"b".repeat(40)), image.into(), text("c")];
    let output = stored(Blocks(blocks), 10, Some(kept.clone())).await;
    let note = texts::fill(texts::TRUNCATED_OFFLOADED, &[("path", "/off/1")]);
    // 5 tokens for the first block; half of the second one's 10 are left.
    assert_eq!(output, "a".repeat(20) + &"b".repeat(20) + &note);
    assert_eq!(*kept.0.lock().unwrap(), ["b".repeat(20) + "|data|c"]);
}

#[tokio::test]
async fn an_image_is_not_cut() {
    let kept = Arc::new(Kept::default());
    let image = DataBlock::new(Source::base64("AAE=", "image/png"));
    let output = stored(Blocks(vec![image.into(), text("b")]), 10, Some(kept.clone())).await;
    assert_eq!(output, texts::fill(texts::TRUNCATED_OFFLOADED, &[("path", "/off/1")]));
    assert_eq!(*kept.0.lock().unwrap(), ["data|b"]);
}
