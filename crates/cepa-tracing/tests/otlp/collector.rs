//! A collector that answers as the test wants it to. The test of `examples/tracing` uses it too.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU16, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// A port below those that are given out, where nobody listens.
pub(crate) const NOBODY: &str = "http://127.0.0.1:1";

/// What stands for no answer at all.
const SILENCE: u16 = 0;

pub(crate) struct Collector {
    port: u16,
    status: AtomicU16,
    held: AtomicBool,
    requests: Mutex<Vec<Request>>,
}

/// What was sent.
struct Request {
    path: String,
    /// With the first line, in lower case.
    head: String,
    body: Vec<u8>,
}

impl Collector {
    /// One that answers everything with this status.
    pub(crate) fn answering(status: u16) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let collector = Arc::new(Self {
            port,
            status: status.into(),
            held: AtomicBool::default(),
            requests: Mutex::default(),
        });
        let serving = collector.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        collector
    }

    /// One that takes requests and never answers.
    pub(crate) fn hanging() -> Arc<Self> {
        Self::answering(SILENCE)
    }

    /// Answers with another status from now on.
    pub(crate) fn answer(&self, status: u16) {
        self.status.store(status, Relaxed);
    }

    /// Answers nothing until it is let go on.
    pub(crate) fn hold(&self, held: bool) {
        self.held.store(held, Relaxed);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The bodies that were sent to a path, one after the other. Protobuf writes texts as they are.
    pub(crate) fn received(&self, path: &str) -> String {
        let requests = self.requests.lock().unwrap();
        let bodies = requests.iter().filter(|request| request.path == path).flat_map(|request| &request.body);
        String::from_utf8_lossy(&bodies.copied().collect::<Vec<_>>()).into_owned()
    }

    /// The headers of the first request to a path, in lower case.
    pub(crate) fn headers(&self, path: &str) -> Option<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().find(|request| request.path == path).map(|request| request.head.clone())
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader) {
            self.requests.lock().unwrap().push(request);
            let status = self.status.load(Relaxed);
            if status == SILENCE {
                loop {
                    thread::park();
                }
            }
            while self.held.load(Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            let answer = format!("HTTP/1.1 {status} Answer\r\ncontent-length: 0\r\n\r\n");
            if reader.get_mut().write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// `None` at the end of the connection.
fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
        head.extend([line, "\n"]);
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, head: head.to_ascii_lowercase(), body })
}
