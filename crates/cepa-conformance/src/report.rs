//! What is printed.

use std::io::{self, Write};

use crate::compare::Difference;

/// What became of a case.
pub(crate) enum Verdict {
    Passed,
    /// It differs, and may.
    Exempt(String),
    Differs(Box<Difference>),
    /// It could not be run.
    Failed(String),
    /// It has no expectation.
    NotCompared,
}

/// Counts verdicts and prints those that matter.
pub(crate) struct Report<W> {
    out: W,
    verbose: bool,
    passed: usize,
    failed: usize,
    exempt: usize,
    not_compared: usize,
}

impl<W: Write> Report<W> {
    pub(crate) fn new(out: W, verbose: bool) -> Self {
        Self { out, verbose, passed: 0, failed: 0, exempt: 0, not_compared: 0 }
    }

    pub(crate) fn add(&mut self, name: &str, verdict: &Verdict) -> io::Result<()> {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::NotCompared => self.not_compared += 1,
            Verdict::Exempt(why) => {
                self.exempt += 1;
                writeln!(self.out, "exempt {name}: {why}")?;
            }
            Verdict::Failed(why) => {
                self.failed += 1;
                writeln!(self.out, "FAILED {name}: {}", one_line(why))?;
            }
            Verdict::Differs(difference) => {
                self.failed += 1;
                writeln!(self.out, "FAILED {name}: {}", one_line(&difference.to_string()))?;
                if self.verbose {
                    self.show_both(difference)?;
                }
            }
        }
        Ok(())
    }

    fn show_both(&mut self, difference: &Difference) -> io::Result<()> {
        for (side, value) in [("expected", &difference.expected), ("got", &difference.got)] {
            match value {
                Some(value) => writeln!(self.out, "  {side}: {value:#}")?,
                None => writeln!(self.out, "  {side}: nothing")?,
            }
        }
        Ok(())
    }

    /// Prints a line of its own.
    pub(crate) fn line(&mut self, line: impl std::fmt::Display) -> io::Result<()> {
        writeln!(self.out, "{line}")
    }

    /// Prints the counts, and says whether all is well.
    pub(crate) fn finish(mut self) -> io::Result<bool> {
        if self.not_compared > 0 {
            writeln!(self.out, "{} without an expectation, not compared", self.not_compared)?;
        }
        if self.exempt > 0 {
            writeln!(self.out, "{} exempt", self.exempt)?;
        }
        writeln!(self.out, "{} passed, {} failed", self.passed, self.failed)?;
        Ok(self.failed == 0)
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn last_line_has_the_counts_and_failures_are_one_line_each() {
        let mut out = Vec::new();
        let mut report = Report::new(&mut out, false);
        report.add("a/one", &Verdict::Passed).unwrap();
        report.add("a/two", &Verdict::Failed("not supported:\nlayer".to_owned())).unwrap();
        let difference = Difference {
            path: "calls[0].error".to_owned(),
            expected: Some(json!({"kind": "scripted"})),
            got: None,
        };
        report.add("a/three", &Verdict::Differs(Box::new(difference))).unwrap();
        report.add("a/four", &Verdict::Exempt("1 + 1".to_owned())).unwrap();
        report.add("a/five", &Verdict::NotCompared).unwrap();
        assert!(!report.finish().unwrap());
        let expected = "FAILED a/two: not supported: layer\n\
                        FAILED a/three: calls[0].error: expected {\"kind\":\"scripted\"}, got nothing\n\
                        exempt a/four: 1 + 1\n\
                        1 without an expectation, not compared\n\
                        1 exempt\n\
                        1 passed, 2 failed\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
