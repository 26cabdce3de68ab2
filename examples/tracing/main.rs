//! An agent that books a ferry, and what is seen of it: tools side by side, one of which fails, a pause until a person
//! has agreed, and a model that is overloaded.
//!
//! ```text
//! cargo run --example tracing --features tracing -- --otlp    # to the collector at http://localhost:4318
//! ```
//!
//! The `OTEL_*` variables say where the collector is and how this program is called there. The model follows a script:
//! no key, no download, and no language model.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod ferry;
mod harbour;
mod trip;
mod views;

use std::process::ExitCode;

use crate::views::Views;

type Outcome = Result<(), Box<dyn std::error::Error>>;

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
    let showing = Views::of_command_line()?.show()?;
    trip::book().await?;
    showing.end()
}
