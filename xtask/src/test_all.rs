//! `test-all`: everything that must hold before a change goes in, one line per step.
//!
//! A step is a list of commands. Their output is kept in a file and shown only for the first one that fails, which
//! ends the run.

mod features;
mod package;
mod steps;
mod summary;

use std::{
    fs,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use self::steps::{STEPS, Step};
use crate::{
    Arguments, Result, Workspace,
    command::{run_captured, shown},
};

/// What there is to do for a step.
enum Plan {
    /// Run these, in order. The note says what was chosen.
    Run { commands: Vec<Command>, note: String },
    /// Nothing, for this reason.
    Skip(String),
}

impl Plan {
    fn run(commands: impl IntoIterator<Item = Command>) -> Self {
        Self::Run { commands: commands.into_iter().collect(), note: String::new() }
    }
}

/// Runs the steps; the exit code tells whether all of them passed.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<ExitCode> {
    let (only, list) = (arguments.values("--only")?, arguments.switch("--list"));
    arguments.end()?;
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(format!("there is no step `{unknown}`: `--list` shows them").into());
    }
    let chosen = STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name));
    if list {
        chosen.for_each(|step| println!("{:<12} {}", step.name, step.about));
        return Ok(ExitCode::SUCCESS);
    }
    let start = Instant::now();
    let mut skipped = 0;
    for step in chosen {
        match run_step(step, workspace)? {
            Outcome::Passed => {}
            Outcome::Skipped => skipped += 1,
            Outcome::Failed => {
                println!("failed after {}", seconds(start.elapsed()));
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    let skips = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    println!("passed in {}{skips}", seconds(start.elapsed()));
    Ok(ExitCode::SUCCESS)
}

enum Outcome {
    Passed,
    Skipped,
    Failed,
}

fn run_step(step: &Step, workspace: &Workspace) -> Result<Outcome> {
    let (mut commands, note) = match (step.plan)(workspace) {
        Plan::Run { commands, note } => (commands, note),
        Plan::Skip(reason) => {
            println!("skip {:>7}  {}: {reason}", "", step.name);
            return Ok(Outcome::Skipped);
        }
    };
    let logs = workspace.target.join("test-all");
    fs::create_dir_all(&logs)?;
    let log = logs.join(step.name).with_extension("log");
    let start = Instant::now();
    let mut summary = Vec::new();
    for command in &mut commands {
        lighten(command);
        let (success, output) = run_captured(command, &log)?;
        if !success {
            println!("FAIL {:>7}  {}: {}\n{output}", seconds(start.elapsed()), step.name, shown(command));
            return Ok(Outcome::Failed);
        }
        summary.extend(summary::lines(&output));
    }
    println!("ok   {:>7}  {}{note}", seconds(start.elapsed()), step.name);
    summary.iter().for_each(|line| println!("               {line}"));
    Ok(Outcome::Passed)
}

/// Leaves out of a build what a run of all the tests has no use for: it halves the time from an empty target folder.
fn lighten(command: &mut Command) {
    for (name, value) in
        [("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0"), ("CARGO_TERM_COLOR", "never")]
    {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1}s", time.as_secs_f64())
}
