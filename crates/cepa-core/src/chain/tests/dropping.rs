//! Replies, streams and futures that are dropped half-way: nothing is left of them, nobody waits for ever.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use futures_util::FutureExt;

use super::{
    harness::{Rig, Token, core, count_events, done, emits, within},
    stacks::{bare_and_streamed, nine, spawns, streams, taps, taps_shared},
};
use crate::{
    chain::{Core, Cx, Reply},
    error::Error,
    middleware::{Middleware, ReplyInput, on_reply},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_reply_dropped_after_any_item_leaves_nothing() {
    for layers in nine() {
        for read in 0..=10 {
            let token = Token::new();
            let (mut items, remains) =
                Rig::new(&layers, emits(10, &token)).into_stream(ReplyInput::default());
            for _ in 0..read {
                assert!(within(items.next()).await.is_some());
            }
            drop(items);
            remains.vanish().await;
            token.alone().await;
        }
    }
}

#[tokio::test]
async fn a_layer_drops_what_runs_inside_half_way() {
    let ended = Arc::new(AtomicUsize::new(0));
    let token = Token::new();
    let producer = {
        let (ended, token) = (ended.clone(), token.clone());
        core(move |cx: Cx<Reply>, _| {
            let (ended, token) = (NotesItsEnd(ended.clone()), token.clone());
            async move {
                let _ended = ended;
                loop {
                    cx.emit(token.event()).await;
                }
            }
        })
    };
    let half = {
        let token = token.clone();
        on_reply(move |cx, input, next| {
            let token = token.clone();
            async move {
                let mut items = next.stream(input);
                let first = items.next().await.unwrap();
                cx.emit(first).await;
                drop(items);
                cx.emit(token.event()).await;
                Ok(done())
            }
        })
    };
    assert_eq!(within(count_events(&[Arc::new(half)], producer)).await, 2);
    assert_eq!(ended.load(SeqCst), 1);
    token.alone().await;
}

struct NotesItsEnd(Arc<AtomicUsize>);

impl Drop for NotesItsEnd {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[tokio::test]
async fn a_run_that_is_never_polled_runs_nothing() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counts = {
        let calls = calls.clone();
        core(move |_: Cx<Reply>, _| {
            let calls = calls.clone();
            async move {
                calls.fetch_add(1, SeqCst);
                Ok(done())
            }
        })
    };
    let ignores = on_reply(|_cx, input, next| async move {
        drop(next.run(input));
        Ok(done())
    });
    assert_eq!(count_events(&[Arc::new(ignores), streams()], counts).await, 0);
    assert_eq!(calls.load(SeqCst), 0);
}

/// A task that is blocked in `emit` when its reader goes away is woken and goes on: whether the reader has taken its
/// item or not.
#[tokio::test]
async fn an_emitter_whose_reader_is_gone_goes_on() {
    for taken in [0, 1] {
        for inside in [vec![], vec![taps()], vec![taps_shared(), streams()]] {
            let token = Token::new();
            let (begun, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
            let layers: Vec<_> = [spawns()].into_iter().chain(inside).collect();
            let producer = hundred(&token, &begun, &ended);
            let (mut items, remains) = Rig::new(&layers, producer).into_stream(ReplyInput::default());
            assert!(items.next().now_or_never().is_none(), "the task runs only when this one waits");
            within(async {
                while !begun.load(SeqCst) {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            for _ in 0..taken {
                assert!(within(items.next()).await.is_some());
            }
            assert!(!ended.load(SeqCst));
            drop(items);
            remains.vanish().await;
            assert!(ended.load(SeqCst));
            token.alone().await;
        }
    }
}

/// A core that emits a hundred events without a pause, and notes its beginning and its end.
fn hundred(token: &Token, begun: &Arc<AtomicBool>, ended: &Arc<AtomicBool>) -> Arc<dyn Core<Reply>> {
    let (token, begun, ended) = (token.clone(), begun.clone(), ended.clone());
    core(move |cx: Cx<Reply>, _| {
        let (token, begun, ended) = (token.clone(), begun.clone(), ended.clone());
        async move {
            begun.store(true, SeqCst);
            for _ in 0..100 {
                cx.emit(token.event()).await;
            }
            ended.store(true, SeqCst);
            Ok(done())
        }
    })
}

#[tokio::test]
async fn a_panic_in_a_layer_reaches_the_reader_and_leaves_nothing() {
    for outside in bare_and_streamed() {
        let panics = on_reply(|cx, input, next| async move {
            let mut items = next.stream(input);
            let first = items.next().await.unwrap();
            cx.emit(first).await;
            quiet_panic()
        });
        let layers: Vec<_> = outside.into_iter().chain([Arc::new(panics) as Arc<dyn Middleware>]).collect();
        let token = Token::new();
        let (mut items, remains) = Rig::new(&layers, emits(10, &token)).into_stream(ReplyInput::default());
        assert!(items.next().await.is_some());
        assert!(AssertUnwindSafe(items.next()).catch_unwind().await.is_err());
        drop(items);
        remains.vanish().await;
        token.alone().await;
    }
}

#[tokio::test]
async fn a_panic_in_a_task_ends_the_stream() {
    for inside in bare_and_streamed() {
        let survives = on_reply(|_cx, input, next| async move {
            tokio::spawn(next.run(input)).await.unwrap_or_else(|error| Err(Error::other(error)))
        });
        let layers: Vec<_> = [Arc::new(survives) as Arc<dyn Middleware>].into_iter().chain(inside).collect();
        let panics: Arc<dyn Core<Reply>> = core(|_: Cx<Reply>, _| async { quiet_panic() });
        let (mut items, remains) = Rig::new(&layers, panics).into_stream(ReplyInput::default());
        assert!(within(items.next()).await.is_none());
        let error = items.finish().await.unwrap_err();
        assert!(error.downcast_ref::<tokio::task::JoinError>().is_some_and(|error| error.is_panic()));
        remains.vanish().await;
    }
}

/// Panics without the message that would stand in the tests' output.
fn quiet_panic<T>() -> T {
    std::panic::resume_unwind(Box::new("on purpose"))
}
