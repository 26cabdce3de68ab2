//! Errors say where they come from, and end what they must end.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use super::{
    harness::{Layers, Rig, Token, ask, core, emits, request, says},
    stacks::{bare_and_streamed, runs, streams},
};
use crate::{
    chain::{Core, Cx, Flow, ModelCall, Reply},
    error::{Error, ErrorKind, Origin},
    middleware::{Middleware, ReplyInput, on_model_call, on_reply},
    model::ChatChunk,
};

fn passes() -> Arc<dyn Middleware> {
    Arc::new(on_model_call(|_cx, request, next| next.run(request)))
}

#[tokio::test]
async fn the_innermost_layer_is_named() {
    struct Retry;
    impl Middleware for Retry {
        fn hooks(&self) -> crate::HookSet {
            crate::HookSet::MODEL_CALL
        }
        fn on_model_call(
            self: Arc<Self>,
            _cx: Cx<ModelCall>,
            _request: crate::ModelRequest,
            _next: crate::Next<ModelCall>,
        ) -> crate::BoxFuture<'static, crate::Result<crate::ChatResponse>> {
            Box::pin(async { Err(Error::other("the line is dead")) })
        }
    }
    // The reply layer is in the agent's list and counts, though not in the hook's.
    let layers: Layers = vec![passes(), Arc::new(Retry), runs(), passes()];
    let error = ask(&layers, says(["never"])).await.1.unwrap_err();
    assert_eq!(error.to_string(), "on_model_call of `Retry` (layer 2 of 4): the line is dead");
    assert_eq!(error.layer(), Some(("on_model_call", "Retry")));
    assert_eq!(error.origin(), Origin::Layer);
}

#[tokio::test]
async fn a_core_is_not_named() {
    let fails: Arc<dyn Core<ModelCall>> =
        core(|_: Cx<ModelCall>, _| async { Err(Error::other("the line is dead")) });
    let error = ask(&[passes(), passes()], fails).await.1.unwrap_err();
    assert_eq!(error.to_string(), "the line is dead");
    assert_eq!(error.layer(), None);
}

#[tokio::test]
async fn a_layer_that_makes_another_error_of_it_is_named() {
    let explains = on_model_call(|_cx, request, next| async move {
        let result = next.run(request).await;
        result.map_err(|error| Error::other(format!("no answer: {error}")))
    })
    .key("Explains");
    let fails: Arc<dyn Core<ModelCall>> = core(|_: Cx<ModelCall>, _| async { Err(Error::other("503")) });
    let error = ask(&[passes(), Arc::new(explains)], fails).await.1.unwrap_err();
    assert_eq!(error.to_string(), "on_model_call of `Explains` (layer 2 of 2): no answer: 503");
}

#[tokio::test]
async fn a_taps_error_ends_the_hook() {
    for outside in [vec![], vec![passes()]] {
        let emitted = Arc::new(AtomicUsize::new(0));
        let producer = {
            let emitted = emitted.clone();
            core(move |cx: Cx<ModelCall>, _| {
                let emitted = emitted.clone();
                async move {
                    loop {
                        emitted.fetch_add(1, SeqCst);
                        cx.emit(ChatChunk::text("a")).await;
                    }
                }
            })
        };
        let limits = on_model_call(|_cx, request, next| async move {
            let mut left = 2;
            next.tap(request, |_| {
                left -= 1;
                if left < 0 { Err(Error::other("too long")) } else { Ok(()) }
            })
            .await
        })
        .key("Limits");
        let layers: Layers = outside.into_iter().chain([Arc::new(limits) as Arc<dyn Middleware>]).collect();
        let (mut items, remains) = Rig::new(&layers, producer).into_stream(request());
        let mut count = 0;
        while items.next().await.is_some() {
            count += 1;
        }
        assert_eq!((count, emitted.load(SeqCst)), (2, 3));
        let error = items.finish().await.unwrap_err();
        assert!(error.to_string().ends_with("too long"), "{error}");
        assert_eq!(error.layer(), Some(("on_model_call", "Limits")));
        remains.vanish().await;
    }
}

/// A tap's closure may return nothing, a `Flow`, or a `Result` of one of them with any error that becomes an `Error`.
#[tokio::test]
async fn what_a_tap_may_return() {
    let layers: Layers = vec![
        Arc::new(on_model_call(|_cx, request, next| async move { next.tap(request, |_| {}).await })),
        Arc::new(on_model_call(|_cx, request, next| async move {
            next.tap(
                request,
                |chunk| if chunk.texts().any(|text| text == "b") { Flow::Drop } else { Flow::Keep },
            )
            .await
        })),
        Arc::new(on_model_call(|_cx, request, next| async move {
            next.tap(request, |_| Ok::<_, Error>(Flow::Keep)).await
        })),
    ];
    let (texts, response) = ask(&layers, says(["a", "b", "c"])).await;
    response.unwrap();
    assert_eq!(texts, ["a", "c"]);
}

#[tokio::test]
async fn a_finished_run_that_is_polled_again_says_so() {
    let twice: Arc<dyn Middleware> = Arc::new(on_reply(|_cx, input, next| async move {
        let mut running = next.run(input);
        (&mut running).await?;
        running.await
    }));
    for inside in bare_and_streamed() {
        let layers: Layers = [twice.clone()].into_iter().chain(inside).collect();
        let rig = Rig::new(&layers, emits(1, &Token::new()));
        let error = rig.unheard(ReplyInput::default()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::PolledAfterEnd), "{error}");
    }
}

#[tokio::test]
async fn an_error_passes_a_streaming_layer_after_the_items() {
    let fails: Arc<dyn Core<Reply>> = core(|cx: Cx<Reply>, _| async move {
        cx.emit(Token::new().event()).await;
        Err(Error::other("broken"))
    });
    let (mut items, _) = Rig::new(&[streams()], fails).into_stream(ReplyInput::default());
    assert!(items.next().await.is_some());
    assert!(items.next().await.is_none());
    assert_eq!(items.finish().await.unwrap_err().to_string(), "broken");
}
