//! How long it takes to know which memories there are, where there are very many.

use std::{fs, time::Instant};

use cepa_core::{Middleware as _, Toolkit, serde_json::Map};
use cepa_memory::AgenticMemoryMiddleware;

use crate::{
    Error, Figure, Goal, Report,
    samples::{By, Samples},
};

const FILES: usize = 10_000;
const ROUNDS: usize = 11;

/// Lists the memories of a folder again and again, as its tool does.
///
/// # Errors
/// A folder that cannot be filled, or a list that fails.
pub fn run() -> Result<Report, Error> {
    let folder = tempfile::tempdir()?;
    for number in 0..FILES {
        let topic = folder.path().join(format!("topic_{}", number % 10));
        fs::create_dir_all(&topic)?;
        let text = format!(
            "---\nname: Note {number}\ndescription: When {number} is asked for\ntype: project\n---\n\n{}\n",
            "It is known. ".repeat(40)
        );
        fs::write(topic.join(format!("note_{number}.md")), text)?;
    }
    let memory = AgenticMemoryMiddleware::new(folder.path())?;
    let toolkit = Toolkit::new(memory.tools())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut list = Samples::default();
    for round in 0..=ROUNDS {
        let began = Instant::now();
        let listed = runtime.block_on(toolkit.call("memory_list", Map::new()))?.output_text();
        // The first round warms up.
        if round > 0 {
            list.add(began.elapsed().as_secs_f64() * 1_000.0);
        }
        if !listed.contains(&format!("{} more", FILES - 100)) {
            return Err(format!("the list is not whole: {listed}").into());
        }
    }
    let figure = Figure {
        name: "list_ms",
        goal: Some(Goal::AtMost(100.0)),
        best: list.by(By::Minimum),
        median: Some(list.by(By::Median)),
    };
    Ok(Report { name: "memory", figures: vec![figure] })
}
