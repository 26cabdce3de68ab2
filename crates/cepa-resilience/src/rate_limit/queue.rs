//! Waiting for the limits to have room, in order.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use tokio::{
    sync::{Mutex, Notify, OwnedMutexGuard},
    task::JoinHandle,
    time::{Instant, sleep_until},
};

use super::Shared;

/// How late a call may come after its turn: then it was not polled meanwhile, and needs another one.
const LATE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Held by who is next. Its own queue is in order, and who gives up leaves it.
    turn: Arc<Mutex<()>>,
    /// Something has changed for who is next.
    changed: Notify,
}

impl Queue {
    /// Has who is next look whether there is room now.
    pub(super) fn look_again(&self) {
        self.changed.notify_one();
    }
}

/// Waits for its turn, and then until the limits have room; gives the number of the request. Giving up gives the place
/// back.
///
/// A reply is polled only while somebody reads it. A reader that does other things for a while must not keep the whole
/// queue waiting, so who has to wait does so in a task, which ends with the wait.
pub(super) async fn enter(shared: &Arc<Shared>, tokens: u64) -> u64 {
    loop {
        let mut turn = Box::pin(shared.queue.turn.clone().lock_owned());
        // Takes its place in the queue at once, before whoever comes later.
        let waiting = match poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx))).await {
            Poll::Ready(turn) => {
                if let Ok(number) = shared.window().enter(shared.limits, tokens, Instant::now()) {
                    return number;
                }
                tokio::spawn(take_turn(shared.clone(), tokens, Box::pin(std::future::ready(turn))))
            }
            Poll::Pending => tokio::spawn(take_turn(shared.clone(), tokens, turn)),
        };
        match Waiting(waiting).await {
            Ok((number, at)) if at.elapsed() < LATE => return number,
            Ok(_) => tracing::debug!("a call came too late for its turn and takes another one"),
            // The runtime takes no tasks any more: it ends.
            Err(_) => {
                return take_turn(shared.clone(), tokens, Box::pin(shared.queue.turn.clone().lock_owned()))
                    .await
                    .0;
            }
        }
    }
}

type Turn = Pin<Box<dyn Future<Output = OwnedMutexGuard<()>> + Send>>;

async fn take_turn(shared: Arc<Shared>, tokens: u64, turn: Turn) -> (u64, Instant) {
    let _turn = turn.await;
    loop {
        let now = Instant::now();
        let entered = shared.window().enter(shared.limits, tokens, now);
        match entered {
            Ok(number) => return (number, now),
            // A change between the look and the wait is not lost: it stays noted until somebody waits.
            Err(at) => tokio::select! {
                () = sleep_until(at) => {}
                () = shared.queue.changed.notified() => {}
            },
        }
    }
}

/// A task that ends when it is waited for no more.
struct Waiting<T>(JoinHandle<T>);

impl<T> Future for Waiting<T> {
    type Output = Result<T, tokio::task::JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
