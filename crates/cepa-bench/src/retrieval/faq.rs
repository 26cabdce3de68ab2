//! Three FAQs, each in its own format.

use std::{fs, io, path::Path};

/// A question and its answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Faq {
    pub(super) id: String,
    pub(super) question: String,
    pub(super) answer: String,
}

/// All that are in a folder: `*.pod`, `*.rst` and `*.txt`.
pub(super) fn read(folder: &Path) -> io::Result<Vec<Faq>> {
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let read: fn(&str) -> Vec<(String, String)> = match path.extension().and_then(|end| end.to_str()) {
            Some("pod") => pod,
            Some("rst") => rst,
            Some("txt") => numbered,
            _ => continue,
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let pairs = read(&String::from_utf8_lossy(&fs::read(&path)?));
        let answered =
            pairs.into_iter().filter(|(question, answer)| question.ends_with('?') && answer.len() > 40);
        all.extend(answered.enumerate().map(|(number, (question, answer))| Faq {
            id: format!("{name}/{number}.txt"),
            question,
            answer,
        }));
    }
    Ok(all)
}

/// Perl's: `=head2 Question`, and the answer until the next `=head`.
fn pod(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut is_answer = false;
    for paragraph in text.split("\n\n") {
        if let Some(question) = paragraph.trim_start().strip_prefix("=head2 ") {
            // Without entries of the index.
            let question =
                question.lines().filter(|line| !line.starts_with("X<")).collect::<Vec<_>>().join(" ");
            pairs.push((one_line(&question), String::new()));
            is_answer = true;
        } else if paragraph.trim_start().starts_with("=head1") {
            is_answer = false;
        } else if let Some((_, answer)) = pairs.last_mut().filter(|_| is_answer) {
            answer.push_str(paragraph.trim_matches('\n'));
            answer.push_str("\n\n");
        }
    }
    pairs
}

/// Python's: a line, and one of the same length of `-`, `=` or `~`.
fn rst(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |at: usize| {
        let line = lines.get(at).map_or("", |line| line.trim_end());
        line.len() > 4 && ['-', '=', '~'].iter().any(|mark| line.chars().all(|letter| letter == *mark))
    };
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if !line.trim().is_empty() && !is_rule(at) && is_rule(at + 1) {
            pairs.push((one_line(line), String::new()));
        } else if let Some((_, answer)) = pairs.last_mut().filter(|_| !is_rule(at)) {
            answer.push_str(line);
            answer.push('\n');
        }
    }
    pairs
}

/// Debian's: `3.4. Question` at the beginning of a line, until an empty one; the answer is further in.
fn numbered(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut is_answer = false;
    for paragraph in text.split("\n\n") {
        let paragraph = paragraph.trim_matches('\n');
        if paragraph.starts_with(|letter: char| letter.is_ascii_digit()) {
            let question = paragraph.trim_start_matches(|letter: char| !letter.is_alphabetic());
            is_answer = true;
            pairs.push((one_line(question), String::new()));
        } else if !paragraph.starts_with(' ') {
            is_answer = false;
        } else if let Some((_, answer)) = pairs.last_mut().filter(|_| is_answer) {
            answer.push_str(paragraph);
            answer.push_str("\n\n");
        }
    }
    pairs
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_gives_questions_and_their_answers() {
        let pair = |question: &str, answer: &str| (question.to_owned(), answer.to_owned());
        let text =
            "=head1 NAME\n\nAbout.\n\n=head2 Why\nis it?\nX<why>\n\nSo.\n\nYes.\n\n=head1 END\n\nBye.\n";
        assert_eq!(pod(text), [pair("Why is it?", "So.\n\nYes.\n\n")]);
        let text = "=====\nHead?\n=====\n\nHow so?\n-------\n\nSo.\n\nWhen?\n=====\n\nNow.\n";
        assert_eq!(rst(text)[1..], [pair("How so?", "\nSo.\n\n"), pair("When?", "\nNow.\n")]);
        let text = "Chapter\n\n1.1.\u{a0}What is\nthis?\n\n    It is.\n\n    So.\n\nNext\n\n    Out.\n";
        assert_eq!(numbered(text), [pair("What is this?", "    It is.\n\n    So.\n\n")]);
    }
}
