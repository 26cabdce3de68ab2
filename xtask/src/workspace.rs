//! What the workspace consists of, as cargo tells it.

use std::path::PathBuf;

use serde_json::Value;

use crate::{
    Result,
    command::{cargo, shown},
};

/// The workspace.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Where cargo builds, wherever the environment has put it.
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// A member of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its features but `default`, by name.
    pub(crate) features: Vec<String>,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn read() -> Result<Self> {
        let here = std::env::current_dir()?;
        let mut command = cargo(&here, &["metadata", "--no-deps", "--format-version", "1"]);
        let output = command.output().map_err(|error| format!("`{}`: {error}", shown(&command)))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().into());
        }
        Self::of_metadata(&serde_json::from_slice(&output.stdout)?)
    }

    fn of_metadata(metadata: &Value) -> Result<Self> {
        let text = |value: &Value, key: &str| match value[key].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("`cargo metadata` told no `{key}`")),
        };
        let mut packages = Vec::new();
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let features = package["features"].as_object().into_iter().flat_map(|features| features.keys());
            packages.push(Package {
                name: text(package, "name")?,
                features: features.filter(|feature| *feature != "default").cloned().collect(),
            });
        }
        Ok(Self {
            root: text(metadata, "workspace_root")?.into(),
            target: text(metadata, "target_directory")?.into(),
            packages,
        })
    }

    /// Whether there is a member of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn features_are_told_without_default() {
        let workspace = Workspace::of_metadata(&json!({
            "workspace_root": "/w",
            "target_directory": "/t",
            "packages": [
                {"name": "onion", "features": {"default": ["macros"], "macros": [], "testing": []}},
                {"name": "leek", "features": {}},
            ],
        }));
        let workspace = workspace.unwrap();
        assert!(workspace.has("leek"));
        assert!(!workspace.has("garlic"));
        assert_eq!(workspace.packages[0].features, ["macros", "testing"]);
        assert!(workspace.packages[1].features.is_empty());
    }

    #[test]
    fn what_cargo_leaves_out_is_named() {
        let error = Workspace::of_metadata(&json!({"workspace_root": "/w", "packages": []})).err().unwrap();
        assert_eq!(error.to_string(), "`cargo metadata` told no `target_directory`");
    }
}
