//! Spellings of a path that mean different things to different programs.

use super::PathError;

/// The longest path, in bytes.
const MAX_LEN: usize = 4096;

/// Signs that look like `/`, `\`, `.` or `:`.
const LOOK_ALIKES: &str = "\u{2044}\u{2215}\u{29f8}\u{ff0f}\u{2216}\u{29f5}\u{fe68}\u{ff3c}\u{ff0e}\u{2024}\u{2025}\u{2026}\u{fe52}\u{ff1a}\u{a789}\u{1735}\u{2571}\u{27cb}\u{27cd}\u{29f9}";

/// Refuses what is no plain path.
pub(super) fn check(path: &str) -> Result<(), PathError> {
    let refuse = |what| Err(PathError::Spelling { what });
    if path.is_empty() {
        return refuse("is empty");
    }
    if path.len() > MAX_LEN {
        return refuse("is too long");
    }
    if path.contains(char::is_control) {
        return refuse("has a control character in it");
    }
    if path.contains(is_unseen) {
        return refuse("has a sign in it that cannot be seen");
    }
    if path.contains(|c| LOOK_ALIKES.contains(c)) {
        return refuse("has a sign in it that only looks like a separator or a dot");
    }
    if path.trim() != path {
        return refuse("begins or ends with a space");
    }
    let first = path.split(['/', '\\']).next().unwrap_or_default();
    if first.starts_with('~') {
        return refuse("begins with `~`: write the path out");
    }
    if path.starts_with('$') || path.starts_with('%') || path.contains("${") || path.contains("$(") {
        return refuse("has a variable in it: write the path out");
    }
    let lower = path.to_ascii_lowercase();
    if ["%2e", "%2f", "%5c", "%00", "%25"].iter().any(|code| lower.contains(code)) {
        return refuse("has percent-encoded separators or dots in it");
    }
    if lower.starts_with("file:") || lower.contains("://") {
        return refuse("is an address and no path");
    }
    if cfg!(windows) { check_windows(path) } else { check_unix(path) }
}

/// Tools may run elsewhere, or take both separators.
fn check_unix(path: &str) -> Result<(), PathError> {
    if path.contains('\\') {
        return Err(PathError::Spelling { what: "has a `\\` in it: separate by `/`" });
    }
    if has_drive(path) {
        return Err(PathError::Spelling { what: "begins with a drive" });
    }
    Ok(())
}

fn check_windows(path: &str) -> Result<(), PathError> {
    let refuse = |what| Err(PathError::Spelling { what });
    if path.starts_with(r"\\") || path.starts_with("//") {
        return refuse("is a path of the network or of a device");
    }
    let rest = if has_drive(path) { path.get(2..).unwrap_or_default() } else { path };
    if has_drive(path) && !rest.starts_with(['/', '\\']) {
        return refuse("is relative to a drive's own folder");
    }
    if rest.contains([':', '*', '?', '"', '<', '>', '|']) {
        return refuse("has a sign in it that no file name may have");
    }
    for part in rest.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "..")) {
        if part.ends_with(['.', ' ']) {
            return refuse("has a part that ends with a dot or a space, which Windows drops");
        }
        let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
        let numbered = |name: &str| stem.strip_prefix(name).is_some_and(|n| n.chars().count() == 1);
        if matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
            || numbered("COM")
            || numbered("LPT")
        {
            return refuse("names a device");
        }
        if stem.contains('~') {
            return refuse("has a short name in it: write the path out");
        }
    }
    Ok(())
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Signs without width, and those that turn the direction of writing.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}
