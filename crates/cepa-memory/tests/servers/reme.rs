//! The real ReMe service. `CEPA_REME` names the interpreter that has it; `cargo xtask python` sets one up.

use std::{
    env,
    fs::File,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tokio::net::{TcpListener, TcpStream};

/// How long the service may take to come up, and to find what is new.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A running service; it ends with this.
pub(crate) struct Service {
    process: Child,
    pub(crate) url: String,
    folder: tempfile::TempDir,
}

impl Service {
    /// With a language model at this URL. `None` where there is none to be tested, which is an error where tests count.
    pub(crate) async fn start(model: &str) -> Option<Self> {
        let Some(python) = env::var_os("CEPA_REME") else {
            assert!(env::var_os("CI").is_none(), "CEPA_REME must be set where tests count");
            println!("skipped: CEPA_REME is not set (cargo xtask python sets it up)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let log = File::create(log(folder.path())).unwrap();
        let process = Command::new(Path::new(&python).with_file_name("reme"))
            .args(["start", "service.host=127.0.0.1"])
            .arg(format!("service.port={}", address.port()))
            .arg(format!("workspace_dir={}", folder.path().join("workspace").display()))
            .envs([("LLM_API_KEY", "x"), ("LLM_BASE_URL", model), ("LLM_MODEL_NAME", "scripted")])
            .envs([("NO_PROXY", "127.0.0.1"), ("no_proxy", "127.0.0.1")])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0)
            .spawn()
            .expect("CEPA_REME is an interpreter with `reme` beside it");
        let mut service = Self { process, url: format!("http://{address}"), folder };
        let start = Instant::now();
        // It listens once its jobs are there.
        while TcpStream::connect(address).await.is_err() {
            let ended = service.process.try_wait().unwrap();
            assert!(ended.is_none() && start.elapsed() < PATIENCE, "{ended:?}\n{}", service.log());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Some(service)
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(log(self.folder.path())).unwrap_or_default()
    }
}

fn log(folder: &Path) -> PathBuf {
    folder.join("log")
}

impl Drop for Service {
    fn drop(&mut self) {
        // The whole group: with its children.
        Command::new("kill").args(["-KILL", "--", &format!("-{}", self.process.id())]).status().ok();
        self.process.wait().ok();
    }
}
