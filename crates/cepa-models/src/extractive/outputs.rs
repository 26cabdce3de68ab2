//! Reading what tools return: hits as `path:line: text`, quoted passages, JSON, listings, or the text of a file.

mod cited;

use serde_json::Value;

use super::passages::{Line, Passage, sentences};

/// Names of fields that hold a path, a text or a line number.
const PATHS: [&str; 9] =
    ["path", "file", "file_path", "filename", "source", "url", "uri", "title", "document"];
const TEXTS: [&str; 6] = ["text", "content", "snippet", "match", "body", "memory"];
const LINES: [&str; 3] = ["line", "line_number", "start_line"];

/// The sentences in a tool's output. `path`: the file that the tool was asked for; `tool`: its name.
pub(super) fn passages(output: &str, path: Option<&str>, tool: &str) -> Vec<Passage> {
    if let Ok(json) = serde_json::from_str::<Value>(output)
        && (json.is_array() || json.is_object())
    {
        let mut passages = Vec::new();
        of_json(&json, path.unwrap_or(tool), path.is_some(), &mut passages);
        return passages;
    }
    if let Some(passages) = cited::passages(output) {
        return passages;
    }
    let lines: Vec<&str> = output.lines().collect();
    let hits: Vec<_> = lines.iter().map(|line| hit(line)).collect();
    if !hits.iter().any(Option::is_some) {
        return sentences(&numbered(&lines), path.unwrap_or(tool), path.is_some());
    }
    // Hits in neighbouring lines of one file are read together; lines between hits are the tool's own words.
    let mut passages = Vec::new();
    let mut group: Vec<Line<'_>> = Vec::new();
    let mut group_path = "";
    for (path, line) in hits.into_iter().flatten() {
        let goes_on = path == group_path
            && group.last().and_then(|last| last.number).zip(line.number).is_some_and(|(a, b)| b == a + 1);
        if !goes_on {
            passages.extend(sentences(&group, group_path, true));
            group.clear();
            group_path = path;
        }
        group.push(line);
    }
    passages.extend(sentences(&group, group_path, true));
    passages
}

/// The paths in a listing, or among hits.
pub(super) fn paths(output: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut add = |path: &str| {
        if !path.is_empty() && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    };
    match serde_json::from_str::<Value>(output) {
        Ok(json @ (Value::Array(_) | Value::Object(_))) => paths_of_json(&json, &mut add),
        _ => {
            for line in output.lines() {
                match hit(line) {
                    Some((path, _)) => add(path),
                    None => listed(line).into_iter().for_each(&mut add),
                }
            }
        }
    }
    paths
}

/// `path:line: text`
fn hit(line: &str) -> Option<(&str, Line<'_>)> {
    for (colon, _) in line.match_indices(':') {
        let (path, rest) = (&line[..colon], &line[colon + 1..]);
        let (number, text) = rest.split_once(':')?;
        if let Ok(number) = number.parse()
            && looks_like_path(path)
        {
            return Some((path, Line { text, number: Some(number) }));
        }
    }
    None
}

/// A line of a listing: a path on its own, perhaps behind a bullet or before its size.
fn listed(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches(['-', '*', '•', ' ']);
    let path = line.split(['\t', '(']).next()?.trim().trim_matches(['"', '`', '\'']);
    let one_word = !path.contains(char::is_whitespace) || path.contains('/');
    (one_word && looks_like_path(path) && !path.ends_with(['/', ':'])).then_some(path)
}

fn looks_like_path(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let extension = name.rsplit_once('.').is_some_and(|(stem, ext)| {
        !stem.is_empty() && (1..=10).contains(&ext.len()) && ext.chars().all(char::is_alphanumeric)
    });
    !text.is_empty() && text.len() < 300 && !text.contains("://") && (extension || text.contains(['/', '\\']))
}

/// Lines with the numbers that stand before them, if they do before (nearly) all.
fn numbered<'a>(lines: &[&'a str]) -> Vec<Line<'a>> {
    let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let with_numbers: Vec<_> = lines.iter().map(|line| leading_number(line)).collect();
    let numbers = with_numbers.iter().flatten().count();
    // `1987: the year` on its own is no numbered line.
    let fewest = if filled == 1 && lines.iter().any(|line| line.contains(':')) { 2 } else { 1 };
    let is_numbered = numbers >= fewest && numbers * 10 >= filled * 8;
    lines
        .iter()
        .zip(with_numbers)
        .map(|(line, number)| match number.filter(|_| is_numbered) {
            Some((number, text)) => Line { text, number: Some(number) },
            None => Line { text: line, number: None },
        })
        .collect()
}

/// `  12→text`, `12<tab>text`, `12: text`, `12 | text`
fn leading_number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.find(|c: char| !c.is_ascii_digit())?;
    let number = line[..digits].parse().ok()?;
    let rest = &line[digits..];
    let text = rest.strip_prefix(['\t', '→', ':']).or_else(|| rest.trim_start().strip_prefix('|'))?;
    Some((number, text))
}

fn of_json(json: &Value, source: &str, is_file: bool, passages: &mut Vec<Passage>) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| of_json(item, source, is_file, passages)),
        Value::String(text) => {
            let lines: Vec<_> = text.lines().map(|text| Line { text, number: None }).collect();
            passages.extend(sentences(&lines, source, is_file));
        }
        Value::Object(fields) => {
            let string = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str());
            let own_path = string(&PATHS);
            let (source, is_file) = own_path.map_or((source, is_file), |path| (path, true));
            if let Some(text) = string(&TEXTS) {
                let first = LINES.iter().find_map(|name| fields.get(*name)?.as_u64());
                let lines: Vec<_> = text
                    .lines()
                    .zip(0..)
                    .map(|(text, offset)| Line { text, number: first.map(|first| first + offset) })
                    .collect();
                passages.extend(sentences(&lines, source, is_file));
            } else {
                fields.values().filter(|value| !value.is_string()).for_each(|value| {
                    of_json(value, source, is_file, passages);
                });
            }
        }
        _ => {}
    }
}

fn paths_of_json(json: &Value, add: &mut impl FnMut(&str)) {
    match json {
        Value::String(text) if looks_like_path(text) => add(text),
        Value::Array(items) => items.iter().for_each(|item| paths_of_json(item, add)),
        Value::Object(fields) => match PATHS.iter().find_map(|name| fields.get(*name)?.as_str()) {
            Some(path) => add(path),
            None => fields.values().for_each(|value| paths_of_json(value, add)),
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str, path: Option<&str>) -> Vec<(String, String)> {
        passages(output, path, "search").into_iter().map(|passage| (passage.text, passage.source)).collect()
    }

    fn one(text: &str, source: &str) -> Vec<(String, String)> {
        vec![(text.to_owned(), source.to_owned())]
    }

    #[test]
    fn hits_name_file_and_line() {
        let output = "2 hits:\ndocs/a b.md:12: The pump is blue.\nC:\\notes.txt:7:At 12:30: lunch\n";
        let mut expected = one("The pump is blue.", "docs/a b.md:12");
        expected.extend(one("At 12:30: lunch", "C:\\notes.txt:7"));
        assert_eq!(read(output, None), expected);
        assert_eq!(paths(output), ["docs/a b.md", "C:\\notes.txt"]);
    }

    #[test]
    fn numbered_and_plain_files() {
        assert_eq!(read("    3\tThe pump is blue.\n", Some("a.md")), one("The pump is blue.", "a.md:3"));
        assert_eq!(read("At 12:30: lunch", Some("a.md")), one("At 12:30: lunch", "a.md"));
        assert_eq!(read("1987: the year", None), one("1987: the year", "search"));
    }

    #[test]
    fn json_with_paths_and_texts() {
        let output =
            r#"{"results": [{"path": "a.md", "line": 4, "text": "The pump is blue.", "score": 0.5}]}"#;
        assert_eq!(read(output, None), one("The pump is blue.", "a.md:4"));
        assert_eq!(paths(output), ["a.md"]);
    }

    #[test]
    fn listings() {
        let output = "Files:\n- docs/a.md (12 lines)\nREADME.md\t3 KB\nsrc/\nnothing else here.\n";
        assert_eq!(paths(output), ["docs/a.md", "README.md"]);
        assert_eq!(paths(r#"["a.md", "b/c", "no path"]"#), ["a.md", "b/c"]);
    }
}
