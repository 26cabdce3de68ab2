//! The command: see `cepa_conformance::command`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cepa_conformance::command::run()
}
