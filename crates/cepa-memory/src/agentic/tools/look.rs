//! Looking at memories.

use cepa_core::{
    ToolError,
    serde_json::{Map, Value, json},
};
use serde::Deserialize;

use super::{Action, failed, file, number, object, read, text};
use crate::agentic::{
    cut::cut,
    folder::{MAX_BYTES, Open},
    name::Name,
};

/// How many memories are listed at once.
const LISTED: usize = 100;
/// The most tokens of a description in a list, and of a line that was found.
const LINE_TOKENS: usize = 64;
/// How many lines are read at once, if nothing else is said.
const LINES: usize = 2_000;
/// The most lines that are found.
const HITS: usize = 50;

pub(super) const LIST: Action = Action {
    name: "memory_list",
    description: "Lists the memories, the newest first, each with its type, its date and its description.",
    schema: || object(json!({"offset": number("Which one to begin with; 1 by default.")}), &[]),
    read_only: true,
    run: list,
};

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    offset: Option<usize>,
}

fn list(open: &Open, input: Map<String, Value>) -> Result<String, ToolError> {
    let List { offset } = read(input)?;
    let files = open.list().map_err(failed("."))?;
    let first = offset.unwrap_or(1).saturating_sub(1).min(files.len());
    let last = files.len().min(first + LISTED);
    let mut lines = open.manifest(&files[first..last], LINE_TOKENS);
    if last < files.len() {
        lines += &format!("\n[{} more: go on with offset {}]", files.len() - last, last + 1);
    }
    Ok(if lines.is_empty() { "There are no memories.".to_owned() } else { lines })
}

pub(super) const READ: Action = Action {
    name: "memory_read",
    description: "Reads a memory, or the index `MEMORY.md`.",
    schema: || {
        object(
            json!({
                "file": file(),
                "offset": number("The line to begin with; 1 by default."),
                "limit": number("How many lines to read at most; 2000 by default."),
            }),
            &["file"],
        )
    },
    read_only: true,
    run: read_file,
};

#[derive(Deserialize)]
struct Read {
    file: String,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    limit: Option<usize>,
}

fn read_file(open: &Open, input: Map<String, Value>) -> Result<String, ToolError> {
    let Read { file, offset, limit } = read(input)?;
    let content = open.read(&Name::new(&file)?)?;
    let lines: Vec<_> = content.split_inclusive('\n').collect();
    let first = offset.unwrap_or(1).saturating_sub(1).min(lines.len());
    let last = first.saturating_add(limit.unwrap_or(LINES)).min(lines.len());
    let mut shown = lines[first..last].concat();
    if last < lines.len() {
        shown += &format!("[{} more lines: go on with offset {}]", lines.len() - last, last + 1);
    }
    Ok(if shown.is_empty() { "(nothing stands here)".to_owned() } else { shown })
}

pub(super) const SEARCH: Action = Action {
    name: "memory_search",
    description: "Finds the lines of all memories that hold a text, whether in capitals or not.",
    schema: || {
        object(json!({"text": text("What to look for: a word, a name, the words of an error.")}), &["text"])
    },
    read_only: true,
    run: search,
};

#[derive(Deserialize)]
struct Search {
    text: String,
}

fn search(open: &Open, input: Map<String, Value>) -> Result<String, ToolError> {
    let wanted = read::<Search>(input)?.text.trim().to_lowercase();
    if wanted.is_empty() {
        return Err(ToolError::new("`text` is empty: say what to look for"));
    }
    let mut hits = Vec::new();
    for file in open.list().map_err(failed("."))? {
        // A file that is gone by now holds nothing.
        let Ok(bytes) = open.head(file.name.as_str(), MAX_BYTES) else { continue };
        let content = String::from_utf8_lossy(&bytes);
        for (index, line) in
            content.lines().enumerate().filter(|(_, line)| line.to_lowercase().contains(&wanted))
        {
            if hits.len() == HITS {
                hits.push("[there is more: look for something narrower]".to_owned());
                return Ok(hits.join("\n"));
            }
            hits.push(format!("{}:{}: {}", file.name, index + 1, cut(line.trim(), LINE_TOKENS)));
        }
    }
    Ok(if hits.is_empty() { "No memory holds that.".to_owned() } else { hits.join("\n") })
}
