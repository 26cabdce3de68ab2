//! Whether the crates are fit for crates.io: each is packaged, and built from its package alone.
//!
//! Cargo takes what is in a registry for unchangeable, also in the one that it makes of the packages for this check: what it
//! has unpacked or built of them before would be used again, though the version is the same and the code is not. So
//! both are removed first.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::Plan;
use crate::{Workspace, command::cargo};

pub(super) fn plan(workspace: &Workspace) -> Plan {
    let target = workspace.target.join("package-check");
    let cleared = remove(&target).and_then(|()| cargo_home().map_or(Ok(()), |home| forget(&home, workspace)));
    if let Err(error) = cleared {
        return Plan::Skip(format!("what was packaged before cannot be removed: {error}"));
    }
    let mut publish = cargo(&workspace.root, &["publish", "--workspace", "--dry-run", "--allow-dirty"]);
    publish.env("CARGO_TARGET_DIR", target);
    Plan::run([publish])
}

fn cargo_home() -> Option<PathBuf> {
    let home = || Some(Path::new(&std::env::var_os("HOME")?).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Removes what was unpacked of these crates. Registries that are folders have no name before the hash.
fn forget(home: &Path, workspace: &Workspace) -> io::Result<()> {
    let Ok(registries) = fs::read_dir(home.join("registry/src")) else { return Ok(()) };
    for registry in registries {
        let registry = registry?;
        if !registry.file_name().to_string_lossy().starts_with('-') {
            continue;
        }
        for unpacked in fs::read_dir(registry.path())? {
            let unpacked = unpacked?;
            let name = unpacked.file_name().to_string_lossy().into_owned();
            let is_ours = |package: &str| {
                let version = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('-'));
                version.is_some_and(|version| version.starts_with(|char: char| char.is_ascii_digit()))
            };
            if workspace.packages.iter().any(|package| is_ours(&package.name)) {
                remove(&unpacked.path())?;
            }
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    #[test]
    fn only_what_was_unpacked_of_these_crates_is_removed() {
        let home = std::env::temp_dir().join(format!("cepa-xtask-{}", std::process::id()));
        let unpacked = |registry: &str, name: &str| home.join("registry/src").join(registry).join(name);
        let ours = unpacked("-0123456789abcdef", "onion-0.1.0");
        let others = [
            unpacked("-0123456789abcdef", "onion-core-0.1.0"),
            unpacked("index.crates.io-0123456789abcdef", "onion-0.1.0"),
        ];
        others.iter().chain([&ours]).for_each(|folder| fs::create_dir_all(folder).unwrap());
        let onion = Package { name: "onion".to_owned(), features: Vec::new() };
        let workspace = Workspace { root: home.clone(), target: home.clone(), packages: vec![onion] };
        forget(&home, &workspace).unwrap();
        assert!(!ours.exists());
        assert!(others.iter().all(|folder| folder.exists()));
        remove(&home).unwrap();
    }
}
