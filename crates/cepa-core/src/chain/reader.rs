//! The reading side of a slot.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Waker},
};

use super::{Outlet, slot::Slot, tap::Tap};

/// The reading side of one slot. Dropping it closes the slot.
pub(crate) struct Reader<T> {
    slot: Arc<Slot<T>>,
    waker: Option<Waker>,
    far_turn: bool,
    /// An item of the far lane was given out and its emitter not told yet.
    far_in_hand: bool,
}

/// What one step of a reader brought.
pub(crate) enum Step<T> {
    Item(Box<T>),
    /// The producer is at its end and everything it sent was read.
    End,
    Pending,
}

impl<T> Reader<T> {
    pub(crate) fn new() -> Self {
        Self { slot: Slot::new(false), waker: None, far_turn: true, far_in_hand: false }
    }

    /// The writing side, with these taps before it.
    pub(crate) fn outlet(&self, taps: Option<Arc<Tap<T>>>) -> Outlet<T> {
        Outlet { slot: self.slot.clone(), taps }
    }

    pub(crate) fn slot(&self) -> &Arc<Slot<T>> {
        &self.slot
    }

    /// One step: an item that is there, else one poll of the producer (`poll` answers whether it is at its end).
    #[inline]
    pub(crate) fn step(
        &mut self,
        cx: &mut Context<'_>,
        mut poll: impl FnMut(&mut Context<'_>) -> bool,
    ) -> Step<T> {
        if std::mem::replace(&mut self.far_in_hand, false) {
            self.slot.acknowledge();
        }
        if let Some(item) = self.slot.take_near() {
            return Step::Item(item);
        }
        // The far lane gets every second turn, so that it cannot keep the producer from running.
        if std::mem::replace(&mut self.far_turn, false)
            && let Some(item) = self.take_far()
        {
            return Step::Item(item);
        }
        self.far_turn = true;
        self.register(cx.waker());
        let ended = {
            let _polling = Polling::new(&self.slot.poller, cx.waker().data() as usize);
            poll(cx)
        };
        if let Some(item) = self.slot.take_near().or_else(|| self.take_far()) {
            return Step::Item(item);
        }
        if ended { Step::End } else { Step::Pending }
    }

    fn take_far(&mut self) -> Option<Box<T>> {
        let item = self.slot.take_far();
        self.far_in_hand = item.is_some();
        item
    }

    fn register(&mut self, waker: &Waker) {
        if !self.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            self.waker = Some(waker.clone());
            self.slot.set_reader(waker.clone());
        }
    }
}

impl<T> Drop for Reader<T> {
    fn drop(&mut self) {
        self.slot.close();
    }
}

/// Marks the slot as being polled, and takes the mark back also when the producer panics.
struct Polling<'a> {
    poller: &'a AtomicUsize,
    before: usize,
}

impl<'a> Polling<'a> {
    fn new(poller: &'a AtomicUsize, id: usize) -> Self {
        Self { poller, before: poller.swap(id, Relaxed) }
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        self.poller.store(self.before, Relaxed);
    }
}
