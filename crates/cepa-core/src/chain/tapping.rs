//! The rest of the chain, shown to a closure item by item.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{
    Flow, Hook, Outlet, Running, TapResult,
    next::{Attempt, poll_inner},
    reader::{Reader, Step},
    slot::Sending,
};
use crate::error::{Error, Result};

/// The rest of the chain, running with a tap. See [`Next::tap`](super::Next::tap).
#[must_use = "nothing inside runs until this is awaited: add `.await`"]
pub struct Tapping<H: Hook, F> {
    pub(super) reader: Reader<H::Item>,
    pub(super) out: Outlet<H::Item>,
    pub(super) inner: Option<Running<H>>,
    pub(super) output: Option<Result<H::Output>>,
    pub(super) look: F,
    pub(super) sending: Sending<H::Item>,
    pub(super) attempt: Option<Attempt<H>>,
}

impl<H: Hook, F> Unpin for Tapping<H, F> {}

impl<H, F, R> Future for Tapping<H, F>
where
    H: Hook,
    F: FnMut(&mut H::Item) -> R,
    R: TapResult,
{
    type Output = Result<H::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            ready!(this.out.slot.poll_emit(&mut this.sending, cx));
            let (inner, output) = (&mut this.inner, &mut this.output);
            let step = this.reader.step(cx, |cx| poll_inner(inner, output, cx));
            match step {
                Step::Item(mut item) => {
                    let flow = match (this.look)(&mut item).flow() {
                        Ok(flow) => flow,
                        Err(error) => {
                            // What runs inside ends with the hook.
                            this.inner = None;
                            return Poll::Ready(Err(error));
                        }
                    };
                    if flow == Flow::Keep && this.out.passes_taps(&mut item) {
                        this.sending = Sending::Fresh(item);
                    } else if this.out.slot.note_unheard() {
                        // A tap that drops everything must not keep the thread to itself.
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
                Step::End => {
                    drop(this.attempt.take());
                    let output = this.output.take();
                    return Poll::Ready(output.unwrap_or_else(|| Err(Error::polled_after_end())));
                }
                Step::Pending => return Poll::Pending,
            }
        }
    }
}

impl<H: Hook, F> std::fmt::Debug for Tapping<H, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tapping").field("hook", &H::NAME).finish_non_exhaustive()
    }
}
