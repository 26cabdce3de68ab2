//! Panics in what is not of this crate: a filter or a speech model. No reply ends by them.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
};

use cepa_core::BoxFuture;

use crate::deadlines::Failure;

/// Runs this. What the program does at a panic (printing it, as a rule) it does here too, and one that aborts on panics
/// still does.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| Failure::Panic(said(&*panic)))
}

/// The same for a future. It is dropped when it has panicked.
pub(crate) async fn guarded_future<T>(run: BoxFuture<'_, T>) -> Result<T, Failure> {
    let mut run = Some(run);
    poll_fn(|task| {
        let Some(running) = &mut run else { return Poll::Pending };
        match guarded(|| running.as_mut().poll(task)) {
            Ok(poll) => poll.map(Ok),
            Err(failure) => {
                run = None;
                Poll::Ready(Err(failure))
            }
        }
    })
    .await
}

fn said(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no word");
    said.chars().take(200).collect()
}
