//! The example of retrieval, on a machine without anything.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let program = target.join("examples/rag").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.is_file(), "build it first: cargo build --examples --all-features");
    program
}

fn ask(folder: &Path, index: &Path, options: &[&str]) -> String {
    let run = Command::new(program())
        // Nothing but what is in process.
        .env_remove("OPENAI_API_KEY")
        .env("OLLAMA_HOST", "127.0.0.1:9")
        .arg(folder)
        .arg("Where is the key to the shed?")
        .arg("--index")
        .arg(index)
        .args(options)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

fn documents() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("house")).unwrap();
    let garden =
        "# Garden\n\nThe beans are in rows.\n\n## Shed\n\nThe key to the shed hangs behind the green door.\n";
    fs::write(folder.path().join("house/garden.md"), garden).unwrap();
    fs::write(folder.path().join("car.txt"), "The car is red.\nIts tyres are from 2021.\n").unwrap();
    fs::write(folder.path().join("broken.pdf"), "%PDF-1.7 and then nothing").unwrap();
    folder
}

#[test]
fn an_answer_names_its_source_and_the_second_run_reads_nothing() {
    let (folder, index) = (documents(), tempfile::tempdir().unwrap());
    let first = ask(folder.path(), index.path(), &[]);
    assert!(first.contains("2 added, 0 replaced, 0 unchanged"), "{first}");
    assert!(first.contains("broken.pdf"), "{first}");
    let (_, answer) = first.split_once("> Where is the key").unwrap();
    assert!(answer.contains("behind the green door"), "{first}");
    let (answer, sources) = answer.split_once("Found in:").unwrap();
    assert!(answer.contains("house/garden.md"), "{first}");
    assert!(sources.contains("house/garden.md"), "{first}");

    let second = ask(folder.path(), index.path(), &["--static"]);
    assert!(second.contains("0 added, 0 replaced, 2 unchanged"), "{second}");
    assert!(second.contains("behind the green door"), "{second}");
    assert!(second.split_once("Found in:").unwrap().1.contains("house/garden.md"), "{second}");
}

#[test]
fn by_meaning_too_where_the_model_is() {
    if std::env::var_os("CEPA_MINILM").is_none() {
        eprintln!("skipped: CEPA_MINILM is not set; `cargo xtask fetch` gets the files");
        return;
    }
    let (folder, index) = (documents(), tempfile::tempdir().unwrap());
    let answer = ask(folder.path(), index.path(), &["--embedding", "minilm"]);
    assert!(answer.contains("behind the green door"), "{answer}");
    let again = ask(folder.path(), index.path(), &["--embedding", "minilm"]);
    assert!(again.contains("2 unchanged"), "{again}");
}
