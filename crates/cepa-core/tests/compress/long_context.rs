//! Long conversations.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use cepa_core::{CompressInput, ContentBlock, Msg, TextBlock};

use crate::script::{Scripted, agent, short, summary};

/// 100 bytes.
fn line(n: usize) -> String {
    format!("{n:0100}")
}

#[tokio::test]
async fn ten_thousand_messages_are_counted_a_few_times() {
    let history = (0..10_000).map(|n| Msg::user("user", line(n))).collect();
    let model = Arc::new(Scripted::new(400_000, [], [short()]));
    let mut agent = agent(&model, history).build().unwrap();
    agent.compress(CompressInput::default()).await.unwrap();
    assert_eq!(summary(&agent), "SUMMARY[short]");
    // 40 000 tokens are reserved, a little of it for the prompt.
    assert_eq!(agent.state().unwrap().context.len(), 1_599);
    let counted = model.counted.load(Relaxed);
    assert!(counted <= 25, "counted {counted} times");
}

#[tokio::test]
async fn ten_thousand_blocks_of_one_message_too() {
    let blocks: Vec<ContentBlock> = (0..10_000).map(|n| TextBlock::new(line(n)).into()).collect();
    let model = Arc::new(Scripted::new(400_000, [], [short()]));
    let mut agent = agent(&model, vec![Msg::assistant("Friday", blocks)]).build().unwrap();
    agent.compress(CompressInput::default()).await.unwrap();
    assert_eq!(agent.state().unwrap().context[0].content.len(), 1_599);
    let counted = model.counted.load(Relaxed);
    assert!(counted <= 25, "counted {counted} times");
}
