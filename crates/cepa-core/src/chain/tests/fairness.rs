//! A producer that never waits for anything outside still lets other tasks run.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use super::{
    harness::{Rig, core, request, within},
    stacks::{spawns, streams},
};
use crate::{
    chain::{Core, Cx, Flow, ModelCall},
    middleware::{Middleware, on_model_call},
    model::{ChatChunk, ChatResponse},
};

const CHUNKS: usize = 10_000;

fn says_much() -> Arc<dyn Core<ModelCall>> {
    core(|cx: Cx<ModelCall>, _| async move {
        for _ in 0..CHUNKS {
            cx.emit(ChatChunk::text("a")).await;
        }
        Ok(ChatResponse::streamed())
    })
}

/// How often another task of the same thread gets its turn while this runs.
async fn turns_of_another_task(run: impl Future) -> usize {
    let turns = Arc::new(AtomicUsize::new(0));
    let other = tokio::spawn({
        let turns = turns.clone();
        async move {
            loop {
                turns.fetch_add(1, SeqCst);
                tokio::task::yield_now().await;
            }
        }
    });
    within(run).await;
    other.abort();
    turns.load(SeqCst)
}

#[tokio::test]
async fn a_tap_that_drops_everything() {
    let swallows = on_model_call(|_cx, request, next| async move { next.tap(request, |_| Flow::Drop).await });
    let rig = Rig::new(&[Arc::new(swallows)], says_much());
    let (items, _) = rig.into_stream(request());
    let turns = turns_of_another_task(async { items.finish().await.unwrap() }).await;
    assert!(turns >= CHUNKS / 100, "{turns}");
}

#[tokio::test]
async fn a_shared_tap_that_drops_everything() {
    let swallows = on_model_call(|_cx, request, next| next.tap_shared(request, |_| Flow::Drop));
    let (items, _) = Rig::new(&[Arc::new(swallows)], says_much()).into_stream(request());
    let turns = turns_of_another_task(async { items.finish().await.unwrap() }).await;
    assert!(turns >= CHUNKS / 100, "{turns}");
}

#[tokio::test]
async fn nobody_listens() {
    let counts = on_model_call(|_cx, request, next| async move { next.tap(request, |_| ()).await });
    for layers in [vec![], vec![Arc::new(counts) as Arc<dyn Middleware>]] {
        let rig = Rig::new(&layers, says_much());
        let turns = turns_of_another_task(async { rig.unheard(request()).await.unwrap() }).await;
        assert!(turns >= CHUNKS / 100, "{turns} with {} layer(s)", layers.len());
    }
}

/// Tasks that emit all the time do not keep the nested producer from running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_producer_beside_a_busy_task() {
    use super::harness::{Token, done};
    use crate::{chain::Reply, middleware::ReplyInput};
    for outside in [vec![], vec![streams()], vec![spawns()]] {
        let token = Token::new();
        let producer = {
            let token = token.clone();
            core(move |cx: Cx<Reply>, _| {
                let token = token.clone();
                async move {
                    let busy = tokio::spawn({
                        let (cx, token) = (cx.clone(), token.clone());
                        async move { while cx.emit(token.event()).await {} }
                    });
                    for _ in 0..100 {
                        cx.emit(token.event()).await;
                    }
                    busy.abort();
                    Ok(done())
                }
            })
        };
        let (items, remains) = Rig::new(&outside, producer).into_stream(ReplyInput::default());
        within(items.finish()).await.unwrap();
        remains.vanish().await;
        token.alone().await;
    }
}
