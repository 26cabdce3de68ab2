//! What a search beside the reply has found.

use std::{future::Future, pin::pin};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

/// The end of a search at which its memories come out. It lies in the scratch space of its reply.
#[derive(Debug)]
pub(super) struct Found {
    memories: oneshot::Receiver<Vec<String>>,
    wait_until: Instant,
}

/// What there is of a search.
pub(super) enum Looked {
    /// It goes on.
    Searching(Found),
    /// It is over: what it found, nothing if it failed.
    Done(Vec<String>),
}

impl Found {
    /// The end of a search, and where to put in what it finds. A round waits for it until then.
    pub(super) fn until(wait_until: Instant) -> (Self, oneshot::Sender<Vec<String>>) {
        let (sender, memories) = oneshot::channel();
        (Self { memories, wait_until }, sender)
    }

    /// Looks, and waits where it was asked for.
    pub(super) async fn look(mut self) -> Looked {
        match self.memories.try_recv() {
            Ok(memories) => Looked::Done(memories),
            Err(oneshot::error::TryRecvError::Closed) => Looked::Done(Vec::new()),
            Err(oneshot::error::TryRecvError::Empty) if Instant::now() < self.wait_until => {
                match timeout_at(self.wait_until, &mut self.memories).await {
                    Ok(memories) => Looked::Done(memories.unwrap_or_default()),
                    Err(_) => Looked::Searching(self),
                }
            }
            Err(oneshot::error::TryRecvError::Empty) => Looked::Searching(self),
        }
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
