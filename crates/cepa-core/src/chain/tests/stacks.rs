//! Layers that do nothing but stand in the way, each in its own manner.

use std::{sync::Arc, task::Poll};

use futures_util::FutureExt;

use super::harness::Layers;
use crate::middleware::{Middleware, on_reply};

/// Does not look at the items.
pub(super) fn runs() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|_cx, input, next| next.run(input)))
}

/// Looks at each item as it passes.
pub(super) fn taps() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|_cx, input, next| async move {
        let mut seen = 0;
        let message = next.tap(input, |_| seen += 1).await?;
        assert!(seen > 0);
        Ok(message)
    }))
}

/// Looks at each item with a shared closure.
pub(super) fn taps_shared() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|_cx, input, next| next.tap_shared(input, |_| ())))
}

/// Reads the items and sends each on.
pub(super) fn streams() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|cx, input, next| async move {
        let mut items = next.stream(input);
        while let Some(event) = items.next().await {
            cx.emit(event).await;
        }
        items.finish().await
    }))
}

/// Runs what is inside in a task of its own.
pub(super) fn spawns() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|_cx, input, next| async move { tokio::spawn(next.run(input)).await.unwrap() }))
}

/// Begins to read here and goes on in another task.
pub(super) fn goes_on_elsewhere() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|cx, input, next| async move {
        let mut items = next.stream(input);
        if let Some(event) = items.next().await {
            cx.emit(event).await;
        }
        tokio::spawn(async move { items.forward(&cx).await }).await.unwrap()
    }))
}

/// Polls what is inside once with a waker that does nothing and once with its own, then moves it to another task.
pub(super) fn moves_half_way() -> Arc<dyn Middleware> {
    Arc::new(on_reply(|_cx, input, next| async move {
        let mut running = next.run(input);
        if let Some(result) = (&mut running).now_or_never() {
            return result;
        }
        let polled = std::future::poll_fn(|cx| Poll::Ready(running.poll_unpin(cx))).await;
        if let Poll::Ready(result) = polled {
            return result;
        }
        tokio::spawn(running).await.unwrap()
    }))
}

/// No layer, and one that streams: what must hold of every producer holds of both.
pub(super) fn bare_and_streamed() -> [Layers; 2] {
    [vec![], vec![streams()]]
}

/// Nine ways to stack them.
pub(super) fn nine() -> [Layers; 9] {
    [
        vec![],
        vec![runs(), streams()],
        vec![taps(), runs()],
        vec![streams(), taps(), taps_shared()],
        vec![spawns()],
        vec![streams(), spawns(), taps()],
        vec![spawns(), streams(), spawns(), streams()],
        vec![goes_on_elsewhere(), taps()],
        vec![taps(), spawns(), goes_on_elsewhere(), streams()],
    ]
}
