//! A browser without a window, driven by the DevTools protocol over a pipe.

use std::{
    collections::HashSet,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use cepa_core::serde_json::{self, Value, json};
use tempfile::TempDir;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    count: u64,
    session: Option<String>,
    /// What has happened so far, by its method's name.
    events: Vec<(String, Value)>,
    _profile: TempDir,
}

impl Browser {
    /// `None` where there is no Chromium.
    pub(crate) fn start() -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let runs =
            |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success());
        let program = names.into_iter().find(runs)?;
        let profile = tempfile::tempdir().unwrap();
        // Its pipe is at 3 and 4, where the standard library puts none.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#, program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (commands, said) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(said).split(0) {
                let Ok(message) = message else { return };
                if send.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            process,
            commands,
            messages,
            count: 0,
            session: None,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", target);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.count += 1;
        let id = self.count;
        let mut command = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        loop {
            let mut message = self.next();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    fn next(&mut self) -> Value {
        let message = self.messages.recv_timeout(LIMIT).expect("the browser says nothing any more");
        if let Some(method) = message["method"].as_str() {
            self.events.push((method.to_owned(), message["params"].clone()));
        }
        message
    }

    /// Opens a file, to its last script.
    pub(crate) fn open(&mut self, path: &Path, fragment: &str) {
        let url = format!("file://{}{fragment}", path.display());
        // From elsewhere: a page with another fragment is the same page.
        for url in ["about:blank", &url] {
            self.events.retain(|(method, _)| method != "Page.loadEventFired");
            self.call("Page.navigate", json!({"url": url}));
            while !self.events.iter().any(|(method, _)| method == "Page.loadEventFired") {
                self.next();
            }
        }
    }

    /// What an expression is.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// Presses the mouse in the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let params =
                json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "ArrowUp" => (38, ""),
            "ArrowDown" => (40, ""),
            _ => panic!("the key {key} is not known here"),
        };
        for kind in [if text.is_empty() { "rawKeyDown" } else { "keyDown" }, "keyUp"] {
            let params =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// How large the window is, and whether it is dark.
    pub(crate) fn resize(&mut self, width: u32, height: u32, dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 2, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!({"name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" }});
        self.call("Emulation.setEmulatedMedia", json!({"features": [scheme]}));
    }

    /// What the console shows: messages of scripts, their faults, and what the browser complains of.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let methods = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"];
        self.events
            .iter()
            .filter(|(method, _)| methods.contains(&&**method))
            .map(|(_, params)| params)
            .collect()
    }

    /// The addresses that were asked for.
    pub(crate) fn requests(&self) -> HashSet<&str> {
        let sent = self.events.iter().filter(|(method, _)| method == "Network.requestWillBeSent");
        sent.filter_map(|(_, params)| params["request"]["url"].as_str()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}
