//! The command: runs the selected cases and says what became of them.

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use serde_json::Value;

use crate::{
    arguments::{Arguments, USAGE},
    case::Case,
    compare,
    exempt::{Exempt, Exemption},
    files,
    isolated::run_isolated,
    normalise,
    report::{Report, Verdict},
    self_check,
    tags::Tags,
};

/// Runs the command with the arguments of this process. Prints what became of the cases.
///
/// The exit code is 0 if none failed, 1 if any did, and 2 if nothing could be run.
pub fn run() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(mistake) => return complain(&format!("{mistake}\n{USAGE}")),
    };
    // A panic is told in the line of its case.
    std::panic::set_hook(Box::new(|_| {}));
    match run_all(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => complain(&error.to_string()),
    }
}

fn complain(text: &str) -> ExitCode {
    // Where even that cannot be written, the exit code has to do.
    let _ = writeln!(io::stderr(), "{text}");
    ExitCode::from(2)
}

/// Runs the selected cases; `true` if none failed.
fn run_all(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let (tags, exempt) = (Tags::of_cepa(), Exempt::read()?);
    let mut report = Report::new(io::stdout().lock(), arguments.verbose);
    for path in files::find(&arguments.paths)? {
        let mut case = match Case::load(&path) {
            Ok(case) => case,
            Err(error) => {
                report.add("a file", &Verdict::Failed(error.to_string()))?;
                continue;
            }
        };
        if !arguments.selects(&case.name, &case.area) {
            continue;
        }
        let (name, area) = (case.name.clone(), case.area.clone());
        let expected = case.expected.take().map(|expected| expected.calls);
        if expected.is_none() && !arguments.record {
            report.add(&name, &Verdict::NotCompared)?;
            continue;
        }
        let got = match (&expected, arguments.self_check) {
            (Some(calls), true) => Ok(calls.iter().map(self_check::as_of_cepa).collect()),
            _ => run_isolated(case).map(|calls| normalise::normalise(calls, &tags)),
        };
        if let (Ok(got), true) = (&got, arguments.record) {
            report.line(format_args!("{name}: {:#}", Value::Array(got.clone())))?;
        }
        let verdict = match (expected, got) {
            (_, Err(failure)) => Verdict::Failed(failure.to_string()),
            (None, Ok(_)) => Verdict::NotCompared,
            (Some(expected), Ok(got)) => judge(&area, &expected, &got, exempt.of(&name)),
        };
        report.add(&name, &verdict)?;
    }
    Ok(report.finish()?)
}

fn judge(area: &str, expected: &[Value], got: &[Value], exempt: Option<&Exemption>) -> Verdict {
    let outcome = compare::compare(area, expected, got);
    let (Err(_), Some(exempt)) = (&outcome, exempt) else {
        return match outcome {
            Ok(()) => Verdict::Passed,
            Err(difference) => Verdict::Differs(difference),
        };
    };
    match compare::compare(area, &exempt.apply(expected, got), got) {
        Ok(()) => Verdict::Exempt(exempt.why.clone()),
        Err(difference) => Verdict::Differs(difference),
    }
}
