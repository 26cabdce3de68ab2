//! Hearing what is in a file.

use std::{env, path::Path, process::Command};

/// What is heard in a file.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) seconds: f64,
    /// The root mean square of the samples; 1 is the loudest there can be.
    pub(crate) loudness: f64,
}

/// Whether a program is there; in CI it must be.
pub(crate) fn is_installed(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    assert!(is_there || env::var_os("CI").is_none(), "{program} is not installed");
    if !is_there {
        println!("skipped: {program} is not installed");
    }
    is_there
}

/// Measures a file with *sox*.
pub(crate) fn listen(file: &Path) -> Heard {
    let stat = Command::new("sox").arg(file).args(["-n", "stat"]).output().unwrap();
    let report = String::from_utf8(stat.stderr).unwrap();
    let figure = |name: &str| -> f64 {
        let line = report.lines().find(|line| line.split_whitespace().collect::<String>().starts_with(name));
        line.and_then(|line| line.split(':').next_back()).unwrap().trim().parse().unwrap()
    };
    Heard { seconds: figure("Length(seconds)"), loudness: figure("RMSamplitude") }
}

/// The words that *pocketsphinx* hears, out of those that it is told of. `None` where it is not installed; in CI it
/// must be.
pub(crate) fn recognise(file: &Path, words: &[&str]) -> Option<Vec<String>> {
    let Some(python) = env::var_os("CEPA_POCKETSPHINX") else {
        assert!(env::var_os("CI").is_none(), "CEPA_POCKETSPHINX is not set: cargo xtask python sets it up");
        println!("skipped: CEPA_POCKETSPHINX is not set (cargo xtask python sets it up)");
        return None;
    };
    // What it was trained on.
    let plain = file.with_extension("16k.wav");
    let converted = Command::new("sox")
        .arg(file)
        .args(["-r", "16000", "-c", "1", "-b", "16"])
        .arg(&plain)
        .status()
        .unwrap();
    assert!(converted.success());
    let recogniser = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/speak/recognise.py");
    let run = Command::new(python).arg(recogniser).arg(&plain).args(words).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let heard = String::from_utf8(run.stdout).unwrap();
    Some(heard.split_whitespace().map(str::to_owned).collect())
}
