//! An agent with four layers around it answers a question about the files of a folder.
//!
//! ```text
//! cargo run --example quickstart                                   # asks about this repository's docs/
//! cargo run --example quickstart -- ~/notes "When does the lease end?"
//! ```
//!
//! With `OPENAI_API_KEY` (and `OPENAI_BASE_URL`, `CEPA_MODEL`), or with a running Ollama, a language model answers.
//! Without either the program runs on the extractive model: no key, no download, and no language model.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod choose_model;
mod files;
mod screen;

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use cepa::{budget::ReplyBudgetControlMiddleware, on_system_prompt, prelude::*, wrap_tool_call};

use crate::{
    files::{Folder, list_files, read_file, search_files},
    screen::Screen,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Says how long each reply took.
struct Timing;

#[middleware]
impl Middleware for Timing {
    async fn on_reply(&self, cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> Result<Msg> {
        let start = Instant::now();
        let message = next.run(input).await?; // the events go straight to the screen
        println!("\n[timing] {} answered in {:.1?}", cx.agent_name(), start.elapsed());
        Ok(message)
    }
}

/// What is read on the command line.
struct Arguments {
    folder: PathBuf,
    question: String,
}

impl Arguments {
    fn read() -> Self {
        let mut arguments = std::env::args().skip(1);
        let folder = arguments.next().map_or_else(default_folder, PathBuf::from);
        let question = arguments.collect::<Vec<_>>().join(" ");
        let question = if question.is_empty() { "How do items pass a layer?".to_owned() } else { question };
        Self { folder, question }
    }
}

/// The documentation of this repository.
fn default_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::read()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Outcome {
    let folder = Folder::open(&arguments.folder)?;
    let model = choose_model::choose().await?;
    println!("{}", model.introduction);

    let events = Arc::new(AtomicUsize::new(0));
    let counter = events.clone();
    let mut agent = Agent::builder("Librarian")
        .system_prompt("Answer from the files, in a few sentences, and name the files you used.")
        .model(model.model)
        .tool(search_files)
        .tool(read_file)
        .tool(list_files)
        .middleware(Timing)
        .middleware(ReplyBudgetControlMiddleware::builder(50_000).build()?)
        .middleware(on_system_prompt(|_cx, prompt| async move {
            Ok(format!("{prompt}\nIf the files do not hold the answer, say so."))
        }))
        .middleware(wrap_tool_call(|_cx, input, next| async move {
            let (name, start) = (input.tool_call.name.clone(), Instant::now());
            let response = next.run(input).await?;
            println!("[tools] {name} took {:.1?}", start.elapsed());
            Ok(response)
        }))
        .observer(move |_event| _ = counter.fetch_add(1, Relaxed))
        .build()?;

    println!("\nThe onion:\n{}\n", agent.onion());
    println!("Folder:   {}\nQuestion: {}\n", folder.root().display(), arguments.question);

    let interrupt = CancelToken::new();
    let on_ctrl_c = interrupt.clone();
    let watching = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            on_ctrl_c.cancel();
        }
    });

    let mut screen = Screen::default();
    let mut reply = agent.reply(arguments.question).with(folder).cancel_on(interrupt).stream();
    while let Some(event) = reply.next().await {
        screen.show(&event);
    }
    let message = reply.finish().await?;
    watching.abort();

    if let Some(usage) = &message.usage {
        println!("[usage] {} tokens in, {} out", usage.input_tokens, usage.output_tokens);
    }
    println!("[observer] {} events left the onion", events.load(Relaxed));
    Ok(())
}
