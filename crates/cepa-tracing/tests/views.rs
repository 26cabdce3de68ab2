//! What people see of replies: on the terminal and on the page.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::{
    io::{self, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use cepa_core::{
    Agent, AgentBuilder, CancelToken, ErrorType, EventKind, ModelError, Msg,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
    tool,
};
use cepa_tracing::{Capture, Terminal, TracingMiddleware, html, terminal};
use tracing::{Instrument as _, Level, Subscriber, info_span, instrument::WithSubscriber as _};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt as _, registry::LookupSpan};

/// A writer that can be looked at.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    fn terminal(&self) -> Terminal {
        terminal().writer(self.clone()).width(160)
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// The names of spans with their status, without times.
    fn rows(&self) -> Vec<String> {
        let is_bar = |c: char| ('\u{2580}'..='\u{259f}').contains(&c);
        let text = self.text();
        let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with("SPAN"));
        let rows = rows.map(|line| {
            let name = line.split(is_bar).next().unwrap().trim_end();
            // Behind the last column of numbers stand two spaces.
            let status = line.rsplit("  ").next().unwrap();
            let status = if status.ends_with('s') || status.contains('→') { "" } else { status };
            format!("{name}: {status}")
        });
        rows.collect()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn agent(name: &str, model: &ScriptedModel) -> AgentBuilder {
    Agent::builder(name).model(model.clone()).middleware(TracingMiddleware::new().capture(Capture::full()))
}

fn calls(tool: &str) -> Answer {
    Answer::new().tool_call(tool, json!({}))
}

/// Asks an agent of its own.
#[tool(permission = "allow")]
async fn delegate() -> String {
    let model = ScriptedModel::new(["Snow."]).named("inner");
    let mut robin = agent("Robin", &model).build().unwrap();
    let request = async { robin.reply("Is there snow?").await.unwrap().text().unwrap() };
    request.instrument(info_span!("mine")).await
}

/// Leaves a task behind in its span.
#[tool(permission = "allow")]
async fn begin() -> String {
    tokio::spawn(std::future::pending::<()>().instrument(info_span!("goes on")));
    "begun".to_owned()
}

#[tokio::test]
async fn a_reply_is_shown_once_though_something_in_it_goes_on() {
    let screen = Screen::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(screen.terminal()));
    let model = ScriptedModel::new([calls("begin"), "Done".into()]);
    agent("Friday", &model).tool(begin).build().unwrap().reply("Go").await.unwrap();
    let shown = [
        "invoke_agent Friday: ok",
        "  chat scripted: ok",
        "  execute_tool begin: ok",
        "    goes on: ",
        "  chat scripted: ok",
    ];
    assert_eq!(screen.rows(), shown);
}

#[tokio::test]
async fn a_reply_with_all_that_is_inside_is_shown_when_it_ends() {
    let screen = Screen::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(screen.terminal()));
    let model = ScriptedModel::new([
        calls("delegate").usage(100, 10),
        calls("broken").usage(200, 20),
        Answer::new().text("Done").usage(300, 3),
    ]);
    let broken = ScriptedTool::new("broken", [ToolAnswer::new().fails("no station near")]);
    let mut friday = agent("Friday", &model).tool(delegate).tool(broken).build().unwrap();

    let _elsewhere = info_span!("not of a reply").entered();
    friday.reply("Go").await.unwrap();

    assert_eq!(
        screen.rows(),
        [
            "invoke_agent Friday: ok",
            "  chat scripted: ok",
            "  execute_tool delegate: ok",
            "    mine: ",
            "      invoke_agent Robin: ok",
            "        chat inner: ok",
            "  chat scripted: ok",
            "  execute_tool broken: ERROR tool_error: no station near",
            "  chat scripted: ok",
        ]
    );
    assert!(screen.text().contains("600→33"), "{}", screen.text());
}

#[tokio::test]
async fn a_reply_that_waits_is_shown_as_such_also_when_its_stream_is_left() {
    let screen = Screen::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(screen.terminal()));
    for leave in [false, true] {
        let model = ScriptedModel::new([calls("pay")]);
        let mut friday = agent("Friday", &model).tool(ScriptedTool::echo("pay").asks()).build().unwrap();
        let mut events = friday.reply("Go").stream();
        while let Some(event) = events.next().await {
            if leave && matches!(event.kind, EventKind::RequireUserConfirm { .. }) {
                break;
            }
        }
    }
    let reply = ["invoke_agent Friday: waiting for pay", "  chat scripted: ok"];
    assert_eq!(screen.rows(), [reply, reply].concat());
}

#[tokio::test]
async fn a_reply_that_is_dropped_or_interrupted_is_shown() {
    let screen = Screen::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(screen.terminal()));
    for drop in [true, false] {
        let model = ScriptedModel::new([Answer::new().text("Hm").hangs()]);
        let mut friday = agent("Friday", &model).build().unwrap();
        let token = CancelToken::new();
        let mut events = friday.reply("Go").cancel_on(token.clone()).stream();
        while let Some(event) = events.next().await {
            if matches!(event.kind, EventKind::TextBlockDelta { .. }) {
                if drop {
                    break;
                }
                token.cancel();
            }
        }
    }
    let reply = ["invoke_agent Friday: cancelled", "  chat scripted: cancelled"];
    assert_eq!(screen.rows(), [reply, reply].concat());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replies_beside_each_other_do_not_mix() {
    let screen = Screen::default();
    let subscriber = Arc::new(tracing_subscriber::registry().with(screen.terminal()));
    let replies = (0..200).map(|number| {
        let run = async move {
            let name = format!("model-{number}");
            let model = ScriptedModel::new([calls("yields"), calls("yields"), "Done".into()]).named(name);
            let mut friday = agent(&number.to_string(), &model).tool(yields).build().unwrap();
            friday.reply("Go").await.unwrap();
        };
        tokio::spawn(run.with_subscriber(tracing::Dispatch::from(subscriber.clone())))
    });
    for reply in replies.collect::<Vec<_>>() {
        reply.await.unwrap();
    }
    let text = screen.text();
    let shown: Vec<&str> = text.split("SPAN ").skip(1).collect();
    assert_eq!(shown.len(), 200);
    for reply in shown {
        let number = reply.split_once("invoke_agent ").unwrap().1.split(' ').next().unwrap();
        assert_eq!(reply.matches("invoke_agent ").count(), 1, "{reply}");
        assert_eq!(reply.matches(&format!("chat model-{number} ")).count(), 3, "{reply}");
        assert_eq!(reply.matches("chat ").count(), 3, "{reply}");
        assert_eq!(reply.matches("inside").count(), 2, "{reply}");
    }
}

/// Lets others go first.
#[tool(permission = "allow")]
async fn yields() -> String {
    tokio::task::yield_now().instrument(info_span!("inside")).await;
    "yes".to_owned()
}

#[tokio::test]
async fn what_is_too_much_is_left_out_and_said() {
    let screen = Screen::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.html");
    let subscriber = tracing_subscriber::registry().with(screen.terminal()).with(html(&path));
    let _guard = tracing::subscriber::set_default(subscriber);
    let model = ScriptedModel::new([calls("busy"), "Done".into()]);
    agent("Friday", &model).tool(busy).build().unwrap().reply("Go").await.unwrap();

    // 1000 are kept, of 1502 with the reply, the tool and both model calls; what came later is not there.
    assert!(screen.text().ends_with("\n… 504 more spans were left out\n\n"), "{}", screen.text());
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains("504 more spans were left out"));
    assert!(page.contains("bytes left out]"));
    assert!(page.len() < 12 << 20, "{}", page.len());
}

/// Makes many spans with much in them.
#[tool(permission = "allow")]
async fn busy() -> String {
    for _ in 0..1500 {
        let _span = info_span!("step", text = "x".repeat(10_000)).entered();
        tracing::info!(text = "x".repeat(10_000), "an event");
    }
    "done".to_owned()
}

#[tokio::test]
async fn details_of_the_program_are_shown_on_demand() {
    for (level, spans) in [(Level::INFO, 2), (Level::DEBUG, 3)] {
        let screen = Screen::default();
        let subscriber = tracing_subscriber::registry().with(screen.terminal().max_level(level));
        let _guard = tracing::subscriber::set_default(subscriber);
        let model = ScriptedModel::answering(|_| {
            tracing::debug_span!("detail").in_scope(|| "Done");
            "Done"
        });
        agent("Friday", &model).build().unwrap().reply("Go").await.unwrap();
        assert_eq!(screen.rows().len(), spans, "{}", screen.text());
    }
}

#[tokio::test]
async fn the_page_holds_the_last_replies_the_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.html");
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(html(&path).keep(2)));
    for question in ["first question", "second question", "third question"] {
        let model = ScriptedModel::new(["Done"]);
        agent("Friday", &model).build().unwrap().reply(question).await.unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("The last 2 of 3 replies"));
    assert!(!page.contains("first question"));
    assert!(page.find("third question").unwrap() < page.find("second question").unwrap());
    // The agent's only layer, in its onion.
    assert!(page.contains(r#"<bdi class="layer">TracingMiddleware</bdi>"#));
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[tokio::test]
async fn what_an_error_quotes_is_not_on_the_page_by_way_of_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.html");
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(html(&path)));
    let refused = ModelError::new(ErrorType::InvalidRequest, "'my card is 4111 1111' is refused");
    let model = ScriptedModel::new([Answer::new().fails(refused)]);
    let capture = Capture::full().redact(|text| text.replace("4111 1111", "[card]"));
    let friday = Agent::builder("Friday").model(model).middleware(TracingMiddleware::new().capture(capture));
    friday.build().unwrap().reply("my card is 4111 1111").await.unwrap_err();
    let page = std::fs::read_to_string(&path).unwrap();
    for text in ["model call failed", "my card is [card]", "TracingMiddleware"] {
        assert!(page.contains(text), "{text} in {page}");
    }
    assert!(!page.contains("4111"), "{page}");
}

#[tokio::test]
async fn a_long_history_is_shown_as_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replies.html");
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(html(&path)));
    let model = ScriptedModel::new(["Done"]).with_context_size(1_000_000_000);
    let history: Vec<Msg> = (0..5000).map(|i| Msg::user("user", format!("question number {i}"))).collect();
    agent("Friday", &model).build().unwrap().reply(history).await.unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains(r#"<span class="question"><bdi>question number 4999</bdi>"#));
    assert!(page.contains(" earlier messages left out]"));
    // As messages, and not as their JSON.
    assert!(!page.contains("&quot;role&quot;"));
}

/// Counts warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<AtomicUsize>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _cx: Context<'_, S>) {
        if *event.metadata().level() == Level::WARN {
            self.0.fetch_add(1, SeqCst);
        }
    }
}

#[tokio::test]
async fn a_page_that_cannot_be_written_is_one_warning_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("later").join("replies.html");
    let warnings = Warnings::default();
    let subscriber = tracing_subscriber::registry().with(html(&path)).with(warnings.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let reply = async || {
        let model = ScriptedModel::new(["Done"]);
        agent("Friday", &model).build().unwrap().reply("Go").await.unwrap();
    };
    reply().await;
    reply().await;
    assert_eq!(warnings.0.load(SeqCst), 1);

    std::fs::create_dir(path.parent().unwrap()).unwrap();
    reply().await;
    assert!(std::fs::read_to_string(&path).unwrap().contains("3 replies"));

    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    reply().await;
    assert_eq!(warnings.0.load(SeqCst), 2);
}
