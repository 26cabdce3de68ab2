//! Two sessions: the second one knows what the first one was told.
//!
//! ```text
//! cargo run --example memory                                         # memory in Markdown files
//! cargo run --example memory -- --folder notes                       # … that stay
//! cargo run --example memory -- --backend mem0 --url http://127.0.0.1:8000
//! cargo run --example memory -- --backend reme --url http://127.0.0.1:8002
//! ```
//!
//! With `OPENAI_API_KEY`, or with a running Ollama, a language model answers. Without either it is a note taker, which is
//! none: it writes down what it is told, and answers with what its tools find.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod backend;
#[path = "../quickstart/choose_model.rs"]
mod choose_model;
mod note_taker;
mod options;

use std::{process::ExitCode, sync::Arc};

use cepa::{models::ExtractiveModel, prelude::*};

use crate::{backend::Backend, note_taker::NoteTaker, options::Options};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome {
    let options = Options::of_command_line()?;
    let chosen = choose_model::choose().await?;
    let is_language_model = chosen.model.name() != ExtractiveModel::new().name();
    let model = if is_language_model { chosen.model } else { Arc::new(NoteTaker::default()) };
    println!("{}", if is_language_model { &chosen.introduction } else { note_taker::INTRODUCTION });
    let backend = Backend::open(&options, is_language_model).await?;
    println!("Memory: {backend}");

    for (session, said) in [&options.told, &options.asked].into_iter().enumerate() {
        // Nothing but the memory goes from one session to the next.
        let mut agent = Agent::builder("Friday")
            .system_prompt("Answer in one sentence. Save what the user tells you of themselves.")
            .model(model.clone())
            .middleware(backend.layer())
            .build()?;
        println!("\nSession {}\n> {said}", session + 1);
        let mut reply = agent.reply(said.as_str()).stream();
        while let Some(event) = reply.next().await {
            if let EventKind::ToolCallStart { tool_call_name, .. } = &event.kind {
                println!("[{tool_call_name}]");
            }
        }
        println!("{}", reply.finish().await?.text().unwrap_or_default());
        backend.flush().await?;
        if session == 0 {
            backend.finds(&options.told).await?;
        }
    }
    Ok(())
}
