//! Plain functions as tools.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

use tokio::runtime::Handle;

use crate::tool::ToolError;

/// Runs a plain function where it may block; in place if there is no runtime to do so. The current span stays it.
///
/// # Errors
/// When it panics, with what it said; when the runtime ends first.
pub async fn run_blocking<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    let span = tracing::Span::current();
    let run = move || span.in_scope(run);
    let Ok(runtime) = Handle::try_current() else {
        return catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panicked(&*panic));
    };
    runtime.spawn_blocking(run).await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => panicked(&*panic),
        Err(_) => ToolError::new("the tool did not run: the program is shutting down"),
    })
}

fn panicked(panic: &(dyn Any + Send)) -> ToolError {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ToolError::new(match said {
        Some(said) => format!("the tool panicked: {said}"),
        None => "the tool panicked".to_owned(),
    })
}
