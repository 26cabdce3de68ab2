//! Programs that are run: shown as one would type them.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use crate::Result;

/// This cargo, in the workspace's folder.
pub(crate) fn cargo(root: &Path, words: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(words).current_dir(root);
    command
}

/// The command as one would type it, without the program's folder.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a command with the terminal as its own and passes its success on.
pub(crate) fn run_visibly(mut command: Command) -> Result<ExitCode> {
    let status = command.status().map_err(|error| format!("`{}`: {error}", shown(&command)))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a command with its output written to a file; returns its success and what it wrote.
pub(crate) fn run_captured(command: &mut Command, log: &Path) -> Result<(bool, String)> {
    let file = File::create(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let status = command.status().map_err(|error| format!("`{}`: {error}", shown(command)))?;
    Ok((status.success(), String::from_utf8_lossy(&fs::read(log)?).into_owned()))
}

/// Whether a command can be run and succeeds; its output is dropped.
pub(crate) fn succeeds(mut command: Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The last line of what a command says when it fails.
pub(crate) fn complaint_of(mut command: Command) -> Option<String> {
    let output = match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => return None,
        Ok(output) => output,
        Err(error) => return Some(error.to_string()),
    };
    let texts = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    let last = texts.iter().find_map(|text| text.trim().lines().next_back().map(str::to_owned));
    Some(last.unwrap_or_else(|| output.status.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(script: &str) -> Option<String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        complaint_of(command)
    }

    #[test]
    fn a_complaint_is_the_last_line() {
        assert_eq!(complaint("echo words; exit 0"), None);
        assert_eq!(complaint("echo said; echo first >&2; echo last >&2; exit 1").as_deref(), Some("last"));
        assert_eq!(complaint("echo said; exit 1").as_deref(), Some("said"));
        assert!(complaint("exit 3").unwrap().contains('3'));
        assert!(complaint_of(Command::new("there is no such program")).is_some());
    }
}
