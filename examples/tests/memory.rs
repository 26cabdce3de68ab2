//! The example of memory, on a machine without anything.

use std::{path::Path, process::Command};

#[test]
fn the_second_session_knows_what_the_first_was_told() {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let program = target.join("examples/memory").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.is_file(), "build it first: cargo build --examples --all-features");
    let run = Command::new(program)
        // Nothing but the model in process.
        .env_remove("OPENAI_API_KEY")
        .env("OLLAMA_HOST", "127.0.0.1:9")
        .args(["The key to the shed hangs behind the green door.", "Where is the key to the shed?"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).unwrap();
    let (first, second) = text.split_once("Session 2").unwrap();
    assert!(first.contains("[memory_write]"), "{text}");
    assert!(second.contains("behind the green door"), "{text}");
}
