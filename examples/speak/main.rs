//! An agent answers a question about the files of `docs/`, and says it: the text is printed, the audio goes into a WAV
//! file.
//!
//! ```text
//! cargo run --example speak
//! cargo run --example speak -- --out answer.wav "What is a layer?"
//! cargo run --example speak -- --voice openai "What is a layer?"      # needs OPENAI_API_KEY
//! ```
//!
//! The voice is espeak-ng by default: no key, no network. Which model answers is chosen as in the example `quickstart`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

#[path = "../quickstart/choose_model.rs"]
mod choose_model;
#[path = "../quickstart/files.rs"]
mod files;
mod options;

use std::{io::Write as _, path::Path, process::ExitCode, sync::Arc};

use cepa::{
    models::{EspeakTts, OpenAiTts, TtsModel},
    prelude::*,
    tts::{Per, SpeechFilter, TtsMiddleware, WavRecorder},
};

use crate::{
    files::{Folder, list_files, read_file, search_files},
    options::{Options, Voice},
};

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
    let options = Options::of_command_line()?;
    let voice: Arc<dyn TtsModel> = match options.voice {
        Voice::Local => Arc::new(EspeakTts::new()?),
        Voice::OpenAi => Arc::new(OpenAiTts::from_env("gpt-4o-mini-tts")?),
    };
    let model = choose_model::choose().await?;
    let folder = Folder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs"))?;
    println!("{}\nFolder: {}\n", model.introduction, folder.root().display());

    // Sentence by sentence, so that the first is heard while the others are written; and nobody wants to hear a table.
    let speech = TtsMiddleware::builder(voice).per(Per::Sentence).filter(SpeechFilter::markdown()).build()?;
    let mut agent = Agent::builder("Narrator")
        .system_prompt("Answer from the files, in two or three sentences that are made to be heard.")
        .model(model.model)
        .tool(search_files)
        .tool(read_file)
        .tool(list_files)
        .middleware(speech)
        .build()?;

    let mut recorder = WavRecorder::new(&options.out);
    let mut reply = agent.reply(options.question).with(folder).stream();
    while let Some(event) = reply.next().await {
        recorder.feed(&event);
        if let EventKind::TextBlockDelta { delta, .. } = &event.kind {
            print!("{delta}");
            std::io::stdout().flush()?;
        }
    }
    reply.finish().await?;
    println!();
    match recorder.finish()? {
        Some(recording) => {
            println!(
                "\n{} holds {:.1} s of speech.",
                recording.path.display(),
                recording.length.as_secs_f64()
            );
            Ok(())
        }
        None => Err("nothing was said: a warning above says why".into()),
    }
}
