//! What a search beside the reply has found.

use std::{future::Future, pin::pin, time::Duration};

use cepa_core::Scratch;
use tokio::{
    sync::oneshot::{self, error::TryRecvError},
    time::{Instant, timeout},
};

/// The searches beside a reply, by the layer that searches: there may be several. They lie in the reply's scratch space.
#[derive(Debug, Default)]
pub(super) struct Searches(Vec<Search>);

/// A search that has not been looked at for the last time.
#[derive(Debug)]
struct Search {
    layer: usize,
    /// The end at which its memories come out.
    memories: oneshot::Receiver<Vec<String>>,
    begun: Instant,
    /// How long rounds wait for it, from its beginning.
    wait: Duration,
}

impl Searches {
    /// Notes a search that begins, and returns where to put in what it finds.
    pub(super) fn begin(scratch: &Scratch, layer: usize, wait: Duration) -> oneshot::Sender<Vec<String>> {
        let (sender, memories) = oneshot::channel();
        scratch.update(|Self(searches)| {
            searches.retain(|search| search.layer != layer);
            searches.push(Search { layer, memories, begun: Instant::now(), wait });
        });
        sender
    }

    /// What the layer's search has found, once: nothing while it goes on, or where it failed. Waits where it was asked for.
    pub(super) async fn take(scratch: &Scratch, layer: usize) -> Vec<String> {
        let search = scratch.update(|Self(searches)| {
            let place = searches.iter().position(|search| search.layer == layer)?;
            Some(searches.swap_remove(place))
        });
        let Some(mut search) = search else { return Vec::new() };
        let left = search.wait.saturating_sub(search.begun.elapsed());
        let found = match search.memories.try_recv() {
            Err(TryRecvError::Empty) if left.is_zero() => None,
            Err(TryRecvError::Empty) => {
                timeout(left, &mut search.memories).await.ok().map(Result::unwrap_or_default)
            }
            found => Some(found.unwrap_or_default()),
        };
        found.unwrap_or_else(|| {
            scratch.update(|Self(searches)| searches.push(search));
            Vec::new()
        })
    }
}

/// Runs `search` beside `reply`, in one task, for as long as the reply takes.
pub(super) async fn beside<T>(search: impl Future<Output = ()>, reply: impl Future<Output = T>) -> T {
    let (mut search, mut reply) = (pin!(search), pin!(reply));
    tokio::select! {
        // What was found is there before the reply looks for it.
        biased;
        () = &mut search => reply.await,
        output = &mut reply => output,
    }
}
