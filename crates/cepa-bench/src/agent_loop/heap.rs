//! How much memory agents take, idle and at work.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use serde_json::{Value, json};

use super::waiting::{AGENTS, agents, answer_all, definition};
use crate::{Error, Figure, counter::Counts};

pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let counts = Counts::of("loop")?;
    Ok(vec![counts.figure("kib_per_agent", 6.0)?, counts.figure("idle_bytes", 1_024.0)?])
}

/// Measures with a function that tells how many bytes of the heap are in use: the most that are while all agents are
/// at work, and those of an agent without a context, both beyond what all of them share.
///
/// # Errors
/// An agent that cannot be built or whose reply fails.
pub fn measure_heap(in_use: impl Fn() -> usize + Clone + Send + Sync + 'static) -> Result<Value, Error> {
    let most = Arc::new(AtomicUsize::new(0));
    let definition = {
        let (most, in_use) = (most.clone(), in_use.clone());
        definition(Arc::new(move || {
            most.fetch_max(in_use(), Relaxed);
        }))?
    };
    let before = in_use();
    let agents = agents(&definition);
    let idle = in_use() - before;
    answer_all(black_box(agents))?;
    let most = most.load(Relaxed) - before;
    let per_agent = |bytes: usize| bytes as f64 / AGENTS as f64;
    Ok(json!({"kib_per_agent": per_agent(most) / 1024.0, "idle_bytes": per_agent(idle)}))
}
