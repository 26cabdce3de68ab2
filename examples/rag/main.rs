//! An agent answers a question from the documents of a folder, and says where it found the answer.
//!
//! ```text
//! cargo run --example rag                                           # asks about this repository's docs/
//! cargo run --example rag -- ~/notes "When does the lease end?"
//! cargo run --example rag -- docs "…" --embedding minilm            # finds by meaning too
//! cargo run --example rag -- docs "…" --store qdrant --url http://127.0.0.1:6333 --embedding openai --model gpt-4o-mini
//! ```
//!
//! By default everything is in this process: documents are found by their words, in a store in a folder, and the answer
//! is put together from sentences. With `--embedding` they are found by meaning too, and with `--model` a language model
//! answers. What has not changed since the last run is not read again.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

#[path = "../quickstart/choose_model.rs"]
mod choose_model;
mod knowledge;
mod options;

use std::{process::ExitCode, sync::Arc};

use cepa::{
    models::OpenAiChat,
    prelude::*,
    rag::{RagMiddleware, RagMode},
};

use crate::options::Options;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Options::of_command_line() {
        Ok(options) => run(options).await,
        Err(usage) => Err(usage.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Outcome {
    let model: Arc<dyn ChatModel> = match &options.model {
        Some(name) => Arc::new(OpenAiChat::from_env(name.as_str())?),
        None => {
            let chosen = choose_model::choose().await?;
            println!("{}", chosen.introduction);
            chosen.model
        }
    };
    let base = knowledge::open(&options)?;
    knowledge::index(&base, &options.folder).await?;

    let mode = if options.is_static { RagMode::Static } else { RagMode::Agentic };
    let mut agent = Agent::builder("Librarian")
        .system_prompt(
            "Answer from the knowledge base, in a few sentences, and name the sources that you used.",
        )
        .model(model)
        .middleware(RagMiddleware::builder([base]).mode(mode).build()?)
        .build()?;
    println!("\n> {}", options.question);
    let mut found = String::new();
    let mut reply = agent.reply(options.question).stream();
    while let Some(event) = reply.next().await {
        match &event.kind {
            EventKind::ToolResultTextDelta { delta, .. } => found.push_str(delta),
            EventKind::HintBlock { hint, .. } => found.push_str(&hint.text()),
            EventKind::ToolResultStart { .. } => found.push('\n'),
            _ => {}
        }
    }
    println!("{}", reply.finish().await?.text().unwrap_or_default());
    println!("\nFound in:");
    found.lines().filter_map(source).for_each(|source| println!("  {source}"));
    Ok(())
}

/// The source of a passage, as the layer quotes it: `[1] (source: guide.md, lines 3-9)`.
fn source(line: &str) -> Option<&str> {
    // The first one may stand behind the tag of a hint.
    let line = line.strip_prefix("<content>").unwrap_or(line);
    let (number, source) = line.strip_prefix('[')?.split_once("] (source: ")?;
    number.parse::<u32>().ok()?;
    source.strip_suffix(')')
}
