//! Servers as processes of their own.

use std::{
    env,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command},
    time::{Duration, Instant},
};

/// The interpreter that a variable names. `None`: the test is skipped.
pub(crate) fn interpreter(variable: &str) -> Option<PathBuf> {
    let interpreter = env::var_os(variable);
    if interpreter.is_none() {
        assert!(env::var_os("CI").is_none(), "{variable} must be set where tests count");
        println!("skipped: {variable} is not set (cargo xtask python sets it up)");
    }
    interpreter.map(PathBuf::from)
}

/// A server, which ends with the test.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        // PostgreSQL takes its own processes and memory with it when it is asked to end.
        let asked = Command::new("kill").args(["-INT", &self.process.id().to_string()]).status();
        let end = Instant::now() + Duration::from_secs(3);
        while asked.is_ok() && Instant::now() < end {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.process.kill().and_then(|()| self.process.wait()).ok();
    }
}

impl Server {
    /// The server that this command starts on a free port, once somebody listens there.
    pub(crate) fn start(command: impl Fn(u16) -> Command) -> Self {
        // Another may take the port in between.
        for _ in 0..3 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut server = Self { process: command(port).spawn().unwrap(), port };
            let end = Instant::now() + Duration::from_secs(120);
            while Instant::now() < end && matches!(server.process.try_wait(), Ok(None)) {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return server;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        panic!("the server does not start");
    }

    /// Ends it as a crash would.
    pub(crate) fn crash(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
