//! The commands of the workspace: `cargo xtask help` lists them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for the terminal")]

mod arguments;
mod bench;
mod command;
mod conformance;
mod fetch;
mod publish;
mod python;
mod test_all;
mod workspace;

use std::process::ExitCode;

use self::{arguments::Arguments, workspace::Workspace};

/// What went wrong, told in words a person can act on.
type Error = Box<dyn std::error::Error>;
type Result<T = ()> = std::result::Result<T, Error>;

const USAGE: &str = "\
cargo xtask COMMAND

  test-all [--only STEP]... [--list]   everything that must hold before a change goes in
  conformance PATH... [--area AREA]... recorded behaviour, replayed; further options go on to the runner
  bench NAME [--peers DIR]             a benchmark in a release build, and the same work on other frameworks
  python                               virtual environments with AgentScope and a collector, for the tests
  fetch                                the files of the embedding model that runs in process
  publish [--execute]                  what `cargo publish` would do with the crates; uploads with --execute
  help                                 this text";

fn main() -> ExitCode {
    match run(Arguments::of_process()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: Arguments) -> Result<ExitCode> {
    let workspace = Workspace::read()?;
    match arguments.word().as_deref() {
        Some("test-all") => test_all::run(&workspace, arguments),
        Some("conformance") => conformance::run(&workspace, arguments),
        Some("bench") => bench::run(&workspace, arguments),
        Some("python") => python::run(arguments),
        Some("fetch") => fetch::run(arguments),
        Some("publish") => publish::run(&workspace, arguments),
        None | Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        Some(other) => Err(format!("there is no command `{other}`\n\n{USAGE}").into()),
    }
}
