//! Each crate with no, each and every feature. A loop of our own rather than cargo-hack, which takes longer to install
//! than this takes to run.

use std::process::Command;

use super::{Plan, steps::missing};
use crate::{Workspace, command::cargo, workspace::Package};

pub(super) fn plan(workspace: &Workspace) -> Plan {
    // A crate without features has been checked by the steps before.
    let packages = workspace.packages.iter().filter(|package| !package.features.is_empty());
    let has_clippy = missing(workspace, "clippy", "clippy").is_none();
    let commands: Vec<Command> = packages
        .flat_map(|package| {
            selections(package).map(move |selection| check(workspace, has_clippy, package, &selection))
        })
        .collect();
    if commands.is_empty() {
        return Plan::Skip("no crate has features".to_owned());
    }
    let note = format!(" ({} combinations)", commands.len());
    Plan::Run { commands, note }
}

/// None, each one alone, all. With one feature the last two are the same.
fn selections(package: &Package) -> impl Iterator<Item = String> {
    let features = &package.features;
    let all = (features.len() > 1).then(|| features.join(","));
    std::iter::once(String::new()).chain(features.iter().cloned()).chain(all)
}

/// Clippy rather than `check`, where there is one: what only some feature uses must not lie about unused in the others,
/// and `-D warnings` by the environment would build all dependencies once more.
fn check(workspace: &Workspace, has_clippy: bool, package: &Package, selection: &str) -> Command {
    let subcommand = if has_clippy { "clippy" } else { "check" };
    let words = [subcommand, "--package", &package.name, "--no-default-features", "--features", selection];
    let mut check = cargo(&workspace.root, &words);
    if has_clippy {
        check.args(["--", "--deny", "warnings"]);
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(features: &[&str]) -> Vec<String> {
        let features = features.iter().map(|&feature| feature.to_owned()).collect();
        selections(&Package { name: "onion".to_owned(), features }).collect()
    }

    #[test]
    fn none_each_and_all() {
        assert_eq!(selected(&["a", "b"]), ["", "a", "b", "a,b"]);
        assert_eq!(selected(&["a"]), ["", "a"]);
    }
}
