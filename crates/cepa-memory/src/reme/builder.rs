//! Setting the layer up.

use std::{sync::Arc, time::Duration};

use super::{AUTO_MEMORY, ReMe, ReMeError, ReMeMiddleware, SEARCH, memory::Memory};
use crate::troubles::Troubles;
use crate::{Mode, writes::Writes};

/// Sets a [`ReMeMiddleware`] up.
#[must_use = "nothing is built until `connect()` or `build()`"]
#[derive(Clone, Debug)]
pub struct ReMeMiddlewareBuilder {
    client: Arc<dyn ReMe>,
    mode: Mode,
    top_k: usize,
    wait_up_to: Duration,
    search_deadline: Duration,
    write_deadline: Duration,
}

impl ReMeMiddlewareBuilder {
    pub(super) fn new(client: Arc<dyn ReMe>) -> Self {
        Self {
            client,
            mode: Mode::default(),
            top_k: 5,
            wait_up_to: Duration::ZERO,
            search_deadline: Duration::from_secs(5),
            write_deadline: Duration::from_secs(120),
        }
    }

    /// Who searches. Both, the layer and the model, by default. Turns are remembered in every mode.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// How many memories a search returns at most. 5 by default.
    pub fn top_k(mut self, top_k: usize) -> Self {
        self.top_k = top_k;
        self
    }

    /// How long the first rounds of a reply wait for the search, counted from the reply's beginning. 0 by default: the
    /// search runs beside the reply, and one that takes a single round mostly ends without it.
    pub fn wait_up_to(mut self, limit: Duration) -> Self {
        self.wait_up_to = limit;
        self
    }

    /// The longest that a search may take. 5 seconds by default.
    pub fn search_deadline(mut self, deadline: Duration) -> Self {
        self.search_deadline = deadline;
        self
    }

    /// The longest that remembering a turn may take, in the background. 2 minutes by default: ReMe asks its model.
    pub fn write_deadline(mut self, deadline: Duration) -> Self {
        self.write_deadline = deadline;
        self
    }

    /// Asks ReMe whether the jobs are there that the layer needs, and builds it: what would never work is known at
    /// the start.
    ///
    /// # Errors
    /// As [`build`](Self::build); ReMe is not reached, or lacks a job ([`ReMeError::NoSuchJob`]).
    pub async fn connect(self) -> Result<ReMeMiddleware, ReMeError> {
        let layer = self.build()?;
        layer.memory.check(&[SEARCH, AUTO_MEMORY]).await?;
        Ok(layer)
    }

    /// Builds the layer without asking ReMe, which may come up later.
    ///
    /// # Errors
    /// A `top_k` or a deadline of 0.
    pub fn build(self) -> Result<ReMeMiddleware, ReMeError> {
        let zero = [
            ("top_k", self.top_k == 0),
            ("search_deadline", self.search_deadline.is_zero()),
            ("write_deadline", self.write_deadline.is_zero()),
        ];
        if let Some((field, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(ReMeError::Settings(format!("`{field}` is 0: nothing could be found or written")));
        }
        let memory = Memory {
            client: self.client,
            top_k: self.top_k,
            search_deadline: self.search_deadline,
            write_deadline: self.write_deadline,
            troubles: Troubles::new("ReMe"),
        };
        Ok(ReMeMiddleware {
            mode: self.mode,
            wait_up_to: self.wait_up_to,
            memory: Arc::new(memory),
            writes: Writes::new("ReMe"),
        })
    }
}
