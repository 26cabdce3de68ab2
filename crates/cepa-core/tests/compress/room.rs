//! Room for what a layer adds to the context.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use cepa_core::{Cx, Middleware, Msg, Reasoning, ReasoningInput, estimate_tokens, on_reasoning};

use crate::script::{Say, Scripted, agent, context_config, history, short, shown_context};

/// Asks for so many tokens before the first round, and keeps what it is told.
fn wants(tokens: Arc<AtomicU64>, told: Arc<Mutex<Vec<u64>>>) -> impl Middleware {
    on_reasoning(move |cx: Cx<Reasoning>, input: ReasoningInput, next| {
        let (tokens, told) = (tokens.clone(), told.clone());
        async move {
            let room = cx.make_room(tokens.load(Relaxed)).await?;
            told.lock().unwrap().push(room);
            next.run(input).await
        }
    })
}

/// What the context looks like after a reply to `now`, how many requests there were, and the room there was.
async fn after(history: Vec<Msg>, tokens: u64) -> (Vec<String>, usize, u64) {
    let model = Arc::new(Scripted::new(1000, [Say::Text("ok")], [short()]));
    let told = Arc::default();
    let mut config = context_config();
    (config.trigger_ratio, config.reserve_ratio) = (0.8, 0.02);
    let layer = wants(Arc::new(tokens.into()), Arc::clone(&told));
    let mut agent = agent(&model, history).context_config(config).middleware(layer).build().unwrap();
    agent.reply("now").await.unwrap();
    let room = told.lock().unwrap()[0];
    (shown_context(&agent), model.requests().len(), room)
}

#[tokio::test]
async fn what_fits_is_no_reason_to_compress_and_what_does_not_is_one() {
    let request = [vec![Msg::system("system", "SYS")], history(), vec![Msg::user("user", "now")]].concat();
    let request: Vec<_> = request.into_iter().map(Arc::new).collect();
    let room = 799 - estimate_tokens(&request, &[]);
    let (context, requests, told) = after(history(), room).await;
    assert_eq!((context.len(), requests, told), (history().len() + 2, 1, room));
    let (context, requests, told) = after(history(), room + 1).await;
    assert_eq!((context, requests), (vec!["user: now".to_owned(), "assistant: ok".to_owned()], 2));
    assert!(told > room, "{told}");
}

#[tokio::test]
async fn what_is_coming_never_takes_the_question_away() {
    for history in [Vec::new(), history()] {
        let (context, _, told) = after(history, 100_000).await;
        assert_eq!(context, ["user: now", "assistant: ok"]);
        assert!((1..800).contains(&told), "{told}");
    }
}
