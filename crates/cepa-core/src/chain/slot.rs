//! The slot: hands items from whoever emits them to whoever polls the reading side.
//!
//! It has two lanes. *Near* is for a producer that runs nested in the poll of this very slot's reader, with
//! the reader's own waker: one swap, no lock, no wake. *Far* is for everyone else (other tasks, sub-executors
//! such as `FuturesUnordered`, a second emitter in the same poll): a short locked queue with wakers.
//!
//! Near is a property of the slot, not of the thread: the reader notes whose waker it polls with, and an
//! emitter is near exactly while it is polled with that waker.

use std::{
    collections::VecDeque,
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
    pub(super) poller: AtomicUsize,
    closed: AtomicBool,
    unheard: AtomicUsize,
    far: Mutex<Far<T>>,
    /// Length of the far queue, to look at without the lock.
    far_waiting: AtomicUsize,
    far_placed: AtomicUsize,
}

struct Far<T> {
    items: VecDeque<Parcel<T>>,
    /// What the reader has taken and not come back from: its number, and who sent it.
    in_hand: Option<(usize, Waker)>,
    /// All before this number are done with.
    done: usize,
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
            far: Mutex::new(Far { items: VecDeque::new(), in_hand: None, done: 0, reader: None }),
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
        self.acknowledge();
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
    pub(super) fn boxed(&self, item: T) -> Box<T> {
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

    /// Says whom to wake when an item comes from elsewhere.
    pub(super) fn set_reader(&self, waker: Waker) {
        self.lock_far().reader = Some(waker);
    }

    fn lock_far(&self) -> MutexGuard<'_, Far<T>> {
        // Poison is no danger: nothing foreign runs while this lock is held.
        self.far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_near(&self) -> Option<Box<T>> {
        let placed = self.near_placed.load(Relaxed);
        if placed == self.near_taken.load(Relaxed) {
            return None;
        }
        self.near_taken.store(placed, Relaxed);
        self.near.take()
    }

    pub(super) fn take_far(&self) -> Option<Box<T>> {
        if self.far_waiting.load(Acquire) == 0 {
            return None;
        }
        let mut far = self.lock_far();
        let Parcel { number, item, sender } = far.items.pop_front()?;
        far.in_hand = Some((number, sender));
        self.far_waiting.store(far.items.len(), Release);
        Some(item)
    }

    /// The reader has come back from the far item it took: only now its emitter goes on, as a near one does. So what
    /// became of the item (a layer may have dropped it) is settled by then.
    pub(super) fn acknowledge(&self) {
        let sender = {
            let mut far = self.lock_far();
            let Some((number, sender)) = far.in_hand.take() else { return };
            far.done = number + 1;
            sender
        };
        sender.wake();
    }

    /// One poll of an emitter.
    pub(crate) fn poll_emit(&self, sending: &mut Sending<T>, cx: &mut Context<'_>) -> Poll<bool> {
        let me = waker_id(cx.waker());
        match std::mem::replace(sending, Sending::Done(false)) {
            Sending::Done(heard) => Poll::Ready(heard),
            Sending::Yield => yield_once(cx),
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
                if far.done > number || self.closed.load(SeqCst) {
                    return Poll::Ready(far.done > number);
                }
                let first = far.items.front().map_or(number, |parcel| parcel.number);
                match &mut far.in_hand {
                    Some((in_hand, sender)) if *in_hand == number => sender.clone_from(cx.waker()),
                    _ => {
                        if let Some(parcel) = number.checked_sub(first).and_then(|at| far.items.get_mut(at)) {
                            parcel.sender.clone_from(cx.waker());
                        }
                    }
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
    pub(super) fn poll_post(&self, sending: &mut Sending<T>, cx: &mut Context<'_>) -> Poll<()> {
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
        if self.note_unheard() { yield_once(cx) } else { Poll::Ready(false) }
    }
}

/// Lets other tasks run. `sending` is `Done` already: the next poll ends it.
fn yield_once(cx: &mut Context<'_>) -> Poll<bool> {
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Names an emitter's waker by its data. Null (all wakers that do nothing share it) gets a name that no poller has.
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
    /// Dropped by a shared tap, and it is time to let other tasks run.
    Yield,
    Done(bool),
}
