//! Calling `next` again: free while nothing has gone out, refused afterwards.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use super::harness::{ask, core, says};
use crate::{
    chain::{Core, Cx, Flow, ModelCall},
    error::{Error, ErrorKind},
    middleware::{Middleware, on_model_call},
    model::{ChatChunk, ChatResponse},
};

/// A core that says each text and then fails, until it does not fail any more.
fn fails_until<const N: usize>(
    attempts: usize,
    texts: [&'static str; N],
) -> (Arc<dyn Core<ModelCall>>, Calls) {
    let calls = Calls::default();
    let counted = calls.clone();
    let core = core(move |cx: Cx<ModelCall>, _| {
        let attempt = counted.0.fetch_add(1, SeqCst) + 1;
        async move {
            if attempt >= attempts {
                cx.emit(ChatChunk::text("fine")).await;
                return Ok(ChatResponse::streamed());
            }
            for text in texts {
                cx.emit(ChatChunk::text(text)).await;
            }
            Err(Error::other("cut off"))
        }
    });
    (core, calls)
}

#[derive(Clone, Default)]
struct Calls(Arc<AtomicUsize>);

impl Calls {
    fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

/// Tries three times, whatever went out.
fn tries_again() -> Arc<dyn Middleware> {
    Arc::new(on_model_call(|_cx, request, next| async move {
        for _ in 0..2 {
            if let Ok(response) = next.clone().run(request.clone()).await {
                return Ok(response);
            }
        }
        next.run(request).await
    }))
}

#[tokio::test]
async fn before_anything_went_out() {
    let (core, calls) = fails_until(3, []);
    let (texts, response) = ask(&[tries_again()], core).await;
    response.unwrap();
    assert_eq!(texts, ["fine"]);
    assert_eq!(calls.count(), 3);
}

#[tokio::test]
async fn after_something_went_out() {
    let (core, calls) = fails_until(3, ["half"]);
    let (texts, response) = ask(&[tries_again()], core).await;
    assert!(matches!(response.unwrap_err().kind(), ErrorKind::ItemsAlreadySent));
    assert_eq!(texts, ["half"]);
    assert_eq!(calls.count(), 1);
}

/// Also when the attempt did not come to an end but was given up, and when only a tap was between.
#[tokio::test(start_paused = true)]
async fn after_an_attempt_that_was_given_up() {
    let stalls: fn() -> Arc<dyn Core<ModelCall>> = || {
        core(|cx: Cx<ModelCall>, _| async move {
            cx.emit(ChatChunk::text("half")).await;
            std::future::pending().await
        })
    };
    let limit = Duration::from_secs(1);
    let by_run = on_model_call(move |_cx, request, next| async move {
        let first = tokio::time::timeout(limit, next.clone().run(request.clone())).await;
        assert!(first.is_err());
        next.run(request).await
    });
    let by_tap = on_model_call(move |_cx, request, next| async move {
        let first = tokio::time::timeout(limit, next.clone().tap(request.clone(), |_| ())).await;
        assert!(first.is_err());
        next.tap(request, |_| ()).await
    });
    let by_stream = on_model_call(move |cx, request, next| async move {
        let first = tokio::time::timeout(limit, next.clone().stream(request.clone()).forward(&cx)).await;
        assert!(first.is_err());
        next.stream(request).forward(&cx).await
    });
    for layer in [Arc::new(by_run) as Arc<dyn Middleware>, Arc::new(by_tap), Arc::new(by_stream)] {
        let (texts, response) = ask(&[layer], stalls()).await;
        assert_eq!(texts, ["half"]);
        assert!(matches!(response.unwrap_err().kind(), ErrorKind::ItemsAlreadySent));
    }
}

/// What a layer keeps to itself was shown to nobody.
#[tokio::test]
async fn after_an_attempt_that_was_held_back() {
    let holds = on_model_call(|_cx, request, next| async move {
        let first = next.clone().hold(request.clone()).await?;
        if first.text() == "yes" {
            return Ok(first);
        }
        next.run(request).await
    });
    let answers = Mutex::new(["yes", "no"].to_vec());
    let core = core(move |cx: Cx<ModelCall>, _| {
        let text = answers.lock().unwrap().pop().unwrap();
        async move {
            cx.emit(ChatChunk::text(text)).await;
            Ok(ChatResponse::streamed())
        }
    });
    let (texts, response) = ask(&[Arc::new(holds)], core).await;
    response.unwrap();
    assert_eq!(texts, ["yes"]);
}

#[tokio::test]
async fn dropped_items_count_as_sent() {
    let drops = on_model_call(|_cx, request, next| async move {
        next.clone().tap(request.clone(), |_| Flow::Drop).await.unwrap_err();
        next.run(request).await
    });
    let (core, calls) = fails_until(2, ["half"]);
    let (_, response) = ask(&[Arc::new(drops)], core).await;
    assert!(matches!(response.unwrap_err().kind(), ErrorKind::ItemsAlreadySent));
    assert_eq!(calls.count(), 1);
}

/// A word of the layer's own between the attempts is none of an attempt's items.
#[tokio::test]
async fn after_a_word_of_the_layers_own() {
    let speaks = on_model_call(|cx, request, next| async move {
        cx.emit(ChatChunk::text("one moment, ")).await;
        match next.clone().run(request.clone()).await {
            Ok(response) => Ok(response),
            Err(_) => {
                cx.emit(ChatChunk::text("again: ")).await;
                next.run(request).await
            }
        }
    });
    let (core, _) = fails_until(2, []);
    let (texts, response) = ask(&[Arc::new(speaks)], core).await;
    response.unwrap();
    assert_eq!(texts, ["one moment, ", "again: ", "fine"]);
}

/// A layer outside may look by itself instead of running into the refusal.
#[tokio::test]
async fn a_layer_that_looks_at_what_was_sent() {
    let careful = on_model_call(|cx, request, next| async move {
        let sent = cx.sent();
        match next.clone().run(request.clone()).await {
            Err(_) if cx.sent() == sent => next.run(request).await,
            result => result,
        }
    });
    let (core, calls) = fails_until(2, ["half"]);
    let (_, response) = ask(&[Arc::new(careful)], core).await;
    assert_eq!(response.unwrap_err().to_string(), "cut off");
    assert_eq!(calls.count(), 1);
}

/// Two attempts at once, each read on its own: only the winner's items go out.
#[tokio::test]
async fn a_race_of_two_attempts() {
    let races = on_model_call(|cx, request, next| async move {
        let (mut slow, mut fast) = (next.clone().stream(request.clone()), next.stream(request));
        let (first, rest) = tokio::select! {
            biased;
            Some(chunk) = fast.next() => (chunk, fast),
            Some(chunk) = slow.next() => (chunk, slow),
            else => return Err(Error::other("two empty answers")),
        };
        cx.emit(first).await;
        rest.forward(&cx).await
    });
    let (texts, response) = ask(&[Arc::new(races)], says(["a", "b"])).await;
    response.unwrap();
    assert_eq!(texts, ["a", "b"]);
}
