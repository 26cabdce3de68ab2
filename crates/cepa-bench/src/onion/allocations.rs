//! How often memory is asked for, per event.

use cepa_core::Middleware;
use serde_json::{Value, json};

use super::{
    Work,
    events::streaming,
    layers::{Run, Stream, Tap, TapShared},
};
use crate::{Error, Figure, counter::Counts};

/// What is left of a long reply when a short one is taken away is what its events cost.
const FEW: usize = 1_000;
const MANY: usize = 2_000;
const LAYERS: usize = 8;

pub(super) fn measure() -> Result<Vec<Figure>, Error> {
    let counts = Counts::of("onion")?;
    Ok(vec![counts.figure("allocs_per_event", 2.0)?, counts.figure("allocs_per_event_per_layer", 0.0)?])
}

/// Counts allocations with a function that counts those of what it is given: per event without layers, and for each
/// event and layer of the kind that needs most.
///
/// # Errors
/// An agent that cannot be built or whose reply fails.
pub fn count_allocations(count: impl Fn(&mut dyn FnMut()) -> usize) -> Result<Value, Error> {
    let bare = per_event(&count, 0, || Run)?;
    let layered = [
        per_event(&count, LAYERS, || Run)?,
        per_event(&count, LAYERS, || TapShared)?,
        per_event(&count, LAYERS, || Tap)?,
        per_event(&count, LAYERS, || Stream)?,
    ];
    let most = layered.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Ok(json!({
        "allocs_per_event": bare,
        "allocs_per_event_per_layer": (most - bare) / LAYERS as f64,
    }))
}

fn per_event<L: Middleware>(
    count: &impl Fn(&mut dyn FnMut()) -> usize,
    layers: usize,
    layer: fn() -> L,
) -> Result<f64, Error> {
    let counted = |deltas: usize| -> Result<(f64, f64), Error> {
        let work = Work::new(streaming(deltas, layers, layer)?)?;
        let mut events = work.events();
        events?;
        events = Ok(0);
        let allocations = count(&mut || events = work.events());
        Ok((allocations as f64, events? as f64))
    };
    let (few, many) = (counted(FEW)?, counted(MANY)?);
    Ok((many.0 - few.0) / (many.1 - few.1))
}
