//! The tools: a file, a customer, a log that is too long, and a report that takes its time.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use cepa::prelude::*;

/// A folder that goes away with the program.
#[derive(Debug)]
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("notes"))?;
        std::fs::write(folder.path().join("notes/todo.txt"), "Water the onions.")?;
        std::fs::write(folder.path().join("notes/deploy.txt"), format!("token={SECRET}"))?;
        Ok(Self(folder))
    }

    /// What the agent may read.
    pub(crate) fn notes(&self) -> PathBuf {
        self.0.path().join("notes")
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.0.path().join("audit.jsonl")
    }
}

/// In one of the files. No such token was ever given out.
pub(crate) const SECRET: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
/// A customer's, and nobody's.
pub(crate) const EMAIL: &str = "ann.lee@example.com";
pub(crate) const CARD: &str = "4111 1111 1111 1111";

/// Where the files are. The caller gives it to the reply: `.with(notes)`.
#[derive(Clone, Debug)]
pub(crate) struct Notes(pub(crate) PathBuf);

/// Reads a file of the notes.
#[tool(read_only, permission = "allow")]
pub(crate) async fn read_file(cx: ToolCx, path: String) -> Result<String, ToolError> {
    let Some(Notes(folder)) = cx.context::<Notes>() else { return Err(ToolError::new("there is no folder")) };
    let path = folder.join(Path::new(&path));
    tokio::fs::read_to_string(&path).await.map_err(|error| ToolError::new(format!("cannot read it: {error}")))
}

/// Looks a customer up.
#[tool(read_only, permission = "allow")]
pub(crate) fn customer(name: String) -> String {
    format!("{name}: {EMAIL}, card {CARD}")
}

/// Shows the server's log.
#[tool(read_only, permission = "allow")]
pub(crate) fn server_log() -> String {
    (0..20_000).map(|line| format!("line {line}: all is well\n")).collect()
}

/// Writes the yearly report.
#[tool(read_only, permission = "allow")]
pub(crate) async fn report() -> String {
    tokio::time::sleep(Duration::from_millis(900)).await;
    "The report is written: 41 pages.".to_owned()
}

/// Counts what is in stock. The first time it fails.
#[tool(read_only, idempotent, permission = "allow")]
pub(crate) fn stock() -> Result<String, ToolError> {
    static ASKED: AtomicBool = AtomicBool::new(false);
    match ASKED.swap(true, Relaxed) {
        false => Err(ToolError::new("the warehouse does not answer")),
        true => Ok("12 sacks of onions".to_owned()),
    }
}
