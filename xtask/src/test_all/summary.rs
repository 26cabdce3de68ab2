//! How many tests there were: the lines that test runners end with.

/// The summary lines of a runner's output, but those of files without tests.
pub(super) fn lines(output: &str) -> impl Iterator<Item = String> + '_ {
    let summaries = output.lines().map(str::trim).filter(|line| {
        let libtest = line.starts_with("test result:") && !line.contains(" 0 passed; 0 failed; 0 ignored");
        let nextest = line.starts_with("Summary [");
        let conformance = line.contains(" passed, ") && line.ends_with(" failed");
        libtest || nextest || conformance
    });
    summaries.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_lines_that_count_tests() {
        let output = "\
   Compiling onion v0.1.0
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
     Summary [   0.123s] 42 tests run: 42 passed, 1 skipped
12 passed, 0 failed
";
        assert_eq!(
            lines(output).collect::<Vec<_>>(),
            [
                "test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
                "Summary [   0.123s] 42 tests run: 42 passed, 1 skipped",
                "12 passed, 0 failed",
            ]
        );
    }
}
