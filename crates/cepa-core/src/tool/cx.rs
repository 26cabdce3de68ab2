//! What a running tool can ask for.

use super::{Tool, ToolCx};
use crate::{
    agent::Scratch,
    chain::StateGuard,
    error::{Error, ErrorKind, Result},
};

impl ToolCx {
    /// The tool that runs.
    pub fn tool(&self) -> &dyn Tool {
        &*self.scope().tool
    }

    /// What the caller gave to this reply by `.with(value)`; `None` also when there is no reply.
    pub fn context<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.scope().reply()?.context()
    }

    /// The session's state, locked. The guard cannot be held across an `await`: that does not compile.
    ///
    /// # Errors
    /// *Reply over* when the reply has ended or when the tool was called without an agent; *reentrant* when this
    /// thread holds the state already.
    pub fn state(&self) -> Result<StateGuard<'_>> {
        let reply = self.scope().reply().ok_or_else(|| Error::new(ErrorKind::ReplyOver))?;
        reply.state().map(StateGuard)
    }

    /// What layers and tools share during this reply; never saved. `None` when there is no reply.
    pub fn scratch(&self) -> Option<&Scratch> {
        Some(self.scope().reply()?.scratch())
    }

    /// Whether the reply was interrupted. A tool that only awaits is dropped then; one that computes, or runs in a
    /// thread of its own, may look at it.
    pub fn is_interrupted(&self) -> bool {
        self.scope().call.as_ref().is_some_and(|call| call.scope.is_interrupted() && !call.is_detached())
    }
}
