//! Counts allocations. A program of its own, because an allocator that counts would show in the times of the others.

use std::{
    alloc::System,
    io::{self, Write},
};

use cepa_bench::{Error, onion};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Result<(), Error> {
    let counts = onion::count_allocations(|work| {
        let region = Region::new(COUNTING);
        work();
        let change = region.change();
        change.allocations + change.reallocations
    })?;
    Ok(writeln!(io::stdout(), "{counts}")?)
}
