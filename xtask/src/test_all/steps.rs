//! The steps, in their order: what fails fast comes first.

use super::{Plan, features, package};
use crate::{
    Workspace,
    command::{cargo, succeeds},
    conformance::RUNNER,
    fetch,
    python::{Environment, PACKAGES},
};

/// One step.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) plan: fn(&Workspace) -> Plan,
}

pub(super) const STEPS: &[Step] = &[
    Step { name: "fmt", about: "the code is formatted", plan: fmt },
    Step { name: "clippy", about: "no warning anywhere", plan: clippy },
    Step {
        name: "python",
        about: "AgentScope and a collector are there, for the tests that need them",
        plan: python,
    },
    Step {
        name: "fetch",
        about: "the embedding model's files are there, for the tests that need them",
        plan: fetched,
    },
    Step {
        name: "examples",
        about: "the programs under `examples/` build, for the tests that run them",
        plan: examples,
    },
    Step {
        name: "tests",
        about: "unit and integration tests, by cargo-nextest where it is installed",
        plan: tests,
    },
    Step { name: "doctests", about: "the examples in the documentation run", plan: doctests },
    Step {
        name: "features",
        about: "each crate compiles with no, each and every feature",
        plan: features::plan,
    },
    Step { name: "docs", about: "the documentation has no broken link", plan: docs },
    Step {
        name: "conformance",
        about: "the recorded behaviour that is kept in the repository",
        plan: conformance,
    },
    Step { name: "package", about: "the crates are fit for crates.io", plan: package::plan },
];

fn fmt(workspace: &Workspace) -> Plan {
    match missing(workspace, "fmt", "rustfmt") {
        Some(reason) => Plan::Skip(reason),
        None => Plan::run([cargo(&workspace.root, &["fmt", "--all", "--check"])]),
    }
}

fn clippy(workspace: &Workspace) -> Plan {
    if let Some(reason) = missing(workspace, "clippy", "clippy") {
        return Plan::Skip(reason);
    }
    let words = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "--deny", "warnings"];
    Plan::run([cargo(&workspace.root, &words)])
}

fn python(_: &Workspace) -> Plan {
    let mut commands = Vec::new();
    for (package, _) in PACKAGES {
        match Environment::of(package)
            .and_then(|environment| Ok((environment.missing()?, environment.import())))
        {
            Ok((None, _)) => {}
            Ok((Some(install), import)) => commands.extend([install, import]),
            Err(reason) => return Plan::Skip(format!("{}: {reason}", package.name)),
        }
    }
    let note = if commands.is_empty() { " (installed before)" } else { "" };
    Plan::Run { commands, note: note.to_owned() }
}

fn fetched(_: &Workspace) -> Plan {
    match fetch::missing() {
        Ok(commands) => {
            let note = if commands.is_empty() { " (fetched before)" } else { "" };
            Plan::Run { commands, note: note.to_owned() }
        }
        Err(reason) => Plan::Skip(reason.to_string()),
    }
}

fn tests(workspace: &Workspace) -> Plan {
    let everything = ["--workspace", "--all-features", "--no-fail-fast"];
    let (tool, note) = match missing(workspace, "nextest", "cargo-nextest") {
        Some(reason) => (["test", "--tests"].as_slice(), format!(" (cargo test, as {reason})")),
        None => (["nextest", "run", "--status-level=fail"].as_slice(), " (cargo nextest)".to_owned()),
    };
    let mut tests = cargo(&workspace.root, &[tool, &everything].concat());
    for (package, variable) in PACKAGES {
        if std::env::var_os(variable).is_none()
            && let Ok(environment) = Environment::of(package)
            && succeeds(environment.import())
        {
            tests.env(variable, environment.python());
        }
    }
    if std::env::var_os(fetch::MINILM).is_none()
        && let Ok(folder) = fetch::folder()
        && fetch::is_there(&folder)
    {
        tests.env(fetch::MINILM, folder);
    }
    Plan::Run { commands: vec![tests], note }
}

fn doctests(workspace: &Workspace) -> Plan {
    Plan::run([cargo(&workspace.root, &["test", "--doc", "--workspace", "--all-features"])])
}

fn examples(workspace: &Workspace) -> Plan {
    // With the features of the steps before, so that nothing is built twice.
    Plan::run([cargo(&workspace.root, &["build", "--workspace", "--examples", "--all-features"])])
}

fn docs(workspace: &Workspace) -> Plan {
    let mut doc = cargo(&workspace.root, &["doc", "--workspace", "--all-features", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    Plan::run([doc])
}

fn conformance(workspace: &Workspace) -> Plan {
    let cases = workspace.root.join("crates").join(RUNNER).join("cases");
    if !workspace.has(RUNNER) {
        return Plan::Skip(format!("there is no crate {RUNNER}"));
    }
    if !cases.is_dir() {
        return Plan::Skip(format!("crates/{RUNNER}/cases does not exist"));
    }
    let mut run = cargo(&workspace.root, &["run", "--quiet", "--package", RUNNER, "--"]);
    run.arg(cases);
    Plan::run([run])
}

/// Why a subcommand of cargo cannot be used, if it cannot.
pub(super) fn missing(workspace: &Workspace, subcommand: &str, tool: &str) -> Option<String> {
    let there = succeeds(cargo(&workspace.root, &[subcommand, "--version"]));
    (!there).then(|| format!("{tool} is not installed"))
}
