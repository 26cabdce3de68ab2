//! The way out: a slot that hands items from whoever emits them to whoever polls the reading side.
//!
//! It has two lanes. *Near* is for a producer that runs nested in the poll of this very slot's reader, with
//! the reader's own waker: one swap, no lock, no wake. *Far* is for everyone else (other tasks, sub-executors
//! such as `FuturesUnordered`, a second emitter in the same poll): a short locked queue with wakers.
//!
//! Near is a property of the slot, not of the thread: the reader notes whose waker it polls with, and an
//! emitter is near exactly while it is polled with that waker.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
        },
    },
    task::{Context, Poll, Waker},
};

use crossbeam_utils::atomic::AtomicCell;

use super::tap::{Flow, Tap};

/// After so many items that nobody took, an emitter lets other tasks run once.
const UNHEARD_PER_YIELD: usize = 64;

/// So many items may wait before a producer that does not wait for each has to.
const MAX_POSTED: usize = 64;

/// One place where items change hands.
pub(crate) struct Slot<T> {
    near: AtomicCell<Option<Box<T>>>,
    /// Written only inside the reader's poll, as is `near_taken`.
    near_placed: AtomicUsize,
    near_taken: AtomicUsize,
    /// A box whose item was taken out, to be filled again: saves an allocation per item.
    spare: AtomicCell<Option<Box<T>>>,
    /// The waker (its data pointer) that the reader is polling with right now; 0 outside of its poll.
    poller: AtomicUsize,
    closed: AtomicBool,
    unheard: AtomicUsize,
    far: Mutex<Far<T>>,
    /// Length of the far queue, to look at without the lock.
    far_waiting: AtomicUsize,
    far_placed: AtomicUsize,
}

struct Far<T> {
    items: VecDeque<Parcel<T>>,
    taken: usize,
    reader: Option<Waker>,
}

struct Parcel<T> {
    number: usize,
    item: Box<T>,
    sender: Waker,
}

impl<T> Slot<T> {
    pub(crate) fn new(closed: bool) -> Arc<Self> {
        Arc::new(Self {
            near: AtomicCell::new(None),
            near_placed: AtomicUsize::new(0),
            near_taken: AtomicUsize::new(0),
            spare: AtomicCell::new(None),
            poller: AtomicUsize::new(0),
            closed: AtomicBool::new(closed),
            unheard: AtomicUsize::new(0),
            far: Mutex::new(Far { items: VecDeque::new(), taken: 0, reader: None }),
            far_waiting: AtomicUsize::new(0),
            far_placed: AtomicUsize::new(0),
        })
    }

    /// How many items were emitted here so far, taken or not.
    pub(crate) fn sent(&self) -> usize {
        self.near_placed.load(Relaxed) + self.far_placed.load(Relaxed) + self.unheard.load(Relaxed)
    }

    /// Counts an item that a tap dropped: for the layers inside it was sent. `true` when it is time to yield.
    pub(crate) fn note_unheard(&self) -> bool {
        self.unheard.fetch_add(1, Relaxed) % UNHEARD_PER_YIELD == UNHEARD_PER_YIELD - 1
    }

    /// The reading side is gone: whoever waits to hand something over goes on.
    pub(crate) fn close(&self) {
        self.closed.store(true, SeqCst);
        let left_over = self.near.take();
        let (items, reader) = {
            let mut far = self.lock_far();
            self.far_waiting.store(0, Release);
            (std::mem::take(&mut far.items), far.reader.take())
        };
        // Dropped and woken outside of the lock: both may run foreign code.
        drop((left_over, reader));
        for parcel in items {
            parcel.sender.wake();
        }
    }

    /// Boxes an item, in a box that is known to be free where there is one.
    fn boxed(&self, item: T) -> Box<T> {
        match self.spare.take() {
            Some(mut spare) => {
                *spare = item;
                spare
            }
            None => Box::new(item),
        }
    }

    /// Gives back a box whose content is no longer needed.
    pub(crate) fn recycle(&self, used: Box<T>) {
        self.spare.store(Some(used));
    }

    fn lock_far(&self) -> MutexGuard<'_, Far<T>> {
        // Poison is no danger: nothing foreign runs while this lock is held.
        self.far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_near(&self) -> Option<Box<T>> {
        let placed = self.near_placed.load(Relaxed);
        if placed == self.near_taken.load(Relaxed) {
            return None;
        }
        self.near_taken.store(placed, Relaxed);
        self.near.take()
    }

    fn take_far(&self) -> Option<Box<T>> {
        if self.far_waiting.load(Acquire) == 0 {
            return None;
        }
        let parcel = {
            let mut far = self.lock_far();
            let parcel = far.items.pop_front()?;
            far.taken = parcel.number + 1;
            self.far_waiting.store(far.items.len(), Release);
            parcel
        };
        parcel.sender.wake();
        Some(parcel.item)
    }

    /// One poll of an emitter.
    pub(crate) fn poll_emit(&self, sending: &mut Sending<T>, cx: &mut Context<'_>) -> Poll<bool> {
        let me = waker_id(cx.waker());
        match std::mem::replace(sending, Sending::Done(false)) {
            Sending::Done(heard) => Poll::Ready(heard),
            Sending::Fresh(item) => {
                if self.closed.load(Relaxed) {
                    drop(item);
                    return self.poll_unheard(cx);
                }
                let near = self.poller.load(Relaxed) == me;
                if near {
                    let number = self.near_placed.load(Relaxed);
                    // What waits in the far lane was sent before.
                    if number == self.near_taken.load(Relaxed) && self.far_waiting.load(Acquire) == 0 {
                        self.near.store(Some(item));
                        self.near_placed.store(number + 1, Relaxed);
                        *sending = Sending::Near(number);
                        return Poll::Pending;
                    }
                }
                self.place_far(item, near, sending, cx)
            }
            Sending::Near(number) => {
                // Taken; or this emitter was moved elsewhere meanwhile, and the item is left to the reader.
                let gone = self.near_taken.load(Relaxed) > number || self.poller.load(Relaxed) != me;
                if gone || self.closed.load(Relaxed) {
                    return Poll::Ready(true);
                }
                *sending = Sending::Near(number);
                Poll::Pending
            }
            Sending::Far(number) => {
                let mut far = self.lock_far();
                if far.taken > number || self.closed.load(SeqCst) {
                    return Poll::Ready(far.taken > number);
                }
                let first = far.items.front().map_or(number, |parcel| parcel.number);
                if let Some(parcel) = far.items.get_mut(number - first) {
                    parcel.sender.clone_from(cx.waker());
                }
                drop(far);
                *sending = Sending::Far(number);
                Poll::Pending
            }
        }
    }

    fn place_far(
        &self,
        item: Box<T>,
        near: bool,
        sending: &mut Sending<T>,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        let mut far = self.lock_far();
        if self.closed.load(SeqCst) {
            drop(far);
            drop(item);
            return self.poll_unheard(cx);
        }
        let number = self.far_placed.fetch_add(1, Relaxed);
        far.items.push_back(Parcel { number, item, sender: cx.waker().clone() });
        self.far_waiting.store(far.items.len(), Release);
        // A reader that is polling us looks into the queue when this poll returns.
        let reader = if near { None } else { far.reader.clone() };
        drop(far);
        if let Some(reader) = reader {
            reader.wake();
        }
        *sending = Sending::Far(number);
        Poll::Pending
    }

    /// One poll of a producer that does not wait: always in the far lane, so that its items stay in order.
    fn poll_post(&self, sending: &mut Sending<T>, cx: &mut Context<'_>) -> Poll<()> {
        if !matches!(sending, Sending::Fresh(_)) {
            return self.poll_emit(sending, cx).map(|_| ());
        }
        if let Sending::Fresh(item) = std::mem::replace(sending, Sending::Done(false)) {
            let polled = if self.closed.load(Relaxed) {
                drop(item);
                self.poll_unheard(cx)
            } else {
                let near = self.poller.load(Relaxed) == waker_id(cx.waker());
                self.place_far(item, near, sending, cx)
            };
            match sending {
                Sending::Done(_) => return polled.map(|_| ()),
                _ if self.far_waiting.load(Acquire) < MAX_POSTED => return Poll::Ready(()),
                _ => return Poll::Pending,
            }
        }
        Poll::Ready(())
    }

    fn poll_unheard(&self, cx: &mut Context<'_>) -> Poll<bool> {
        if self.note_unheard() {
            // `sending` is `Done` already: the next poll ends it.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(false)
    }
}

/// Names a waker by its data. Null (a waker that does nothing) gets a name that no poller ever has.
fn waker_id(waker: &Waker) -> usize {
    match waker.data() as usize {
        0 => usize::MAX,
        id => id,
    }
}

/// How far an item on its way is.
pub(crate) enum Sending<T> {
    Fresh(Box<T>),
    Near(usize),
    Far(usize),
    Done(bool),
}

/// The reading side of one slot. Dropping it closes the slot.
pub(crate) struct Reader<T> {
    slot: Arc<Slot<T>>,
    waker: Option<Waker>,
    far_turn: bool,
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
        Self { slot: Slot::new(false), waker: None, far_turn: true }
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
        if let Some(item) = self.slot.take_near() {
            return Step::Item(item);
        }
        // The far lane gets every second turn, so that a busy near producer cannot starve it.
        if std::mem::replace(&mut self.far_turn, false)
            && let Some(item) = self.slot.take_far()
        {
            return Step::Item(item);
        }
        self.far_turn = true;
        self.register(cx.waker());
        let ended = {
            let _polling = Polling::new(&self.slot.poller, waker_id(cx.waker()));
            poll(cx)
        };
        if let Some(item) = self.slot.take_near().or_else(|| self.slot.take_far()) {
            return Step::Item(item);
        }
        if ended { Step::End } else { Step::Pending }
    }

    fn register(&mut self, waker: &Waker) {
        if !self.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            self.waker = Some(waker.clone());
            self.slot.lock_far().reader = Some(waker.clone());
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

    /// Sends one item outward and waits until it was taken.
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
        } else {
            self.slot.note_unheard();
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
