//! Memory in a ReMe service.

mod builder;
mod error;
mod found;
mod memory;
mod middleware;
mod service;
mod tool;

use std::{fmt, sync::Arc};

use cepa_core::BoxFuture;
use serde_json::{Map, Value};

pub use self::{
    builder::ReMeMiddlewareBuilder,
    error::ReMeError,
    middleware::ReMeMiddleware,
    service::{ReMeService, ReMeServiceBuilder},
};

/// The job that finds.
const SEARCH: &str = "search";
/// The job that remembers a turn.
const AUTO_MEMORY: &str = "auto_memory";

/// ReMe, wherever it runs. [`ReMeService`] is the one over HTTP; another transport or a fake may stand here as well.
pub trait ReMe: fmt::Debug + Send + Sync + 'static {
    /// Runs a job of this name with these arguments.
    ///
    /// # Errors
    /// It is not reached, there is no such job, or the job reports a failure.
    fn run<'a>(
        &'a self,
        job: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<JobAnswer, ReMeError>>;

    /// The names of the jobs that there are.
    ///
    /// # Errors
    /// It is not reached.
    fn jobs(&self) -> BoxFuture<'_, Result<Vec<String>, ReMeError>>;
}

impl<R: ReMe + ?Sized> ReMe for Arc<R> {
    fn run<'a>(
        &'a self,
        job: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<JobAnswer, ReMeError>> {
        (**self).run(job, arguments)
    }

    fn jobs(&self) -> BoxFuture<'_, Result<Vec<String>, ReMeError>> {
        (**self).jobs()
    }
}

/// What a job that went well returns.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JobAnswer {
    /// For people; mostly text.
    pub answer: Value,
    /// For programs: `search` has its `results` here.
    pub metadata: Map<String, Value>,
}

impl JobAnswer {
    /// An answer with these metadata.
    pub fn new(metadata: Map<String, Value>) -> Self {
        Self { answer: Value::Null, metadata }
    }
}
