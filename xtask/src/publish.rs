//! `publish`: the crates as crates.io would get them, in the order in which they need each other.

use std::process::ExitCode;

use crate::{Arguments, Result, Workspace, command};

/// Packages and builds every crate that may be published; uploads them only with `--execute`.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<ExitCode> {
    let execute = arguments.switch("--execute");
    arguments.end()?;
    let mut cargo = command::cargo(&workspace.root, &["publish", "--workspace"]);
    if !execute {
        cargo.arg("--dry-run");
    }
    command::run_visibly(cargo)
}
