//! Writing memories.

use cepa_core::{
    ToolError,
    serde_json::{Map, Value, json},
};
use serde::Deserialize;

use super::{Action, file, object, read, text};
use crate::agentic::{
    error::AgenticMemoryError,
    folder::{Change, Open},
    front_matter::{FrontMatter, one_line},
    name::Name,
};

pub(super) const WRITE: Action = Action {
    name: "memory_write",
    description: "Saves a new memory, and puts its line into the index. One that is there is changed with `memory_edit`.",
    schema: || {
        object(
            json!({
                "file": file(),
                "name": text("A short title."),
                "description": text("When this should be read, on one line."),
                "type": {"type": "string", "enum": ["user", "feedback", "project", "reference"]},
                "content": text("What is to be remembered, in Markdown."),
                "replace": {
                    "type": "boolean",
                    "description": "Whether this takes the place of all that the file holds, if there is such a file; false by default.",
                },
            }),
            &["file", "name", "description", "type", "content"],
        )
    },
    read_only: false,
    run: write,
};

#[derive(Deserialize)]
struct Write {
    file: String,
    name: String,
    description: String,
    #[serde(rename = "type")]
    kind: String,
    content: String,
    #[serde(default)]
    replace: bool,
}

fn write(open: &Open, input: Map<String, Value>) -> Result<String, ToolError> {
    let Write { file, name, description, kind, content, replace } = read(input)?;
    let file = Name::of_memory(&file)?;
    let line = |text: &str| Some(one_line(text)).filter(|line| !line.is_empty());
    let matter = FrontMatter { name: line(&name), description: line(&description), kind: line(&kind) };
    let text = matter.write(&content)?;
    let mut done = "Saved";
    open.change(&file, || {
        match open.exists(&file) {
            false => file.check_new()?,
            true if replace => done = "Saved, in the place of what stood there before",
            true => return Err(AgenticMemoryError::Exists { name: file.to_string() }),
        }
        Ok(Change::Write(text))
    })?;
    Ok(format!("{done}: `{file}`."))
}

pub(super) const EDIT: Action = Action {
    name: "memory_edit",
    description: "Changes a place in a memory, or in the index `MEMORY.md`.",
    schema: || {
        object(
            json!({
                "file": file(),
                "old_text": text("What stands there now, exactly, and once in the file."),
                "new_text": text("What is to stand there; nothing takes it out."),
            }),
            &["file", "old_text", "new_text"],
        )
    },
    read_only: false,
    run: edit,
};

#[derive(Deserialize)]
struct Edit {
    file: String,
    old_text: String,
    new_text: String,
}

fn edit(open: &Open, input: Map<String, Value>) -> Result<String, ToolError> {
    let Edit { file, old_text, new_text } = read(input)?;
    let file = Name::new(&file)?;
    if !file.is_index() {
        Name::of_memory(file.as_str())?;
    }
    if old_text.is_empty() {
        return Err(ToolError::new("`old_text` is empty: give what is to be changed"));
    }
    open.change(&file, || {
        let before = open.text(&file)?;
        match before.matches(&old_text).count() {
            1 => Ok(Change::Write(before.replacen(&old_text, &new_text, 1))),
            count => Err(AgenticMemoryError::NoMatch { name: file.to_string(), count }),
        }
    })?;
    Ok(format!("Changed: `{file}`."))
}

pub(super) const DELETE: Action = Action {
    name: "memory_delete",
    description: "Deletes a memory and its line of the index.",
    schema: || object(json!({"file": file()}), &["file"]),
    read_only: false,
    run: delete,
};

#[derive(Deserialize)]
struct Delete {
    file: String,
}

fn delete(open: &Open, input: Map<String, Value>) -> Result<String, ToolError> {
    let file = Name::of_memory(&read::<Delete>(input)?.file)?;
    open.change(&file, || Ok(Change::Remove))?;
    Ok(format!("Deleted: `{file}`."))
}
