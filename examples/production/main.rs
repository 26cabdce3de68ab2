//! An agent with the recommended stack of layers, against a server that misbehaves on purpose.
//!
//! ```text
//! cargo run --example production
//! ```
//!
//! The server is part of the program and listens on loopback: it refuses, fails, hangs, breaks off, tells personal data
//! and has its models call tools for ever. Nothing else is needed, no key and no network. Each line in brackets is what a
//! layer says of itself (by `tracing`); the table at the end sums it up.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod server;
mod stack;
mod summary;
mod tools;
mod turns;
mod watch;

use std::process::ExitCode;

use tracing_subscriber::layer::SubscriberExt as _;

use crate::{server::Server, stack::Stack, watch::Watch};

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
    let watch = Watch::default();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(watch.clone()))?;
    let server = Server::start().await?;
    let folder = tools::Folder::new()?;
    let mut stack = Stack::build(&server, &folder)?;
    println!("The layers, outermost first:\n{}\n", stack.agent.onion());
    turns::play(&server, &mut stack).await?;
    summary::print(&server, &stack, &watch)
}
