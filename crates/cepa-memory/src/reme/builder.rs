//! Setting the layer up.

use std::{sync::Arc, time::Duration};

use super::{AUTO_MEMORY, ReMe, ReMeError, ReMeMiddleware, SEARCH, memory::Memory};
use crate::{
    Mode,
    limits::Limits,
    troubles::Troubles,
    writes::{Bounds, Writes},
};

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
    limits: Limits,
    bounds: Bounds,
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
            limits: Limits::default(),
            bounds: Bounds::default(),
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

    /// The most tokens of a question that are searched for: of a longer one its beginning and its end. 2 000 by default.
    pub fn query_max_tokens(mut self, tokens: usize) -> Self {
        self.limits.query = tokens;
        self
    }

    /// The most tokens of one memory that are shown to the model. 2 000 by default.
    pub fn max_tokens_per_memory(mut self, tokens: usize) -> Self {
        self.limits.memory = tokens;
        self
    }

    /// The most tokens of all that one search has found. 8 000 by default.
    pub fn max_tokens_found(mut self, tokens: usize) -> Self {
        self.limits.found = tokens;
        self
    }

    /// How many turns are written at once, each of another session: those of one are written in their order. 16 by
    /// default.
    pub fn writes_at_once(mut self, writes: usize) -> Self {
        self.bounds.at_once = writes;
        self
    }

    /// How many writes may be unfinished. Further ones are dropped, and the log says of which sessions. 1 024 by default.
    pub fn max_unfinished_writes(mut self, writes: usize) -> Self {
        self.bounds.unfinished = writes;
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
    /// A `top_k`, a deadline or a limit of 0.
    pub fn build(self) -> Result<ReMeMiddleware, ReMeError> {
        let zero = [
            ("top_k", self.top_k == 0),
            ("search_deadline", self.search_deadline.is_zero()),
            ("write_deadline", self.write_deadline.is_zero()),
        ];
        let zero = zero.into_iter().find_map(|(field, is_zero)| is_zero.then_some(field));
        if let Some(field) = zero.or(self.limits.zero()).or(self.bounds.zero()) {
            return Err(ReMeError::Settings(format!("`{field}` is 0: nothing could be found or written")));
        }
        let memory = Memory {
            client: self.client,
            top_k: self.top_k,
            search_deadline: self.search_deadline,
            write_deadline: self.write_deadline,
            limits: self.limits,
            troubles: Troubles::new("ReMe"),
        };
        Ok(ReMeMiddleware {
            mode: self.mode,
            wait_up_to: self.wait_up_to,
            memory: Arc::new(memory),
            writes: Writes::new("ReMe", self.bounds),
        })
    }
}
