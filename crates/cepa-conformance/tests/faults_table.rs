//! The table of faults names tests that are there.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of every test in this folder, and the names of its files.
fn read(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).unwrap());
            text.push_str(&format!("\nfn {}()\n", path.file_stem().unwrap().to_str().unwrap()));
        }
    }
}

#[test]
fn every_row_names_its_tests() {
    let mut tests = String::new();
    let parts = [
        "cepa-core/tests",
        "cepa-budget/tests",
        "cepa-memory/tests",
        "cepa-rag/tests",
        "cepa-router/tests",
        "cepa-tracing/tests",
        "cepa-tts/tests",
        "cepa-conformance/tests/better",
    ];
    for part in parts {
        read(&workspace().join("crates").join(part), &mut tests);
    }
    let table = fs::read_to_string(workspace().join("docs/faults.md")).unwrap();
    let is_row = |line: &&str| line.starts_with("| R") || line.starts_with("| F");
    let rows: Vec<_> = table.lines().filter(is_row).collect();
    assert!(rows.len() > 40, "{}", rows.len());
    for row in rows {
        let cells: Vec<_> = row.split(" | ").collect();
        let names: Vec<_> = cells.last().unwrap().split('`').skip(1).step_by(2).collect();
        let id = cells[0].trim_start_matches("| ");
        assert!(!names.is_empty(), "{id} has no test");
        for name in names.iter().filter(|name| !name.contains('/')) {
            assert!(tests.contains(&format!("fn {name}()")), "{id}: no test {name}");
        }
    }
}
