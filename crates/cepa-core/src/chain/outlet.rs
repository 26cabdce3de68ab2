//! The way out: the writing side of a slot.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    slot::{Sending, Slot},
    tap::{Flow, Tap},
};

/// The writing side: a slot and the shared taps that every item passes on its way to it.
pub struct Outlet<T> {
    pub(crate) slot: Arc<Slot<T>>,
    pub(crate) taps: Option<Arc<Tap<T>>>,
}

impl<T> Clone for Outlet<T> {
    fn clone(&self) -> Self {
        Self { slot: self.slot.clone(), taps: self.taps.clone() }
    }
}

impl<T> std::fmt::Debug for Outlet<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outlet").field("sent", &self.slot.sent()).finish_non_exhaustive()
    }
}

impl<T> Outlet<T> {
    /// An outlet that nobody reads: items pass the taps and are dropped.
    pub(crate) fn unheard(taps: Option<Arc<Tap<T>>>) -> Self {
        Self { slot: Slot::new(true), taps }
    }

    /// Sends one item outward and waits until its reader has dealt with it and comes for the next one.
    ///
    /// The future answers `true` when the reader has taken the item, `false` when nobody listens or a tap
    /// dropped it. Given up half-way (in a `select!`), an item that was handed over is still delivered, once.
    #[inline]
    pub fn emit(&self, item: impl IntoItem<T>) -> Emit<'_, T> {
        self.emit_boxed(item.into_item(&self.slot))
    }

    #[inline]
    pub(crate) fn emit_boxed(&self, mut item: Box<T>) -> Emit<'_, T> {
        let sending = if self.passes_taps(&mut item) {
            Sending::Fresh(item)
        } else if self.slot.note_unheard() {
            Sending::Yield
        } else {
            Sending::Done(false)
        };
        Emit { slot: &self.slot, sending }
    }

    /// Runs the shared taps, innermost first.
    #[inline]
    pub(crate) fn passes_taps(&self, item: &mut T) -> bool {
        let mut tap = self.taps.as_deref();
        while let Some(this) = tap {
            if (this.look)(item) == Flow::Drop {
                return false;
            }
            tap = this.outer.as_deref();
        }
        true
    }

    /// How many items went out here so far, those that a tap or an absent listener dropped included.
    pub fn sent(&self) -> usize {
        self.slot.sent()
    }
}

/// An item on its way. See [`Outlet::emit`].
#[must_use = "an item goes out only when `.emit(…)` is awaited"]
pub struct Emit<'a, T> {
    slot: &'a Slot<T>,
    sending: Sending<T>,
}

impl<T> Unpin for Emit<'_, T> {}

impl<'a, T> Emit<'a, T> {
    /// Sends the item without waiting until it was taken, as long as not too many wait already. For one of several
    /// producers in the same task: it goes on where it would go on if it were alone.
    pub(crate) fn posted(self) -> Post<'a, T> {
        let Self { slot, sending } = self;
        Post { slot, sending }
    }
}

impl<T> Future for Emit<'_, T> {
    type Output = bool;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let slot = self.slot;
        slot.poll_emit(&mut self.sending, cx)
    }
}

/// An item that is not waited for. See [`Outlet::post`].
#[must_use = "an item goes out only when this is awaited"]
pub(crate) struct Post<'a, T> {
    slot: &'a Slot<T>,
    sending: Sending<T>,
}

impl<T> Unpin for Post<'_, T> {}

impl<T> Future for Post<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let slot = self.slot;
        slot.poll_post(&mut self.sending, cx)
    }
}

impl<T> std::fmt::Debug for Emit<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emit").finish_non_exhaustive()
    }
}

/// What can be emitted: an item of the hook, or a box of it.
///
/// ```
/// use cepa_core::{Cx, Reply, ReplyInput, Result, Msg, Next};
///
/// /// Passes everything on: what `next` gives is a box, and goes on without being boxed anew.
/// async fn pass(cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
///     let mut items = next.stream(input);
///     while let Some(event) = items.next().await {
///         cx.emit(event).await;
///     }
///     items.finish().await
/// }
/// # let _ = pass;
/// ```
#[diagnostic::on_unimplemented(
    message = "this hook's items are `{T}`; `{Self}` is not one",
    label = "expected `{T}` or `Box<{T}>`"
)]
pub trait IntoItem<T>: sealed::Sealed<T> {
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "only the chain calls it")]
    fn into_item(self, slot: &Slot<T>) -> Box<T>;
}

impl<T> IntoItem<T> for T {
    #[inline]
    #[allow(private_interfaces, reason = "only the chain calls it")]
    fn into_item(self, slot: &Slot<T>) -> Box<T> {
        slot.boxed(self)
    }
}

impl<T> IntoItem<T> for Box<T> {
    #[inline]
    #[allow(private_interfaces, reason = "only the chain calls it")]
    fn into_item(self, _slot: &Slot<T>) -> Box<T> {
        self
    }
}

mod sealed {
    pub trait Sealed<T> {}
    impl<T> Sealed<T> for T {}
    impl<T> Sealed<T> for Box<T> {}
}
