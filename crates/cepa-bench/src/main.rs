//! Runs a benchmark: `cepa-bench NAME [--out FOLDER]`.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use cepa_bench::{Error, Report, agent_loop, layers, memory, onion, retrieval, speech, traces, vectors};

const USAGE: &str = "usage: cepa-bench onion|loop|layers|tracing|tts|memory|rag|retrieval [--out FOLDER]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where even that cannot be written, the exit code has to do.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (name, folder) = match words[..] {
        [name] => (name, None),
        [name, "--out", folder] | ["--out", folder, name] => (name, Some(PathBuf::from(folder))),
        _ => return Err(USAGE.into()),
    };
    let report: Report = match name {
        "onion" => onion::run()?,
        "loop" => agent_loop::run()?,
        "layers" => layers::run()?,
        "tracing" => traces::run()?,
        "tts" => speech::run()?,
        "memory" => memory::run()?,
        "rag" => vectors::run()?,
        "retrieval" => retrieval::run()?,
        _ => return Err(format!("there is no benchmark `{name}`\n{USAGE}").into()),
    };
    write!(io::stdout(), "{report}")?;
    if let Some(folder) = folder {
        report.save(&folder)?;
    }
    Ok(())
}
