//! `bench`: a benchmark of `cepa-bench` in a release build, and the same work on other frameworks.

mod peers;
mod retrieval;

use std::{fs, path::Path, process::ExitCode};

use serde_json::{Map, Value};

use crate::{Arguments, Result, Workspace, command};

const RUNNER: &str = "cepa-bench";

/// Figures by name.
type Figures = Map<String, Value>;

/// Builds the benchmarks, runs one, and with `--peers` runs the scripts of that folder too.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<ExitCode> {
    let peers = arguments.value("--peers")?;
    let Some(name) = arguments.word() else {
        return Err("which benchmark? `cargo xtask bench NAME`, where NAME is a module of cepa-bench".into());
    };
    let words = ["build", "--quiet", "--release", "--package", RUNNER];
    if command::run_visibly(command::cargo(&workspace.root, &words))? != ExitCode::SUCCESS {
        return Ok(ExitCode::FAILURE);
    }
    let results = workspace.target.join("bench");
    fs::create_dir_all(&results)?;
    let mut bench = std::process::Command::new(workspace.target.join("release").join(RUNNER));
    bench.arg(&name).arg("--out").arg(&results).args(arguments.rest());
    if name == "retrieval" {
        retrieval::prepare(&mut bench)?;
    }
    let code = command::run_visibly(bench)?;
    if let Some(scripts) = peers {
        let path = results.join(&name).with_extension("json");
        let mut figures = read(&path)?;
        let ratios = peers::compare(&name, Path::new(&scripts), &results.join("peers"), &figures)?;
        figures.extend(ratios);
        fs::write(&path, serde_json::to_string_pretty(&figures)?)?;
    }
    Ok(code)
}

fn read(path: &Path) -> Result<Figures> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_slice(&text)?)
}
