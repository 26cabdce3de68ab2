//! Counts what the guards find in plain texts: `cargo run -p cepa-guard --example false_positives -- FILE…`
//!
//! Every finding is shown, so that a person can say whether it is one.
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::{collections::BTreeMap, env, fs, io, time::Instant};

use cepa_guard::{Action, PiiGuard, SecretScrub};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (guard, scrub) =
        (PiiGuard::builder().detect_all(Action::Redact).build()?, SecretScrub::builder().build()?);
    let (mut bytes, mut counts) = (0, BTreeMap::<String, usize>::new());
    let start = Instant::now();
    for path in env::args().skip(1) {
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => continue,
            text => text?,
        };
        bytes += text.len();
        for (name, range) in guard.find(&text).into_iter().chain(scrub.find(&text)) {
            *counts.entry(name.to_string()).or_default() += 1;
            println!("{path}: {name}: {}", text.get(range).unwrap_or_default().escape_debug());
        }
    }
    println!("{bytes} bytes in {:?}", start.elapsed());
    for (name, count) in counts {
        println!("{name}: {count}");
    }
    Ok(())
}
