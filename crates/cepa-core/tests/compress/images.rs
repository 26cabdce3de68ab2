//! Images over the limit.

use std::sync::Arc;

use cepa_core::{
    ContentBlock, DataBlock, HintBlock, Msg, OutputBlock, Source, TextBlock, TextOrBlocks, ToolCallBlock,
    ToolResultBlock, ToolResultState,
};

use crate::script::{Kept, Say, Scripted, agent};

fn image(name: &str) -> DataBlock {
    DataBlock::new(Source::base64("AAE=", "image/png")).with_name(name)
}

/// The texts of the context that speak of an image, and the names of the images that are left.
async fn after(history: Vec<Msg>, limit: usize, offloader: Option<Arc<Kept>>) -> (Vec<Msg>, Vec<String>) {
    let model = Arc::new(Scripted::new(100_000, [Say::Text("ok")], []));
    let mut config = crate::script::context_config();
    config.max_image_num = limit;
    let mut builder = agent(&model, history).context_config(config);
    if let Some(offloader) = offloader {
        builder = builder.offloader(offloader);
    }
    let mut agent = builder.build().unwrap();
    agent.reply("now").await.unwrap();
    let state = agent.state().unwrap();
    let context: Vec<Msg> = state.context.iter().map(|msg| (**msg).clone()).collect();
    let left = context.iter().flat_map(|msg| &msg.content).flat_map(|block| match block {
        ContentBlock::Data(data) => vec![data.name.clone().unwrap()],
        ContentBlock::ToolResult(result) => {
            result.output.data().map(|data| data.name.clone().unwrap()).collect()
        }
        ContentBlock::Hint(hint) => hint.hint.data().map(|data| data.name.clone().unwrap()).collect(),
        _ => Vec::new(),
    });
    let left = left.collect();
    (context, left)
}

#[tokio::test]
async fn the_oldest_go_first() {
    let history = vec![Msg::user("user", image("a")), Msg::user("user", image("b"))];
    let (context, left) = after(history, 1, None).await;
    assert_eq!(left, ["b"]);
    assert!(context[0].text().unwrap().contains("named `a`"));
}

#[tokio::test]
async fn what_takes_their_place_fits_the_message() {
    let inner = |name| {
        TextOrBlocks::Blocks(vec![OutputBlock::Data(image(name)), OutputBlock::Text(TextBlock::new("t"))])
    };
    let call = ToolCallBlock::new("t1", "f", "{}");
    let result = ToolResultBlock::new("t1", "f", inner("in a result"), ToolResultState::Success);
    let hint = HintBlock::new(inner("in a hint"));
    let blocks: [ContentBlock; 4] = [call.into(), result.into(), hint.into(), image("by itself").into()];
    let history = vec![Msg::user("user", image("of a user")), Msg::assistant("Friday", blocks)];
    let (context, left) = after(history, 0, None).await;
    assert_eq!(left, Vec::<String>::new());
    assert!(matches!(context[0].content[0], ContentBlock::Text(_)));
    let [_, ContentBlock::ToolResult(result), ContentBlock::Hint(hint), ContentBlock::Hint(own), ..] =
        &context[1].content[..]
    else {
        panic!("{context:?}")
    };
    assert!(result.output.text().contains("named `in a result`") && result.output.text().ends_with("\nt"));
    assert!(hint.hint.text().contains("named `in a hint`"));
    assert!(own.hint.text().contains("named `by itself`"));
    assert!(context.iter().all(|msg| msg.validate().is_ok()));
}

#[tokio::test]
async fn the_model_is_told_where_they_are() {
    let elsewhere = DataBlock::new(Source::url("https://example.org/u.png", "image/png")).with_name("u");
    let history = vec![Msg::user("user", image("a")), Msg::user("user", elsewhere)];
    let kept = Arc::new(Kept::default());
    let (context, left) = after(history, 0, Some(kept.clone())).await;
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(*kept.0.lock().unwrap(), ["a"]);
    assert!(context[0].text().unwrap().contains("/off/1"));
    assert!(context[1].text().unwrap().contains("https://example.org/u.png"));
}

#[tokio::test]
async fn other_files_do_not_count() {
    let pdf = DataBlock::new(Source::base64("AAE=", "application/pdf")).with_name("p");
    let (_, left) = after(vec![Msg::user("user", pdf), Msg::user("user", image("a"))], 1, None).await;
    assert_eq!(left, ["p", "a"]);
}
