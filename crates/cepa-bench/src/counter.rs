//! The program that counts what is allocated, which is built beside this one.

use std::process::Command;

use serde_json::Value;

use crate::{Error, Figure, Goal};

const COUNTER: &str = "cepa-bench-allocs";

/// What it counted.
pub(crate) struct Counts(Value);

impl Counts {
    /// Has it count for a benchmark.
    pub(crate) fn of(benchmark: &str) -> Result<Self, Error> {
        let counter = std::env::current_exe()?.with_file_name(COUNTER);
        let output = Command::new(&counter)
            .arg(benchmark)
            .output()
            .map_err(|error| format!("{} (build the whole crate): {error}", counter.display()))?;
        Ok(Self(serde_json::from_slice(&output.stdout)?))
    }

    /// A figure of this name.
    pub(crate) fn figure(&self, name: &'static str, goal: f64) -> Result<Figure, Error> {
        let best = self.0[name].as_f64().ok_or_else(|| format!("{COUNTER} told no `{name}`"))?;
        Ok(Figure { name, goal: Some(Goal::AtMost(goal)), best, median: None })
    }
}
