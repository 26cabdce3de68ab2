//! The real mem0 engine behind the routes of its server. It runs in the interpreter that `CEPA_MEM0` names;
//! `cargo xtask python` sets one up.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// A running server; it ends with this.
pub(crate) struct Engine {
    python: Child,
    pub(crate) url: String,
    _folder: tempfile::TempDir,
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.python.kill().and_then(|()| self.python.wait()).ok();
    }
}

impl Engine {
    /// With models at this URL, for whoever has the key. `None` when no interpreter is named, which is an error where tests
    /// count.
    pub(crate) async fn start(models: &str, key: Option<&str>) -> Option<Self> {
        let Some(interpreter) = env::var_os("CEPA_MEM0") else {
            assert!(env::var_os("CI").is_none(), "CEPA_MEM0 must be set where tests count");
            println!("skipped: CEPA_MEM0 is not set (cargo xtask python sets it up)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut python = Command::new(interpreter)
            .args(["-c", include_str!("mem0_server.py")])
            .arg(folder.path())
            .arg(models)
            .args(key)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = python.stdout.take().unwrap();
        let mut engine = Self { python, url: String::new(), _folder: folder };
        let port = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).map(|_| line)
        });
        let port = port.await.unwrap().unwrap();
        assert!(!port.is_empty(), "the engine did not start");
        engine.url = format!("http://127.0.0.1:{}", port.trim());
        Some(engine)
    }
}
