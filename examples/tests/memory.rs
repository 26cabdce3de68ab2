//! The example of memory, on a machine without anything, and with the real services.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may fail the test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

#[path = "../../crates/cepa-memory/tests/servers/mem0_models.rs"]
mod mem0_models;
#[path = "../../crates/cepa-memory/tests/servers/mem0.rs"]
mod mem0_server;
#[path = "../../crates/cepa-memory/tests/servers/reme_models.rs"]
mod reme_models;
#[path = "../../crates/cepa-memory/tests/servers/reme.rs"]
mod reme_server;

use std::{path::Path, process::Command};

/// What the example prints in its two sessions with this memory, in which the second must know what the first was told.
async fn sessions(backend: &'static str, url: Option<&str>) -> (String, String) {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let program = target.join("examples/memory").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.is_file(), "build it first: cargo build --examples --all-features");
    let mut run = Command::new(program);
    // Nothing but the model in process.
    run.env_remove("OPENAI_API_KEY").env("OLLAMA_HOST", "127.0.0.1:9");
    run.args(["--backend", backend]);
    if let Some(url) = url {
        run.args(["--url", url]);
    }
    run.args(["The key to the shed hangs behind the green door.", "Where is the key to the shed?"]);
    let run = tokio::task::spawn_blocking(move || run.output().unwrap()).await.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).unwrap();
    let (first, second) = text.split_once("Session 2").unwrap();
    assert!(second.contains("behind the green door"), "{text}");
    (first.to_owned(), second.to_owned())
}

#[tokio::test]
async fn the_second_session_knows_what_the_first_was_told() {
    let (first, _) = sessions("agentic", None).await;
    assert!(first.contains("[memory_write]"), "{first}");
}

#[tokio::test]
async fn the_second_session_knows_it_by_mem0() {
    let models = mem0_models::serve(&[]).await;
    let Some(engine) = mem0_server::Engine::start(&models, None).await else { return };
    sessions("mem0", Some(&engine.url)).await;
}

#[tokio::test]
async fn the_second_session_knows_it_by_reme() {
    let models = reme_models::serve().await;
    let Some(service) = reme_server::Service::start(&models).await else { return };
    sessions("reme", Some(&service.url)).await;
}
