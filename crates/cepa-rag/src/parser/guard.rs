//! Other people's code that may panic on files that are damaged.

use std::panic::{self, AssertUnwindSafe};

/// Runs this; a panic is an error with its message.
///
/// What the program does at a panic (printing it, as a rule) it does here too, and one that aborts on panics still does:
/// that is the program's to decide.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        let message = message.and_then(|message| message.lines().next()).unwrap_or("it is damaged");
        message.chars().take(200).collect()
    })
}
