//! One case in a thread of its own: a panic or an endless loop is that case's failure only.

use std::{
    any::Any,
    sync::mpsc::{RecvTimeoutError, channel},
    time::Duration,
};

use serde_json::Value;

use crate::{case::Case, error::RunError, run::run};

/// How long a case may take by the paused clock, which jumps to the next timer when nothing else can happen.
const TIME_LIMIT: Duration = Duration::from_secs(3600);
/// How long it may take really.
const REAL_TIME_LIMIT: Duration = Duration::from_secs(30);

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The case cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Something panicked, with these words.
    #[error("panicked: {0}")]
    Panicked(String),
    /// Everything waits for something that cannot come.
    #[error("hangs: nothing can happen any more, and the case is not over")]
    Hangs,
    /// An endless loop.
    #[error("does not end: still busy after {REAL_TIME_LIMIT:?}")]
    Endless,
    /// The case's thread cannot be started.
    #[error("cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// Runs a case and returns what was recorded, one value per call.
///
/// # Errors
/// Why there is no recording.
pub(crate) fn run_isolated(case: Case) -> Result<Vec<Value>, Failure> {
    let (sender, receiver) = channel();
    let body = move || {
        let result = on_a_paused_clock(case);
        // Whoever waited has given up if this fails.
        let _ = sender.send(result);
    };
    let thread = std::thread::Builder::new().name("case".to_owned()).spawn(body)?;
    match receiver.recv_timeout(REAL_TIME_LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(Failure::Endless),
        Err(RecvTimeoutError::Disconnected) => {
            let panic = thread.join().err();
            Err(Failure::Panicked(panic.map_or_else(String::new, |panic| text_of(&*panic).to_owned())))
        }
    }
}

fn on_a_paused_clock(case: Case) -> Result<Vec<Value>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    runtime.block_on(async {
        match tokio::time::timeout(TIME_LIMIT, run(case)).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Failure::Hangs),
        }
    })
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("with something that is no text")
}
