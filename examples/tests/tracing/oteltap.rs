//! A real receiver of OTLP/HTTP, in a process of its own.

use std::{
    env,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::Value;

/// How long is waited for a line that does not come, which is a failure.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Oteltap {
    process: Child,
    port: u16,
    lines: Receiver<String>,
}

impl Oteltap {
    /// `None` where it is not installed; in CI it must be.
    pub(crate) fn start() -> Option<Self> {
        let Some(python) = env::var_os("CEPA_OTELTAP") else {
            assert!(env::var_os("CI").is_none(), "CEPA_OTELTAP is not set: cargo xtask python sets it up");
            println!("skipped: CEPA_OTELTAP is not set (cargo xtask python sets it up)");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut process = Command::new(python)
            .args(["-u", "-m", "oteltap", "--port", &port.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("CEPA_OTELTAP is an interpreter");
        let output = BufReader::new(process.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let oteltap = Self { process, port, lines };
        let greeting = oteltap.lines.recv_timeout(PATIENCE).expect("oteltap starts");
        assert!(greeting.starts_with("Listening"), "{greeting}");
        Some(oteltap)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The spans, as many as there should be and those beyond, and the metrics. It prints them after it has answered.
    pub(crate) fn received(mut self, expected: usize) -> (Vec<Value>, Vec<Value>) {
        let (mut spans, mut metrics) = (Vec::new(), Vec::new());
        let mut sort = |line: String| {
            let value: Value = serde_json::from_str(&line).expect("a line of JSON");
            let kind = if value["spanId"].is_string() { &mut spans } else { &mut metrics };
            kind.push(value);
            spans.len()
        };
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if sort(line) >= expected {
                break;
            }
        }
        self.process.kill().unwrap();
        self.lines.iter().for_each(|line| _ = sort(line));
        (spans, metrics)
    }
}

impl Drop for Oteltap {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
