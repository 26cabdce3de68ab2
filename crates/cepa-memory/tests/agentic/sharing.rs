//! Many processes share one folder.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use cepa_core::serde_json::json;

use crate::support::{Memories, Tools, note};

const PROCESSES: usize = 8;
const WRITES: usize = 200;
/// Every so often a process adds a line to the one file that all of them change.
const SHARED_EVERY: usize = 10;
/// How often it is looked at what they write.
const LOOKS: usize = 50;
/// Makes the test a writer.
const ROOT: &str = "CEPA_MEMORY_TEST_ROOT";
const NUMBER: &str = "CEPA_MEMORY_TEST_NUMBER";
/// At the end of each file: a torn one lacks it.
const END: &str = "END";

#[test]
fn eight_processes_with_two_hundred_writes_each_lose_nothing() {
    if let (Some(root), Ok(number)) = (env::var_os(ROOT), env::var(NUMBER)) {
        return write_all(&PathBuf::from(root), number.parse().unwrap());
    }
    let memories = Memories::new();
    memories.call("memory_write", note("shared.md", END)).unwrap();
    let writers: Vec<_> = (0..PROCESSES).map(|number| start(&memories.root(), number)).collect();
    for _ in 0..LOOKS {
        look(&memories);
    }
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let files = look(&memories);
    assert_eq!(files.len(), PROCESSES * WRITES + 1);
    let index = memories.text("MEMORY.md");
    assert_eq!(index.lines().count(), files.len());
    for file in &files {
        assert_eq!(index.matches(&format!("]({file})")).count(), 1, "{file}");
    }
    let shared = memories.text("shared.md");
    let lines: BTreeSet<_> = shared.lines().filter(|line| line.starts_with("process ")).collect();
    assert_eq!(lines.len(), PROCESSES * WRITES / SHARED_EVERY);
    // Nothing of the writing is left over.
    let all = fs::read_dir(memories.root()).unwrap().count();
    assert_eq!(all, files.len() + [".lock", "MEMORY.md"].len());
}

fn start(root: &Path, number: usize) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "sharing::eight_processes_with_two_hundred_writes_each_lose_nothing",
            "--nocapture",
        ])
        .env(ROOT, root)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn write_all(root: &Path, number: usize) {
    let tools = Tools::of(root);
    for write in 0..WRITES {
        let content = format!("{}\n{END}", "It is known. ".repeat(write));
        tools.call("memory_write", note(&format!("{number}_{write}.md"), &content)).unwrap();
        if write % SHARED_EVERY == 0 {
            let new_text = format!("process {number} write {write}\n{END}");
            tools
                .call("memory_edit", json!({"file": "shared.md", "old_text": END, "new_text": new_text}))
                .unwrap();
        }
    }
}

/// Each file that there is, is whole; and so is each line of the index.
fn look(memories: &Memories) -> BTreeSet<String> {
    let names =
        fs::read_dir(memories.root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<_> = names.filter(|name| name.ends_with(".md") && name != "MEMORY.md").collect();
    for file in &files {
        let text = memories.text(file);
        assert!(text.starts_with("---\nname: A note\n") && text.ends_with("END\n"), "{file}: {text}");
    }
    let index = memories.text("MEMORY.md");
    assert!(index.ends_with('\n'));
    for line in index.lines() {
        assert!(line.starts_with("- [A note](") && line.ends_with(".md) — When it is asked for"), "{line}");
    }
    files
}
