//! The clock of this thread's CPU time.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of CPU time that `work` takes in this thread, and what it returns.
pub(crate) fn cpu_ns<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = now();
    let result = work();
    ((now() - start) as f64, result)
}

fn now() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
