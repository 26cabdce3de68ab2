//! What is read on the command line.

use std::path::PathBuf;

const USAGE: &str = "usage: speak [--voice local|openai] [--out FILE] [QUESTION]";

/// One that the files answer in words.
const QUESTION: &str = "What does an interrupt do to speech?";

pub(crate) enum Voice {
    Local,
    OpenAi,
}

pub(crate) struct Options {
    pub(crate) voice: Voice,
    pub(crate) out: PathBuf,
    pub(crate) question: String,
}

impl Options {
    pub(crate) fn of_command_line() -> Result<Self, String> {
        let mut options = Self { voice: Voice::Local, out: "reply.wav".into(), question: String::new() };
        let mut words = Vec::new();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
            match argument.as_str() {
                "--out" => options.out = value()?.into(),
                "--voice" => {
                    options.voice = match value()?.as_str() {
                        "local" => Voice::Local,
                        "openai" => Voice::OpenAi,
                        other => return Err(format!("there is no voice `{other}`\n{USAGE}")),
                    };
                }
                _ if argument.starts_with("--") => return Err(USAGE.to_owned()),
                _ => words.push(argument),
            }
        }
        options.question = if words.is_empty() { QUESTION.to_owned() } else { words.join(" ") };
        Ok(options)
    }
}
