//! The command line.

use std::path::PathBuf;

/// What is to be done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arguments {
    /// Folders or files with cases.
    pub(crate) paths: Vec<PathBuf>,
    /// Areas to run; all if there is none.
    pub(crate) areas: Vec<String>,
    /// Only cases with this in their names.
    pub(crate) case: Option<String>,
    /// Show both values of a difference in full.
    pub(crate) verbose: bool,
    /// Print what came out of each case.
    pub(crate) record: bool,
    /// Compare each recording with itself.
    pub(crate) self_check: bool,
}

/// How the command is called.
pub(crate) const USAGE: &str = "usage: conformance PATH… [--area AREA]… [--case PART-OF-A-NAME] [--verbose]
  --verbose     show both values of each first difference in full
  --record      print what came out of each case, as JSON, also of cases without an expectation
  --self-check  compare each recording with itself instead of running the cases";

impl Arguments {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--area" => parsed.areas.push(value()?),
                "--case" => parsed.case = Some(value()?),
                "--verbose" => parsed.verbose = true,
                "--record" => parsed.record = true,
                "--self-check" => parsed.self_check = true,
                flag if flag.starts_with("--") => return Err(format!("unknown option {flag}")),
                path => parsed.paths.push(path.into()),
            }
        }
        if parsed.paths.is_empty() { Err("name a folder with cases".to_owned()) } else { Ok(parsed) }
    }

    /// Whether a case is among those to run.
    pub(crate) fn selects(&self, name: &str, area: &str) -> bool {
        (self.areas.is_empty() || self.areas.iter().any(|selected| selected == area))
            && self.case.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn areas_and_names_select_cases() {
        let arguments = parse("cases --area basic --area tools --case plain").unwrap();
        assert!(arguments.selects("basic/plain_reply", "basic"));
        assert!(!arguments.selects("hitl/plain", "hitl"));
        assert!(!arguments.selects("tools/one", "tools"));
        assert!(parse("cases").unwrap().selects("hitl/one", "hitl"));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(parse("").unwrap_err(), "name a folder with cases");
        assert_eq!(parse("cases --areas x").unwrap_err(), "unknown option --areas");
        assert_eq!(parse("cases --area").unwrap_err(), "--area needs a value");
    }
}
