//! `conformance`: recorded behaviour, replayed.

use std::process::ExitCode;

use crate::{Arguments, Result, Workspace, command};

/// The crate that replays cases.
pub(crate) const RUNNER: &str = "cepa-conformance";

/// Runs the cases under the given paths; all options are the runner's own.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> Result<ExitCode> {
    let mut cargo = command::cargo(&workspace.root, &["run", "--quiet", "--package", RUNNER, "--"]);
    cargo.args(arguments.rest());
    // Paths are meant from where one stands.
    cargo.current_dir(std::env::current_dir()?);
    command::run_visibly(cargo)
}
