//! What is said is heard: the example's file, and the words of a reply.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: they may fail, and say what is skipped"
)]

mod listening;

use std::{path::Path, process::Command};

use cepa::{
    models::EspeakTts,
    prelude::*,
    testing::ScriptedModel,
    tts::{Per, RecordSpeech, SpeechFilter, TtsMiddleware},
};

use crate::listening::{is_installed, listen, recognise};

#[test]
fn the_example_writes_an_audible_file() {
    if !is_installed("espeak-ng") || !is_installed("sox") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reply.wav");
    let run = Command::new(example("speak"))
        .args(["--out".as_ref(), out.as_os_str()])
        // Nothing but the model in process and the voice of the machine.
        .env_remove("OPENAI_API_KEY")
        .env("OLLAMA_HOST", "127.0.0.1:9")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).unwrap();
    let said = text.split("\n\n").nth(1).unwrap();
    let heard = listen(&out);
    // As long as the voice takes for it at once, give or take the pauses between sentences.
    let alone = folder.path().join("alone.wav");
    let said = SpeechFilter::markdown().apply(said);
    let run = Command::new("espeak-ng").args(["-v", "en-us", "-w"]).arg(&alone).arg(&said).status().unwrap();
    assert!(run.success());
    let expected = listen(&alone).seconds;
    assert!(
        (expected * 0.8..expected * 1.2).contains(&heard.seconds),
        "{heard:?}, not {expected} s of {said:?}"
    );
    assert!(heard.loudness > 0.01, "{heard:?}");
    assert!(text.contains(&format!("holds {:.1} s of speech", heard.seconds)), "{text}");
}

#[test]
fn without_the_voice_the_example_names_the_package() {
    let run = Command::new(example("speak")).env("PATH", "/nowhere").output().unwrap();
    assert!(!run.status.success());
    let error = String::from_utf8(run.stderr).unwrap();
    assert!(error.contains("espeak-ng"), "{error}");
}

#[tokio::test]
async fn the_words_come_back() {
    if !is_installed("espeak-ng") || !is_installed("sox") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reply.wav");
    // A recogniser that knows few words hears them in anything: marks must not be spoken.
    let text = "The elephant has an **umbrella**. The hospital has a telephone. The mountain has a kitchen.";
    // The recogniser knows these words and no others, some of which were not said.
    let known =
        ["elephant", "umbrella", "hospital", "telephone", "mountain", "kitchen", "chocolate", "photograph"];
    for per in [Per::Block, Per::Sentence] {
        let voice = EspeakTts::builder().words_per_minute(150).build().unwrap();
        let filter = SpeechFilter::markdown();
        let speech = TtsMiddleware::builder(voice).per(per).filter(filter).build().unwrap();
        let mut agent = Agent::builder("Narrator")
            .model(ScriptedModel::new([text]))
            .middleware(RecordSpeech::to(&out))
            .middleware(speech)
            .build()
            .unwrap();
        agent.reply("What happened?").await.unwrap();
        if let Some(heard) = recognise(&out, &known) {
            assert_eq!(heard, known[..6], "{per:?}");
        }
    }
}

/// The built program, which stands beside the tests'.
fn example(name: &str) -> std::path::PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let program = target.join("examples").join(name);
    assert!(program.is_file(), "build it first: cargo build --examples");
    program
}
