//! What is read on the command line.

use std::path::PathBuf;

const USAGE: &str = "usage: memory [--backend agentic|mem0|reme] [--folder FOLDER] [--url URL] [TOLD ASKED]";

pub(crate) enum Kind {
    Agentic,
    Mem0,
    ReMe,
}

pub(crate) struct Options {
    pub(crate) kind: Kind,
    /// Where memory files lie; a folder that goes away at the end where nothing is said.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) url: Option<String>,
    /// What is said in the first session, and what is asked in the second.
    pub(crate) told: String,
    pub(crate) asked: String,
}

impl Options {
    pub(crate) fn of_command_line() -> Result<Self, String> {
        let mut options = Self {
            kind: Kind::Agentic,
            folder: None,
            url: None,
            told: "My sister Ada lives in Bergen and plays the cello.".to_owned(),
            asked: "Where does my sister Ada live?".to_owned(),
        };
        let mut words = Vec::new();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
            match argument.as_str() {
                "--backend" => {
                    options.kind = match value()?.as_str() {
                        "agentic" => Kind::Agentic,
                        "mem0" => Kind::Mem0,
                        "reme" => Kind::ReMe,
                        other => return Err(format!("there is no backend `{other}`\n{USAGE}")),
                    };
                }
                "--folder" => options.folder = Some(value()?.into()),
                "--url" => options.url = Some(value()?),
                _ if argument.starts_with("--") => return Err(USAGE.to_owned()),
                _ => words.push(argument),
            }
        }
        match words.len() {
            0 => Ok(options),
            2 => {
                options.asked = words.pop().unwrap_or_default();
                options.told = words.pop().unwrap_or_default();
                Ok(options)
            }
            _ => Err(USAGE.to_owned()),
        }
    }
}
