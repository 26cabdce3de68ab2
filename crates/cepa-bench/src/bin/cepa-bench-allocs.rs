//! Counts allocations and the heap. A program of its own, because an allocator that counts would show in the times of the others.

use std::{
    alloc::System,
    io::{self, Write},
};

use cepa_bench::{Error, agent_loop, onion};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// `cepa-bench-allocs onion|loop`
fn main() -> Result<(), Error> {
    let figures = match std::env::args().nth(1).as_deref() {
        Some("loop") => agent_loop::measure_heap(|| {
            let stats = COUNTING.stats();
            stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
        })?,
        _ => onion::count_allocations(|work| {
            let region = Region::new(COUNTING);
            work();
            let change = region.change();
            change.allocations + change.reallocations
        })?,
    };
    Ok(writeln!(io::stdout(), "{figures}")?)
}
