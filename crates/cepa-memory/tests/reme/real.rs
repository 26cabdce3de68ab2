//! The real service. `CEPA_REME` names the interpreter that has it; `cargo xtask python` sets one up.

use std::{
    env,
    fs::File,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, Router, http::header, response::IntoResponse, routing::post};
use cepa_core::{
    serde_json::{Map, Value, json},
    testing::{Answer, Logged, ScriptedModel},
};
use cepa_memory::{ReMe, ReMeError, ReMeMiddleware, ReMeService};
use tokio::net::TcpListener;

use crate::support::{builder, flush, memories};

/// How long the service may take to come up, and to find what is new.
const PATIENCE: Duration = Duration::from_secs(90);

/// A running service; it ends with this.
struct Service {
    process: Child,
    client: ReMeService,
    folder: tempfile::TempDir,
}

impl Service {
    /// `None` where there is none to be tested, which is an error where tests count.
    async fn start(test: &str, model: &str) -> Option<Self> {
        let Some(python) = env::var_os("CEPA_REME") else {
            assert!(env::var_os("CI").is_none(), "CEPA_REME must be set where tests count");
            println!("{test} is skipped: CEPA_REME is not set (cargo xtask python sets it up)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let log = File::create(log(folder.path())).unwrap();
        let process = Command::new(Path::new(&python).with_file_name("reme"))
            .args(["start", "service.host=127.0.0.1"])
            .arg(format!("service.port={port}"))
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
        let client = ReMeService::builder(format!("http://127.0.0.1:{port}")).build().unwrap();
        let mut service = Self { process, client, folder };
        let start = Instant::now();
        while service.client.jobs().await.is_err() {
            let ended = service.process.try_wait().unwrap();
            assert!(ended.is_none() && start.elapsed() < PATIENCE, "{ended:?}\n{}", service.log());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Some(service)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(log(self.folder.path())).unwrap_or_default()
    }

    async fn run(&self, job: &str, arguments: Value) -> Result<Value, ReMeError> {
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        self.client.run(job, arguments).await.map(|answer| answer.metadata.into())
    }

    /// Waits until a search finds this: the service looks at its files now and then.
    async fn finds(&self, query: &str, text: &str) {
        let start = Instant::now();
        loop {
            self.run("reindex", json!({})).await.unwrap();
            let found = self.run("search", json!({"query": query})).await.unwrap();
            if found["results"].to_string().contains(text) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{query}: {found}\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
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

#[tokio::test]
async fn r46_the_real_service_searches_by_words_without_embeddings() {
    let test = "r46_the_real_service_searches_by_words_without_embeddings";
    let Some(service) = Service::start(test, "http://127.0.0.1:1/v1").await else { return };
    ReMeMiddleware::builder(service.client.clone()).connect().await.unwrap();
    let note =
        json!({"session_id": "s", "name": "tea", "description": "taste", "content": "Ada likes Darjeeling."});
    service.run("daily_write", note).await.unwrap();
    service.finds("Darjeeling", "Ada likes Darjeeling.").await;

    let error = service.run("no_such_job", json!({})).await.unwrap_err();
    assert!(matches!(error, ReMeError::NoSuchJob { .. }), "{error:?}");
    let error = service.run("auto_memory", json!({"messages": [], "session_id": ""})).await.unwrap_err();
    assert!(matches!(&error, ReMeError::Failed { words, .. } if words.contains("session_id")), "{error:?}");
}

#[tokio::test]
async fn a_second_session_knows_what_the_first_was_told() {
    let test = "a_second_session_knows_what_the_first_was_told";
    let Some(service) = Service::start(test, &language_model().await).await else { return };
    let warnings = Logged::warnings("cepa_memory");
    let layer = ReMeMiddleware::builder(service.client.clone()).wait_up_to(Duration::from_secs(5));
    let layer = Arc::new(layer.connect().await.unwrap());

    let model = ScriptedModel::new([Answer::new().text("I will remember that.")]);
    let mut first = builder(&model, &layer).build().unwrap();
    first.reply("My cat is called Zanzibar.").await.unwrap();
    flush(&layer).await;
    assert_eq!(warnings.take(), Vec::<String>::new(), "{}", service.log());
    service.finds("Zanzibar", "My cat is called Zanzibar.").await;

    let model = ScriptedModel::new([Answer::new().text("Zanzibar.")]);
    let mut second = builder(&model, &layer).build().unwrap();
    second.reply("What is my cat called?").await.unwrap();
    let told = memories(&model.requests()[0]).join("\n");
    let request = format!("{:?}", model.requests()[0].messages);
    assert!(request.contains("My cat is called Zanzibar."), "{told}\n{}", service.log());
    flush(&layer).await;
}

/// The model of ReMe's own agent: it writes the conversation down as it is.
async fn language_model() -> String {
    let app = Router::new().route("/v1/chat/completions", post(complete));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

async fn complete(Json(request): Json<Value>) -> impl IntoResponse {
    let messages = request["messages"].as_array().unwrap();
    let is_written = messages.iter().any(|message| message["role"] == "tool");
    let prompt = messages.iter().map(Value::to_string).collect::<String>();
    let between = |from: &str, to: &str| {
        let (_, rest) = prompt.split_once(from)?;
        rest.split_once(to).map(|(text, _)| text.replace("\\n", "\n").trim().to_owned())
    };
    let delta = match (is_written, between("Session ID: ", "\\n")) {
        (false, Some(session_id)) => {
            let note = json!({
                "session_id": session_id,
                "name": format!("conversation-{session_id}"),
                "description": "what was said",
                "date": between("Today: ", "\\n"),
                "content": between("# Recent Conversation", "# Your Task"),
            });
            let function = json!({"name": "daily_write", "arguments": note.to_string()});
            json!({"role": "assistant", "tool_calls":
                [{"index": 0, "id": "c1", "type": "function", "function": function}]})
        }
        _ => json!({"role": "assistant", "content": "Written."}),
    };
    let reason = if delta["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    let chunk = json!({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    ([(header::CONTENT_TYPE, "text/event-stream")], format!("data: {chunk}\n\ndata: [DONE]\n\n"))
}
