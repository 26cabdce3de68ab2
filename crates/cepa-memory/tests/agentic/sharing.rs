//! Many processes share one folder.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use cepa_core::serde_json::json;

use crate::support::{Memories, Tools, note};

const PROCESSES: usize = 8;
const WRITES: usize = 200;
/// Every so often a process adds a line to the one file that all of them change.
const SHARED_EVERY: usize = 10;
/// How many writers are killed.
const KILLED: usize = 6;
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

#[test]
fn writers_that_are_killed_leave_nothing_out_of_the_index() {
    let memories = Memories::new();
    memories.call("memory_write", note("shared.md", END)).unwrap();
    for number in 0..KILLED {
        let mut writer = start(&memories.root(), number);
        // Long enough to begin, and to be in the middle of something.
        let first = memories.path(&format!("{number}_{number}.md"));
        while !first.exists() {
            let ended = writer.try_wait().unwrap();
            assert!(ended.is_none() || first.exists(), "a writer ended without a note: {ended:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
    // As if one was killed between the file and its line, whatever came of the others.
    memories.put("late.md", format!("---\nname: A note\ndescription: When it is asked for\n---\n{END}\n"));
    memories.call("memory_write", note("last.md", END)).unwrap();
    let index = memories.text("MEMORY.md");
    for file in look(&memories) {
        assert_eq!(index.matches(&format!("]({file})")).count(), 1, "{file}");
    }
}

#[test]
fn a_lock_that_is_never_released_holds_nobody_up_for_ever() {
    let memories = Memories::with(&[("a.md", END)]);
    let held = fs::File::create(memories.path(".lock")).unwrap();
    held.lock().unwrap();
    let began = Instant::now();
    let refused = memories.call("memory_write", note("b.md", END)).unwrap_err();
    assert!(refused.contains("another process has held the lock"), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(30) && !memories.path("b.md").exists());
    // Reading takes no lock.
    memories.call("memory_read", json!({"file": "a.md"})).unwrap();
}

#[test]
fn a_change_that_nobody_waits_for_any_more_is_not_made() {
    let memories = Memories::with(&[("a.md", END)]);
    let held = fs::File::create(memories.path(".lock")).unwrap();
    held.lock().unwrap();
    let tools = Tools::of(&memories.root());
    assert!(tools.call_for(Duration::from_millis(50), "memory_write", note("b.md", END)).is_none());
    held.unlock().unwrap();
    // Its thread ends with the runtime.
    let began = Instant::now();
    drop(tools);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(!memories.path("b.md").exists());
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
