//! Whoever emits, however it is polled: nothing is lost, nothing comes twice, nothing hangs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use futures_util::{StreamExt, stream::FuturesUnordered};

use super::{
    harness::{Layers, Rig, Token, ask, core, count_events, done, request, says, within},
    stacks::{bare_and_streamed, runs, spawns, streams},
};
use crate::{
    chain::{Core, Cx, ModelCall, Reply},
    middleware::{Middleware, ReplyInput, on_model_call},
    model::{ChatChunk, ChatResponse},
};

async fn emit_times(cx: &Cx<Reply>, token: &Token, times: usize) {
    for _ in 0..times {
        cx.emit(token.event()).await;
    }
}

/// Counts what comes out of this core, without layers and with one that streams.
async fn assert_events<F, Fut>(expected: usize, run: F)
where
    F: Fn(Cx<Reply>, Token) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    for layers in bare_and_streamed() {
        let token = Token::new();
        let core = core(emitting(run.clone(), token.clone()));
        let count = within(count_events(&layers, core)).await;
        assert_eq!(count, expected, "with {} layer(s)", layers.len());
        drop(layers);
        token.alone().await;
    }
}

fn emitting<F, Fut>(
    run: F,
    token: Token,
) -> impl Fn(Cx<Reply>, ReplyInput) -> crate::BoxFuture<'static, crate::Result<crate::Msg>>
where
    F: Fn(Cx<Reply>, Token) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    move |cx, _| {
        let running = run(cx, token.clone());
        Box::pin(async move {
            running.await;
            Ok(done())
        })
    }
}

#[tokio::test]
async fn two_emitters_joined_as_the_first_act() {
    assert_events(100, |cx, token| async move {
        tokio::join!(emit_times(&cx, &token, 50), emit_times(&cx, &token, 50));
    })
    .await;
}

#[tokio::test]
async fn one_emit_is_polled_twice_in_a_select() {
    // The second branch ends the first poll of the emit early, so that the same emit is polled again in the next turn.
    assert_events(50, |cx, token| async move {
        for _ in 0..50 {
            let mut emit = std::pin::pin!(cx.emit(token.event()));
            let mut turns = 0;
            while turns < 2 {
                turns += 1;
                tokio::select! {
                    biased;
                    _ = &mut emit => break,
                    () = std::future::ready(()) => {}
                }
            }
            if turns == 2 {
                emit.await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn an_emit_that_is_given_up_is_delivered_once_and_in_order() {
    let core: fn() -> Arc<dyn Core<ModelCall>> = || {
        core(|cx: Cx<ModelCall>, _| async move {
            for number in 0..50 {
                tokio::select! {
                    biased;
                    _ = cx.emit(ChatChunk::text(number.to_string())) => {}
                    () = std::future::ready(()) => {}
                }
                // Several wait now; what comes in the next poll must not overtake them.
                if number % 5 == 4 {
                    tokio::task::yield_now().await;
                }
            }
            cx.emit(ChatChunk::text("end")).await;
            Ok(ChatResponse::streamed())
        })
    };
    let passes_on = on_model_call(|cx, request, next| async move { next.stream(request).forward(&cx).await });
    let expected: Vec<_> = (0..50).map(|number| number.to_string()).chain(["end".to_owned()]).collect();
    for layers in [vec![], vec![Arc::new(passes_on) as Arc<dyn Middleware>]] {
        let (texts, response) = within(ask(&layers, core())).await;
        assert_eq!(texts, expected);
        response.unwrap();
    }
}

/// A producer that posts goes on without waiting for its reader, but not for ever.
#[tokio::test]
async fn posted_items_keep_their_order_and_are_not_without_bound() {
    let ahead = Arc::new(AtomicUsize::new(0));
    let posts = {
        let ahead = ahead.clone();
        core(move |cx: Cx<ModelCall>, _| {
            let ahead = ahead.clone();
            async move {
                for number in 0..200 {
                    cx.emit(ChatChunk::text(number.to_string())).posted().await;
                    ahead.fetch_add(1, SeqCst);
                }
                cx.emit(ChatChunk::text("end")).await;
                Ok(ChatResponse::streamed())
            }
        })
    };
    let (mut items, _) = Rig::new(&[], posts).into_stream(request());
    let mut texts: Vec<String> = Vec::new();
    while let Some(chunk) = within(items.next()).await {
        texts.extend(chunk.texts().map(str::to_owned));
        let ahead = ahead.load(SeqCst).saturating_sub(texts.len());
        assert!(ahead < 100, "{ahead} ahead of the reader");
        if texts.len() == 1 {
            assert!(ahead > 1, "it waited for its reader");
        }
    }
    let expected: Vec<_> = (0..200).map(|number| number.to_string()).chain(["end".to_owned()]).collect();
    assert_eq!(texts, expected);
}

#[tokio::test]
async fn emitters_in_a_sub_executor() {
    assert_events(1050, |cx, token| async move {
        let mut emitters: FuturesUnordered<_> = (0..10)
            .map(|_| async {
                for number in 0..100 {
                    cx.emit(token.event()).await;
                    if number % 10 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
            })
            .collect();
        let all = async { while emitters.next().await.is_some() {} };
        tokio::join!(all, emit_times(&cx, &token, 50));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_emitter_in_a_task_beside_one_that_is_nested() {
    assert_events(200, |cx, token| async move {
        let (their_cx, their_token) = (cx.clone(), token.clone());
        let task = tokio::spawn(async move { emit_times(&their_cx, &their_token, 100).await });
        emit_times(&cx, &token, 100).await;
        task.await.unwrap();
    })
    .await;
}

/// What emits on the outer context runs in a task, while the outer reader is in another one: it must not be taken for
/// nested because some reader is being polled in its thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inner_agent_in_a_task_emits_on_the_outer_context() {
    for around_inner in bare_and_streamed() {
        for around_outer in [vec![spawns()], vec![streams(), spawns()]] {
            for _ in 0..50 {
                let token = Token::new();
                let outer = outer_core(token.clone(), around_inner.clone());
                assert_eq!(within(count_events(&around_outer, outer)).await, 10);
                token.alone().await;
            }
        }
    }
}

/// Runs an inner reply whose core emits ten events on the outer reply, between ten of its own.
fn outer_core(token: Token, around_inner: Layers) -> Arc<dyn Core<Reply>> {
    core(move |outer: Cx<Reply>, _| {
        let (token, layers) = (token.clone(), around_inner.clone());
        async move {
            let inner = core(move |inner: Cx<Reply>, _| {
                let (outer, token) = (outer.clone(), token.clone());
                async move {
                    for _ in 0..10 {
                        outer.emit(token.event()).await;
                        inner.emit(token.event()).await;
                    }
                    Ok(done())
                }
            });
            assert_eq!(count_events(&layers, inner).await, 10);
            Ok(done())
        }
    })
}

/// The chain needs no tokio: any executor will do.
#[test]
fn an_executor_of_another_make() {
    use std::{
        pin::pin,
        task::{Context, Poll, Wake, Waker},
        thread::{self, Thread},
    };
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    for layers in [vec![], vec![streams(), runs()]] {
        let token = Token::new();
        let three = core(emitting(|cx, token| async move { emit_times(&cx, &token, 3).await }, token));
        let (mut items, _) = Rig::new(&layers, three).into_stream(ReplyInput::default());
        let mut count = pin!(async {
            let mut count = 0;
            while items.next().await.is_some() {
                count += 1;
            }
            count
        });
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let count = loop {
            match count.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(count) => break count,
                Poll::Pending => thread::park(),
            }
        };
        assert_eq!(count, 3);
    }
}

/// A reader that is polled with a waker that does nothing still gets its items.
#[test]
fn a_reader_that_is_polled_once_at_a_time() {
    use futures_util::FutureExt;
    let (mut items, _) = Rig::new(&[], says(["a", "b"])).into_stream(request());
    let mut texts = Vec::new();
    while let Some(Some(chunk)) = items.next().now_or_never() {
        texts.extend(chunk.texts().map(str::to_owned));
    }
    assert_eq!(texts, ["a", "b"]);
}
