//! The command line, taken apart from the left.

use std::collections::VecDeque;

use crate::Result;

/// What is left of the command line.
pub(crate) struct Arguments(VecDeque<String>);

impl Arguments {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// The next word, if there is one.
    pub(crate) fn word(&mut self) -> Option<String> {
        self.0.pop_front()
    }

    /// Takes out the values of an option that may be given several times.
    pub(crate) fn values(&mut self, option: &str) -> Result<Vec<String>> {
        let mut values = Vec::new();
        while let Some(at) = self.0.iter().position(|word| word == option) {
            self.0.remove(at);
            values.push(self.0.remove(at).ok_or_else(|| format!("{option} needs a value"))?);
        }
        Ok(values)
    }

    /// Takes out the value of an option that may be given once.
    pub(crate) fn value(&mut self, option: &str) -> Result<Option<String>> {
        let mut values = self.values(option)?;
        match values.len() {
            0 | 1 => Ok(values.pop()),
            _ => Err(format!("{option} is given more than once").into()),
        }
    }

    /// Takes out a switch: whether it was there.
    pub(crate) fn switch(&mut self, option: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|word| word != option);
        self.0.len() != before
    }

    /// Everything that is left.
    pub(crate) fn rest(self) -> Vec<String> {
        self.0.into()
    }

    /// Makes sure that nothing is left.
    pub(crate) fn end(self) -> Result {
        match self.0.front() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` is not understood here").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn options_stand_anywhere() {
        let mut line = arguments("cases --area a --area b more --all");
        assert_eq!(line.values("--area").unwrap(), ["a", "b"]);
        assert!(line.switch("--all"));
        assert!(!line.switch("--all"));
        assert_eq!(line.rest(), ["cases", "more"]);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let error = arguments("--lst").end().unwrap_err();
        assert_eq!(error.to_string(), "`--lst` is not understood here");
        assert_eq!(arguments("--peers").value("--peers").unwrap_err().to_string(), "--peers needs a value");
        let twice = arguments("--peers a --peers b").value("--peers").unwrap_err();
        assert_eq!(twice.to_string(), "--peers is given more than once");
    }
}
