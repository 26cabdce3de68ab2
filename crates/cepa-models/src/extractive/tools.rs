//! What the offered tools are good for.

use cepa_core::ToolSchema;
use serde_json::Value;

/// Names of arguments, by what goes into them.
pub(super) const QUERY_ARGUMENTS: [&str; 14] = [
    "query",
    "q",
    "pattern",
    "regex",
    "keyword",
    "keywords",
    "search",
    "search_query",
    "term",
    "terms",
    "text",
    "needle",
    "question",
    "prompt",
];
pub(super) const PATH_ARGUMENTS: [&str; 12] = [
    "path",
    "file",
    "file_path",
    "filepath",
    "filename",
    "file_name",
    "paths",
    "files",
    "document",
    "uri",
    "dir",
    "directory",
];

const SEARCHES: [&str; 8] = ["search", "grep", "find", "query", "lookup", "retrieve", "rg", "recall"];
const READS: [&str; 6] = ["read", "open", "cat", "view", "show", "load"];
const LISTS: [&str; 6] = ["list", "ls", "dir", "glob", "tree", "files"];
/// A tool with one of these in its name is left alone: it may change something.
const CHANGES: [&str; 24] = [
    "write", "delete", "remove", "rm", "edit", "create", "update", "send", "exec", "execute", "run", "bash",
    "shell", "insert", "move", "mv", "rename", "set", "add", "put", "post", "save", "kill", "replace",
];

/// What a tool is good for. The name of the argument that matters is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use<'a> {
    /// Finds places by words. `by_pattern`: it compares letter by letter, so it is given one word at a time.
    Search { argument: &'a str, by_pattern: bool },
    /// Gives the text of a file.
    Read { argument: &'a str },
    /// Names the files that there are.
    List,
}

/// A tool that the model can use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Useful<'a> {
    pub(super) schema: &'a ToolSchema,
    pub(super) good_for: Use<'a>,
}

/// The tools that the model understands.
pub(super) fn useful<'a>(tools: &[&'a ToolSchema]) -> Vec<Useful<'a>> {
    tools.iter().filter_map(|schema| Some(Useful { schema, good_for: use_of(schema)? })).collect()
}

fn use_of(schema: &ToolSchema) -> Option<Use<'_>> {
    let name = name_words(schema.name());
    if name.iter().any(|word| CHANGES.contains(&word.as_str())) {
        return None;
    }
    let description: Vec<String> =
        schema.description().split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    // The name says it; where it says nothing, the description does.
    for words in [&name, &description] {
        let says = |verbs: &[&str]| words.iter().any(|word| is_form_of(word, verbs));
        let lists_only = words.iter().any(|word| word == "glob");
        if says(&SEARCHES)
            && !lists_only
            && let Some(argument) = argument(schema, &QUERY_ARGUMENTS, &PATH_ARGUMENTS)
        {
            let literal = ["grep", "rg", "regex", "regexp", "pattern", "substring", "literal"];
            let by_pattern = literal.contains(&argument)
                || name.iter().chain(&description).any(|word| literal.contains(&word.as_str()));
            return Some(Use::Search { argument, by_pattern });
        }
        if says(&READS)
            && let Some(argument) = argument(schema, &PATH_ARGUMENTS, &QUERY_ARGUMENTS)
        {
            return Some(Use::Read { argument });
        }
        if says(&LISTS) && required(schema).all(|name| PATH_ARGUMENTS.contains(&name) || name == "pattern") {
            return Some(Use::List);
        }
    }
    None
}

/// The string argument with one of these names; else the only required one, if it is none of the `others`.
fn argument<'a>(schema: &'a ToolSchema, names: &[&str], others: &[&str]) -> Option<&'a str> {
    let properties = schema.parameters().get("properties")?.as_object()?;
    let is_string = |name: &str| properties.get(name).is_some_and(takes_string);
    let by_name =
        names.iter().find_map(|name| properties.get_key_value(*name)).map(|(name, _)| name.as_str());
    if let Some(name) = by_name.filter(|name| is_string(name)) {
        return Some(name);
    }
    let mut strings = required(schema).filter(|name| is_string(name) && !others.contains(name));
    let only = strings.next()?;
    strings.next().is_none().then_some(only)
}

fn required(schema: &ToolSchema) -> impl Iterator<Item = &str> {
    let names = schema.parameters().get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

fn takes_string(property: &Value) -> bool {
    match property.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(names)) => names.iter().any(|name| name == "string"),
        _ => match property.get("anyOf").and_then(Value::as_array) {
            Some(choices) => choices.iter().any(takes_string),
            None => true,
        },
    }
}

/// `searchFiles`, `search_files` and `SEARCH-FILES` as `search`, `files`.
fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}

fn is_form_of(word: &str, verbs: &[&str]) -> bool {
    let base = word.strip_suffix("es").filter(|base| verbs.contains(base)).or(word.strip_suffix('s'));
    verbs.contains(&word) || base.is_some_and(|base| verbs.contains(&base))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str, arguments: &[&str]) -> ToolSchema {
        let properties: serde_json::Map<String, Value> =
            arguments.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let parameters = json!({"type": "object", "properties": properties, "required": arguments});
        ToolSchema::new(name, description, parameters)
    }

    #[test]
    fn the_name_or_the_description_says_what_a_tool_is_good_for() {
        let search = |argument, by_pattern| Some(Use::Search { argument, by_pattern });
        assert_eq!(use_of(&tool("search_docs", "", &["query"])), search("query", false));
        assert_eq!(use_of(&tool("Grep", "", &["pattern"])), search("pattern", true));
        assert_eq!(use_of(&tool("docs", "Searches the manual.", &["words"])), search("words", false));
        assert_eq!(use_of(&tool("readFile", "", &["file_path"])), Some(Use::Read { argument: "file_path" }));
        assert_eq!(use_of(&tool("list_files", "", &[])), Some(Use::List));
        assert_eq!(use_of(&tool("Glob", "Finds files by pattern.", &["pattern"])), Some(Use::List));
    }

    #[test]
    fn what_may_change_something_is_left_alone() {
        for name in ["write_file", "search_and_replace", "Bash", "deleteFiles", "run_query"] {
            assert_eq!(use_of(&tool(name, "Reads and searches files.", &["path"])), None, "{name}");
        }
        assert_eq!(use_of(&tool("weather", "The weather of a city.", &["city"])), None);
    }
}
