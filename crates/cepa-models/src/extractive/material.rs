//! What a request holds: the question, what was done about it so far, and what came of it.

use cepa_core::{ContentBlock, ModelRequest, Purpose, Role, ToolResultState};
use serde_json::Value;

use super::{
    outputs,
    passages::{Line, Passage, sentences},
    rank::{Ranked, rank},
    tools::PATH_ARGUMENTS,
    words::{Word, words},
};

/// The most sentences that are looked at; the latest ones, where there are more.
const MOST_PASSAGES: usize = 3_000;

/// The question and all that may answer it.
#[derive(Debug, Default)]
pub(super) struct Material {
    /// The last thing that the user said.
    pub(super) question: String,
    /// The calls since then, with what they returned.
    pub(super) calls: Vec<Done>,
    /// The sentences of all outputs, hints and earlier messages of the user.
    pub(super) passages: Vec<Passage>,
}

/// A call that was made.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) tool: String,
    pub(super) input: Value,
    /// What it returned, if it went well.
    pub(super) output: Option<String>,
}

impl Material {
    /// What a request holds.
    pub(super) fn of(request: &ModelRequest) -> Self {
        let mut material = Self::default();
        let asked = request.messages.iter().rposition(|message| message.role == Role::User);
        for (position, message) in request.messages.iter().enumerate() {
            let is_question = Some(position) == asked;
            for block in &message.content {
                match block {
                    ContentBlock::Text(block) if is_question => {
                        if !material.question.is_empty() {
                            material.question.push('\n');
                        }
                        material.question.push_str(&block.text);
                    }
                    ContentBlock::Text(block) if message.role == Role::User => {
                        material.add(&block.text, "you said");
                    }
                    // A summary is about what everyone said.
                    ContentBlock::Text(block)
                        if message.role == Role::Assistant && request.purpose == Purpose::Summary =>
                    {
                        material.add(&block.text, &message.name);
                    }
                    ContentBlock::Hint(hint) => {
                        let source = hint.source.as_deref().filter(|source| !source.starts_with('{'));
                        let text = hint.hint.text();
                        let found = outputs::passages(&text, None, source.unwrap_or("a hint"));
                        material.passages.extend(found);
                    }
                    ContentBlock::ToolCall(call) if Some(position) > asked => {
                        let input = serde_json::from_str(&call.input).unwrap_or_default();
                        let result = message.tool_result(&call.id);
                        let result = result.filter(|result| result.state == ToolResultState::Success);
                        let output = result.map(|result| result.output.text().into_owned());
                        material.calls.push(Done { tool: call.name.to_string(), input, output });
                    }
                    ContentBlock::ToolResult(result) if result.state == ToolResultState::Success => {
                        let call = message.tool_call(&result.id);
                        let input = call.and_then(|call| serde_json::from_str::<Value>(&call.input).ok());
                        let path = input.as_ref().and_then(path_argument);
                        let found = outputs::passages(&result.output.text(), path, &result.name);
                        material.passages.extend(found);
                    }
                    _ => {}
                }
            }
        }
        material.drop_repeated();
        material
    }

    fn add(&mut self, text: &str, source: &str) {
        let lines: Vec<_> = text.lines().map(|text| Line { text, number: None }).collect();
        self.passages.extend(sentences(&lines, source, false));
    }

    /// A line that was found and then read is there twice, once perhaps only in part: the longer one stays, and the
    /// one that names a line.
    fn drop_repeated(&mut self) {
        let mut kept: Vec<Passage> = Vec::new();
        let too_many = self.passages.len().saturating_sub(MOST_PASSAGES);
        self.passages.drain(..too_many);
        for passage in self.passages.drain(..) {
            let same_file = |other: &&mut Passage| other.path == passage.path;
            let holds = |a: &str, b: &str| a.starts_with(b) || a.ends_with(b);
            let twin = kept
                .iter_mut()
                .filter(same_file)
                .find(|other| holds(&other.text, &passage.text) || holds(&passage.text, &other.text));
            match twin {
                Some(other) => {
                    if passage.text.len() > other.text.len() {
                        other.text = passage.text;
                        other.context = passage.context;
                    }
                    if passage.source.len() > other.source.len() {
                        other.source = passage.source;
                    }
                }
                None => kept.push(passage),
            }
        }
        self.passages = kept;
    }

    /// The sentences that fit the question, best first.
    pub(super) fn answers(&self) -> Vec<Ranked<'_>> {
        let mut ranked = rank(&self.question, &self.passages);
        ranked.retain(|ranked| ranked.fits);
        ranked
    }

    /// The words of the question that say most first: names and numbers, then long words.
    pub(super) fn keywords(&self) -> Vec<&str> {
        let mut keywords: Vec<Word<'_>> = Vec::new();
        for word in words(&self.question) {
            if !keywords.iter().any(|known| known.term == word.term) {
                keywords.push(word);
            }
        }
        let is_name = |word: &Word<'_>| word.text.chars().any(|c| c.is_uppercase() || c.is_numeric());
        keywords.sort_by_key(|word| (!is_name(word), std::cmp::Reverse(word.text.chars().count())));
        keywords.into_iter().map(|word| word.text).collect()
    }

    /// The files that the calls of these tools have named, those first that speak of the question.
    pub(super) fn paths(&self, is_source: impl Fn(&str) -> bool) -> Vec<String> {
        let outputs =
            self.calls.iter().filter(|call| is_source(&call.tool)).filter_map(|call| call.output.as_deref());
        let mut paths: Vec<String> = Vec::new();
        for path in outputs.flat_map(outputs::paths) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let found = rank(&self.question, &self.passages);
        let in_text = |path: &String| found.iter().position(|hit| hit.passage.path.as_ref() == Some(path));
        let names: Vec<Passage> =
            paths.iter().map(|path| Passage::new(path.as_str(), path.as_str())).collect();
        let by_name = rank(&self.question, &names);
        let in_name = |path: &String| by_name.iter().position(|hit| hit.passage.source == *path);
        let place = |position: Option<usize>| position.unwrap_or(usize::MAX);
        paths.sort_by_cached_key(|path| (place(in_text(path)), place(in_name(path))));
        paths
    }

    /// Whether a tool was called with this text for an argument.
    pub(super) fn was_called(&self, tool: &str, argument: &str, value: &str) -> bool {
        let same = |call: &&Done| {
            call.tool == tool && call.input.get(argument).and_then(Value::as_str) == Some(value)
        };
        self.calls.iter().any(|call| same(&call))
    }
}

/// The path among a call's arguments.
fn path_argument(input: &Value) -> Option<&str> {
    PATH_ARGUMENTS.iter().find_map(|name| input.get(*name)?.as_str())
}
