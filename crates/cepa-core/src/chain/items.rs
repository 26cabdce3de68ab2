//! The rest of the chain as a stream.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;

use super::{
    BoxFuture, Cx, Hook, Running, Streams,
    next::{Attempt, poll_inner},
    reader::{Reader, Step},
};
use crate::error::{Error, Result};

/// The items of the rest of the chain, one by one, and then its output. See [`Next::stream`](super::Next::stream).
///
/// Nothing runs while it is not read. Dropping it drops what runs inside.
#[must_use = "items do not go on by themselves: read them with `.next().await`, `cx.emit` them, then call `.finish()`"]
pub struct Items<H: Hook> {
    reader: Reader<H::Item>,
    inner: Option<Running<H>>,
    output: Option<Result<H::Output>>,
    _attempt: Option<Attempt<H>>,
}

impl<H: Hook> Unpin for Items<H> {}

impl<H: Hook> Items<H> {
    pub(super) fn new(reader: Reader<H::Item>, inner: Running<H>, attempt: Option<Attempt<H>>) -> Self {
        Self { reader, inner: Some(inner), output: None, _attempt: attempt }
    }

    /// The items of a future that is no part of a chain.
    pub(crate) fn of_future(reader: Reader<H::Item>, fut: BoxFuture<'static, Result<H::Output>>) -> Self {
        Self::new(reader, Running::of_future(fut), None)
    }

    /// The next item, or `None` when there are no more. Cancel-safe: fit for `select!`.
    pub async fn next(&mut self) -> Option<Box<H::Item>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// The output of the rest of the chain. Reads and drops the items that are left.
    ///
    /// # Errors
    /// Those of the layers inside.
    pub async fn finish(mut self) -> Result<H::Output> {
        while self.next().await.is_some() {}
        self.output.take().unwrap_or_else(|| Err(Error::polled_after_end()))
    }

    /// Sends the items that are left on, then gives the output.
    ///
    /// # Errors
    /// Those of the layers inside.
    pub async fn forward(mut self, cx: &Cx<H>) -> Result<H::Output>
    where
        H: Streams,
    {
        while let Some(item) = self.next().await {
            cx.emit(item).await;
        }
        self.finish().await
    }

    /// Gives back the box of an item that was read.
    pub(crate) fn recycle(&self, used: Box<H::Item>) {
        self.reader.slot().recycle(used);
    }
}

impl<H: Hook> Stream for Items<H> {
    type Item = Box<H::Item>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Box<H::Item>>> {
        let Self { reader, inner, output, .. } = &mut *self;
        match reader.step(cx, |cx| poll_inner(inner, output, cx)) {
            Step::Item(item) => Poll::Ready(Some(item)),
            Step::End => Poll::Ready(None),
            Step::Pending => Poll::Pending,
        }
    }
}

impl<H: Hook> std::fmt::Debug for Items<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Items").field("hook", &H::NAME).finish_non_exhaustive()
    }
}
