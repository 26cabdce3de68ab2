//! What to do next: search, read, list, or answer.

use std::sync::Arc;

use cepa_core::{GENERATE_STRUCTURED_OUTPUT, ModelRequest, ToolChoiceMode, ToolSchema};
use serde_json::Value;

use super::{
    answer,
    fill::Filling,
    material::Material,
    tools::{Use, Useful, useful},
};

/// Calls for one question; after that the answer is what was found until then.
const MOST_CALLS: usize = 16;
/// Single words that are looked for at once, where a tool looks for one at a time.
const WORDS_AT_ONCE: usize = 3;
/// Files that are read at once.
const FILES_AT_ONCE: usize = 3;
/// Files that are read where there is nothing to search with.
const MOST_FILES: usize = 9;

/// The next step.
#[derive(Debug)]
pub(super) enum Step {
    Call(Vec<Call>),
    Answer(String),
}

/// A call to be made.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: Arc<str>,
    pub(super) input: Value,
}

/// What to do next about a request.
pub(super) fn next_step(request: &ModelRequest, material: &Material, sentences: usize) -> Step {
    let choice = request.tool_choice.as_ref();
    let narrowed = choice.and_then(|choice| choice.tools.as_ref());
    let offered: Vec<&ToolSchema> = request
        .tools
        .iter()
        .filter(|tool| narrowed.is_none_or(|names| names.iter().any(|name| **name == **tool.name())))
        .collect();
    let planner = Planner { material, tools: useful(&offered) };
    let mode = choice.map(|choice| &choice.mode);
    let calls = match mode {
        Some(ToolChoiceMode::None) => Vec::new(),
        Some(ToolChoiceMode::Tool(name)) => {
            let tool = offered.iter().find(|tool| **tool.name() == **name);
            tool.map(|tool| planner.forced(tool)).into_iter().collect()
        }
        Some(ToolChoiceMode::Required) => match planner.calls() {
            calls if calls.is_empty() => {
                let first = planner.tools.first().map(|tool| tool.schema).or(offered.first().copied());
                first.map(|tool| planner.forced(tool)).into_iter().collect()
            }
            calls => calls,
        },
        _ => match planner.calls() {
            calls if calls.is_empty() => planner.structured_output(&offered).into_iter().collect(),
            calls => calls,
        },
    };
    if calls.is_empty() { Step::Answer(answer::compose(material, sentences)) } else { Step::Call(calls) }
}

struct Planner<'a> {
    material: &'a Material,
    tools: Vec<Useful<'a>>,
}

impl<'a> Planner<'a> {
    /// The calls that may bring the answer nearer; none when it is time to answer.
    fn calls(&self) -> Vec<Call> {
        let left = MOST_CALLS.saturating_sub(self.material.calls.len());
        if left == 0 || self.material.keywords().is_empty() {
            return Vec::new();
        }
        let search = self.tools.iter().find(|tool| matches!(tool.good_for, Use::Search { .. }));
        let read = self.tools.iter().find(|tool| matches!(tool.good_for, Use::Read { .. }));
        let list = self.tools.iter().find(|tool| tool.good_for == Use::List);
        let mut calls = match (search, list) {
            (Some(search), _) => self.search(search, read),
            (None, Some(list)) => self.list(list, read),
            (None, None) => read.map(|read| self.read_named(read)).unwrap_or_default(),
        };
        calls.truncate(left);
        calls
    }

    /// Searches until something fits, and reads on where the best hits are.
    fn search(&self, search: &Useful<'a>, read: Option<&Useful<'a>>) -> Vec<Call> {
        let Use::Search { argument, by_pattern } = search.good_for else { return Vec::new() };
        let name = &**search.schema.name();
        let fresh = |query: &str| !self.material.was_called(name, argument, query);
        let searched = self.material.calls.iter().any(|call| call.tool == name);
        let answered = !self.material.answers().is_empty();
        // Sentences that were there before a search (a hint, an earlier message) may do; one search is made anyway.
        if !searched || !answered {
            let queries = self.queries(by_pattern);
            let queries = queries.iter().filter(|query| fresh(query));
            let at_once = if by_pattern { WORDS_AT_ONCE } else { 1 };
            let calls: Vec<_> =
                queries.take(at_once).map(|query| self.call(search, argument, query)).collect();
            if !calls.is_empty() {
                return calls;
            }
        }
        read.map(|read| self.read(read, name, FILES_AT_ONCE)).unwrap_or_default()
    }

    /// What to search for, in turn: the question's words together, then each alone. Letter by letter, a word is
    /// also looked for as it may be written elsewhere: in small letters, and without its ending.
    fn queries(&self, by_pattern: bool) -> Vec<String> {
        let keywords = self.material.keywords();
        let mut queries: Vec<String> = Vec::new();
        if !by_pattern {
            queries.push(self.material.question.split_whitespace().collect::<Vec<_>>().join(" "));
            queries.push(keywords.join(" "));
        }
        queries.extend(keywords.iter().map(|word| (*word).to_owned()));
        if by_pattern {
            for word in &keywords {
                let lower = word.to_lowercase();
                let start: String = lower.chars().take(5).collect();
                let mut capital = start.chars();
                let capital: String =
                    capital.next().into_iter().flat_map(char::to_uppercase).chain(capital).collect();
                queries.extend([lower, start, capital]);
            }
        }
        let mut seen = Vec::new();
        queries.retain(|query| {
            let new = !seen.contains(query);
            seen.push(query.clone());
            new
        });
        queries
    }

    /// Lists once, then reads, likely names first, until something fits.
    fn list(&self, list: &Useful<'a>, read: Option<&Useful<'a>>) -> Vec<Call> {
        let name = &**list.schema.name();
        if !self.material.calls.iter().any(|call| call.tool == name) {
            return vec![self.forced(list.schema)];
        }
        let answered = !self.material.answers().is_empty();
        match read {
            Some(read) if !answered => self.read(read, name, MOST_FILES),
            _ => Vec::new(),
        }
    }

    /// Reads files that this tool has named, some at once, and at most so many in all.
    fn read(&self, read: &Useful<'a>, named_by: &str, most: usize) -> Vec<Call> {
        let Use::Read { argument } = read.good_for else { return Vec::new() };
        let name = &**read.schema.name();
        let done = self.material.calls.iter().filter(|call| call.tool == name).count();
        let paths = self.material.paths(|tool| tool == named_by);
        let paths = paths.iter().filter(|path| !self.material.was_called(name, argument, path));
        let at_once = FILES_AT_ONCE.min(most.saturating_sub(done));
        paths.take(at_once).map(|path| self.call(read, argument, path)).collect()
    }

    /// The answer as the object that the caller wants, where one is wanted and was not given yet.
    fn structured_output(&self, offered: &[&ToolSchema]) -> Option<Call> {
        let tool = offered.iter().find(|tool| **tool.name() == *GENERATE_STRUCTURED_OUTPUT)?;
        let tried = self.material.calls.iter().any(|call| call.tool == GENERATE_STRUCTURED_OUTPUT);
        (!tried).then(|| self.forced(tool))
    }

    /// Reads the files that the question itself names.
    fn read_named(&self, read: &Useful<'a>) -> Vec<Call> {
        let Use::Read { argument } = read.good_for else { return Vec::new() };
        let name = &**read.schema.name();
        let words = self.material.question.split_whitespace();
        let words =
            words.map(|word| word.trim_matches(|c: char| "\"'`?!,:;()[]".contains(c)).trim_end_matches('.'));
        let is_file = |word: &&str| {
            word.contains('/') || word.split_once('.').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
        };
        words
            .filter(is_file)
            .filter(|path| !self.material.was_called(name, argument, path))
            .take(FILES_AT_ONCE)
            .map(|path| self.call(read, argument, path))
            .collect()
    }

    /// A call of a tool with this text for the argument that matters.
    fn call(&self, tool: &Useful<'a>, argument: &str, text: &str) -> Call {
        let mut call = self.forced(tool.schema);
        call.input[argument] = text.into();
        call
    }

    /// A call of a tool whatever it is good for.
    fn forced(&self, schema: &ToolSchema) -> Call {
        let path = self.material.answers().first().and_then(|best| best.passage.path.clone());
        let query = self.material.keywords().join(" ");
        let filling = Filling { material: self.material, query, path };
        let mut input = filling.object(schema.parameters());
        // A listing of everything.
        if useful(&[schema]).first().is_some_and(|tool| tool.good_for == Use::List)
            && let Some(pattern) = input.get_mut("pattern")
        {
            *pattern = "**/*".into();
        }
        Call { tool: schema.name().clone(), input: input.into() }
    }
}
