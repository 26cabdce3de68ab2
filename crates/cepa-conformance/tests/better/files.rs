//! That no file is without its test.

use crate::support::folder;

const TESTS: &[&str] = &[
    include_str!("basic.rs"),
    include_str!("budget.rs"),
    include_str!("compress.rs"),
    include_str!("errors.rs"),
    include_str!("hitl.rs"),
    include_str!("hook_errors.rs"),
    include_str!("hooks.rs"),
    include_str!("interrupt.rs"),
    include_str!("limits.rs"),
    include_str!("mem0.rs"),
    include_str!("model_router.rs"),
    include_str!("rag.rs"),
    include_str!("reme.rs"),
    include_str!("retry.rs"),
    include_str!("rewrite.rs"),
    include_str!("short.rs"),
    include_str!("structured.rs"),
    include_str!("tools.rs"),
    include_str!("tracing.rs"),
    include_str!("tts.rs"),
];

#[test]
fn every_file_has_a_test_of_its_name() {
    let files: Vec<_> = std::fs::read_dir(folder()).unwrap().collect();
    assert!(!files.is_empty());
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let test = format!("fn {name}()");
        assert!(TESTS.iter().any(|text| text.contains(&test)), "no test for {name}");
    }
}
