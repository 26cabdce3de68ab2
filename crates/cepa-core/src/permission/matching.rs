//! [`RuleMatch`]: what the content of a rule can mean.

/// What the content of a rule can mean to a tool: for its [`match_rule`](crate::Tool::match_rule). Each function tells
/// whether a rule with this content is about a call with this value; a rule without content is about every call.
///
/// ```
/// use cepa_core::RuleMatch;
///
/// assert!(RuleMatch::exact(Some("mail.example.org"), "mail.example.org"));
/// assert!(RuleMatch::prefix(Some("git log:*"), "git log --oneline"));
/// assert!(RuleMatch::glob(Some("src/**"), "src/agent/clock.rs"));
/// assert!(!RuleMatch::glob(Some("src/**"), "src/../Cargo.toml"));
/// assert!(RuleMatch::exact(None, "anything"));
/// ```
///
/// A tool that writes files has this in its `impl Tool`:
///
/// ```
/// # use cepa_core::{RuleMatch, serde_json::{Map, Value, json}};
/// # struct Write;
/// # impl Write {
/// fn match_rule(&self, rule_content: Option<&str>, input: &Map<String, Value>) -> bool {
///     let path = input.get("file_path").and_then(Value::as_str);
///     RuleMatch::glob(rule_content, path.unwrap_or_default())
/// }
/// # }
/// # let input = json!({"file_path": "src/a.rs"}).as_object().unwrap().clone();
/// # assert!(Write.match_rule(Some("src/*"), &input) && !Write.match_rule(Some("tests/*"), &input));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum RuleMatch {}

impl RuleMatch {
    /// Whether the content is the value.
    #[must_use]
    pub fn exact(content: Option<&str>, value: &str) -> bool {
        content.is_none_or(|content| content == value)
    }

    /// Whether the content is about a command line, as rules of AgentScope 2.0.11's `Bash` tool are.
    ///
    /// `git:*` is about `git` and what begins with `git `. With a `*` elsewhere it is a pattern of the whole line, in
    /// which `*` stands for any text without line breaks, and `git *` is also about `git`. Without one it is a text
    /// that the line holds. `\*` and `\\` stand for `*` and `\`.
    ///
    /// Only the text counts: `git:*` is about `git log; rm -r .` too. A tool that hands the line to a shell must ask
    /// about such lines in its `check_permissions`, by a decision that is
    /// [`bypass_immune`](crate::PermissionDecision::bypass_immune).
    ///
    /// ```
    /// use cepa_core::RuleMatch;
    ///
    /// assert!(RuleMatch::prefix(Some("git:*"), "git"));
    /// assert!(!RuleMatch::prefix(Some("git:*"), "gitk"));
    /// assert!(RuleMatch::prefix(Some("npm run * --watch"), "npm run test --watch"));
    /// assert!(RuleMatch::prefix(Some("--force"), "git push --force origin"));
    /// assert!(RuleMatch::prefix(Some(r"ls \*"), "ls *"));
    /// ```
    #[must_use]
    pub fn prefix(content: Option<&str>, command: &str) -> bool {
        let Some(content) = content else { return true };
        if let Some(prefix) = content.strip_suffix(":*") {
            let rest = command.strip_prefix(prefix.trim());
            return rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        }
        let pattern = line_pattern(content);
        let letters = pattern.iter().map(|piece| match piece {
            Piece::Char(char) => Some(*char),
            _ => None,
        });
        if let Some(text) = letters.collect::<Option<String>>() {
            return command.contains(&text);
        }
        if let [before @ .., Piece::Any { .. }] = &pattern[..] {
            let text_end = before.iter().rposition(|piece| *piece != Piece::Char(' ')).map_or(0, |at| at + 1);
            if matches(&before[..text_end], command) {
                return true;
            }
        }
        matches(&pattern, command)
    }

    /// Whether the content is a pattern of a path, as rules of AgentScope 2.0.11's file tools are.
    ///
    /// `*` and `**` stand for any text, across folders too; `**/` also for nothing; `?` for one character; `[a-c]` for
    /// one of these and `[!a-c]` for any other; `[*]` for `*` itself. `.`, `..` and double slashes are taken out of the
    /// path first, so that none leads out of a folder that a rule allows. Links are not looked at, and a relative path
    /// stays one: see [`is_within_working_directories`](super::is_within_working_directories) for both.
    ///
    /// ```
    /// use cepa_core::RuleMatch;
    ///
    /// assert!(RuleMatch::glob(Some("**/.env*"), ".env.local"));
    /// assert!(RuleMatch::glob(Some("/data/[!_]*.csv"), "/data/2026/05.csv"));
    /// assert!(RuleMatch::glob(Some("/etc/**"), "/srv/../etc/passwd"));
    /// assert!(!RuleMatch::glob(Some("*.rs"), "main.rst"));
    /// ```
    #[must_use]
    pub fn glob(content: Option<&str>, path: &str) -> bool {
        let Some(content) = content else { return true };
        let content = content.strip_prefix("./").unwrap_or(content);
        matches(&path_pattern(content), &plain_path(path))
    }
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Char(char),
    /// Any one character.
    One,
    /// One character out of, or not out of, these ranges.
    Set {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
    /// Any text, with or without line breaks.
    Any {
        newline: bool,
    },
    /// The next two pieces may be left out.
    Maybe,
}

impl Piece {
    /// Whether it stands for this one character.
    fn is(&self, char: char) -> bool {
        match self {
            Self::Char(own) => *own == char,
            Self::One => true,
            Self::Set { ranges, negated } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&char)) != *negated
            }
            Self::Any { .. } | Self::Maybe => false,
        }
    }
}

/// The pattern of a command line.
fn line_pattern(content: &str) -> Vec<Piece> {
    let mut pattern = Vec::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    while let Some(char) = chars.next() {
        pattern.push(match char {
            '\\' => Piece::Char(chars.next_if(|next| matches!(next, '*' | '\\')).unwrap_or('\\')),
            '*' => Piece::Any { newline: false },
            char => Piece::Char(char),
        });
    }
    pattern
}

/// The pattern of a path.
fn path_pattern(content: &str) -> Vec<Piece> {
    const ANY: Piece = Piece::Any { newline: true };
    let mut pattern = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(char) = rest.chars().next() {
        let begins_name = matches!(pattern.last(), None | Some(Piece::Char('/')));
        if begins_name && let Some(after) = rest.strip_prefix("**/") {
            pattern.extend([Piece::Maybe, ANY, Piece::Char('/')]);
            rest = after;
            continue;
        }
        if let Some((set, after)) = rest.strip_prefix('[').and_then(set) {
            pattern.push(set);
            rest = after;
            continue;
        }
        rest = &rest[char.len_utf8()..];
        match char {
            '*' if pattern.last() == Some(&ANY) => {}
            '*' => pattern.push(ANY),
            '?' => pattern.push(Piece::One),
            char => pattern.push(Piece::Char(char)),
        }
    }
    pattern
}

/// What stands after a `[`, if there is a `]` that ends it. A `]` in the first place does not.
fn set(content: &str) -> Option<(Piece, &str)> {
    let inner = content.strip_prefix('!');
    let negated = inner.is_some();
    let inner = inner.unwrap_or(content);
    let first = inner.chars().next()?.len_utf8();
    let end = first + inner[first..].find(']')?;
    let mut ranges = Vec::new();
    let mut chars = inner[..end].chars().peekable();
    while let Some(from) = chars.next() {
        let mut ahead = chars.clone();
        let to = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(to)) => {
                chars = ahead;
                to
            }
            _ => from,
        };
        ranges.push((from, to));
    }
    Some((Piece::Set { ranges, negated }, &inner[end + 1..]))
}

/// Whether the pattern is one of the whole text. Follows all ways at once, so it takes no longer than the product of
/// the two lengths, whatever the pattern.
fn matches(pattern: &[Piece], text: &str) -> bool {
    // reached[n]: the first n pieces can stand for the text so far.
    let mut reached = vec![false; pattern.len() + 1];
    let mut next = reached.clone();
    reached[0] = true;
    leave_out(pattern, &mut reached);
    for char in text.chars() {
        next.fill(false);
        for (at, piece) in pattern.iter().enumerate().filter(|(at, _)| reached[*at]) {
            match piece {
                Piece::Any { newline } => next[at] |= *newline || char != '\n',
                piece => next[at + 1] |= piece.is(char),
            }
        }
        std::mem::swap(&mut reached, &mut next);
        leave_out(pattern, &mut reached);
    }
    reached[pattern.len()]
}

/// Goes on past the pieces that can stand for nothing.
fn leave_out(pattern: &[Piece], reached: &mut [bool]) {
    for (at, piece) in pattern.iter().enumerate() {
        if reached[at] {
            match piece {
                Piece::Any { .. } => reached[at + 1] = true,
                Piece::Maybe => {
                    reached[at + 1] = true;
                    reached[at + 3] = true;
                }
                Piece::Char(_) | Piece::One | Piece::Set { .. } => {}
            }
        }
    }
}

/// The path without `.`, `..` and double slashes. A relative one may still begin with `..`.
fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    let end = if path.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    format!("{start}{}{end}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::RuleMatch;

    #[test]
    fn prefixes_and_lines() {
        for (content, command, expected) in [
            ("git:*", "git", true),
            ("git:*", "git status", true),
            ("git :*", "git status", true),
            ("git:*", "gitk", false),
            ("git:*", "sudo git", false),
            ("git *", "git", true),
            ("git *", "git add .", true),
            ("git *", "gitk", false),
            ("* --help", "cargo --help", true),
            ("* --help", "cargo --help now", false),
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "a--c--b", false),
            ("echo *", "echo a\nrm b", false),
            ("rm -rf", "sudo rm -rf /", true),
            ("rm -rf", "rm -r", false),
            (r"ls \*", "ls * now", true),
            (r"ls \*", "ls a", false),
            (r"ls \* *", "ls * now", true),
            (r"dir C:\\", r"dir C:\", true),
            (r"a\b", r"a\b", true),
            ("[x] (y) *", "[x] (y) z", true),
            ("ü*", "über", true),
        ] {
            assert_eq!(RuleMatch::prefix(Some(content), command), expected, "{content} {command}");
        }
    }

    #[test]
    fn globs() {
        for (content, path, expected) in [
            ("src/**", "src/a", true),
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src/", true),
            ("src/**", "src", false),
            ("src/**", "srcs/a", false),
            ("src/*", "src/a/b.rs", true),
            ("src/**/b.rs", "src/b.rs", true),
            ("src/**/b.rs", "src/a/c/b.rs", true),
            ("src/**/b.rs", "src/ab.rs", false),
            ("**/.env", ".env", true),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "a/b.env", false),
            ("**", "anything/at/all", true),
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rsx", false),
            ("?.rs", "ä.rs", true),
            ("?.rs", "ab.rs", false),
            ("[a-c]1", "b1", true),
            ("[a-c]1", "d1", false),
            ("[!a-c]1", "d1", true),
            ("[]]1", "]1", true),
            ("[-a]1", "-1", true),
            ("[a-]1", "-1", true),
            ("[a", "[a", true),
            ("/w[*]/[[]x]/**", "/w*/[x]/y", true),
            ("/w[*]/**", "/ww/y", false),
            ("./src/*", "src/a", true),
            ("src/*", "./src//a", true),
            ("src/**", "src/../../etc/passwd", false),
            ("src/**", "src/a/../b", true),
            ("/w/**", "/w/../etc/passwd", false),
            ("/etc/**", "/../etc/passwd", true),
            ("../**", "../a", true),
        ] {
            assert_eq!(RuleMatch::glob(Some(content), path), expected, "{content} {path}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let pattern = "a*".repeat(60) + "b";
        assert!(!RuleMatch::glob(Some(&pattern), &"a".repeat(4000)));
        assert!(!RuleMatch::prefix(Some(&pattern), &"a".repeat(4000)));
    }
}
