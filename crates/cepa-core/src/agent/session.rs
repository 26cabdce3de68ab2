//! The state of one session, behind a lock that knows its owner.

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use crate::{
    error::{ErrorKind, Result},
    state::AgentState,
};

/// The state of one session. Locking it twice in one thread is an error, not a deadlock.
#[derive(Debug)]
pub(crate) struct Session {
    /// The thread that holds the lock; 0 for none.
    owner: AtomicUsize,
    state: Mutex<AgentState>,
}

impl Session {
    pub(crate) fn new(state: AgentState) -> Self {
        Self { owner: AtomicUsize::new(0), state: Mutex::new(state) }
    }

    pub(crate) fn lock(&self) -> Result<StateLock<'_>> {
        let me = this_thread();
        if self.owner.load(Relaxed) == me {
            return Err(ErrorKind::Reentrant.into());
        }
        // A layer that panicked while it held the state has left it as it is: every change is whole by itself.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.owner.store(me, Relaxed);
        Ok(StateLock { owner: &self.owner, state })
    }
}

/// The state, locked.
#[derive(Debug)]
pub(crate) struct StateLock<'a> {
    owner: &'a AtomicUsize,
    state: MutexGuard<'a, AgentState>,
}

impl Drop for StateLock<'_> {
    fn drop(&mut self) {
        // Before the lock itself is given up.
        self.owner.store(0, Relaxed);
    }
}

impl Deref for StateLock<'_> {
    type Target = AgentState;
    fn deref(&self) -> &AgentState {
        &self.state
    }
}

impl DerefMut for StateLock<'_> {
    fn deref_mut(&mut self) -> &mut AgentState {
        &mut self.state
    }
}

/// A number that no other living thread has.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}
