//! The task of one call in the background.

use cepa_core::{Acting, CancelToken, Items};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep_until},
};

use super::{
    calls::{Ended, Ends, How},
    output::Output,
};

/// The most characters of an error that the model is told.
const MOST_WORDS: usize = 2000;

/// Runs a call to its end, its deadline or its stop.
pub(super) async fn run(
    mut running: Items<Acting>,
    mut output: Output,
    slot: OwnedSemaphorePermit,
    until: Instant,
    stop: CancelToken,
    ends: Ends,
) {
    let cut_off = tokio::select! {
        biased;
        () = stop.cancelled() => Some(How::Stopped),
        () = sleep_until(until) => Some(How::TooLong),
        () = read(&mut running, &mut output) => None,
    };
    let how = match cut_off {
        // The tool is dropped before anybody hears that it has ended.
        Some(how) => {
            drop(running);
            how
        }
        None => match running.finish().await {
            Ok(response) => How::Done(response.state),
            Err(error) => {
                // No reply is there to fail.
                tracing::warn!(%error, "a tool call failed in the background");
                How::Failed(error.to_string().chars().take(MOST_WORDS).collect())
            }
        },
    };
    drop(slot);
    ends.with(Ended { how, output });
}

async fn read(running: &mut Items<Acting>, output: &mut Output) {
    while let Some(chunk) = running.next().await {
        output.add(&chunk);
        // A flood must not keep the deadline from coming.
        tokio::task::consume_budget().await;
    }
}
