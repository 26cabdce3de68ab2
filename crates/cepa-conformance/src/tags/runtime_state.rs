//! The hint with the runtime state: its entries come and go.

use std::sync::LazyLock;

use cepa_core::texts;

use super::template::Template;

/// Texts of the hint and of its entries.
struct Texts {
    hint: Template,
    tasks: Template,
    context_length: Template,
    tool_error: Template,
}

static TEXTS: LazyLock<Texts> = LazyLock::new(|| Texts {
    hint: Template::new(texts::HINT_RUNTIME_STATE),
    tasks: Template::new(texts::HINT_TASKS),
    context_length: Template::new(texts::HINT_CONTEXT_LENGTH),
    tool_error: Template::new(texts::HINT_TOOL_ERROR),
});

/// The tag of a text that tells the runtime state; `None` for any other text.
pub(super) fn read(text: &str) -> Option<String> {
    let values = TEXTS.hint.match_whole(text)?;
    let (_, state) = values.first()?;
    let entries: Vec<_> = state.lines().map(str::trim).filter(|line| !line.is_empty()).map(entry).collect();
    Some(format!("<<hint:runtime_state {}>>", entries.join("; ")))
}

/// An entry is `- key: value`. Its time is left out, and its texts give way to their figures.
fn entry(line: &str) -> String {
    let line = line.trim_start_matches("- ");
    let (key, value) = line.split_once(':').map_or(("", line), |(key, value)| (key.trim(), value.trim()));
    let figures = figures(value).or_else(|| figures(line));
    match (key.replace('_', "-").as_str(), figures) {
        (_, Some(figures)) => figures,
        ("current-time" | "time", None) => "current-time".to_owned(),
        ("", None) => line.to_owned(),
        (key, None) => format!("{key}={value}"),
    }
}

fn figures(text: &str) -> Option<String> {
    if let Some(values) = TEXTS.tasks.match_whole(text) {
        return Some(format!("tasks({})", list(&values)));
    }
    if let Some(found) = TEXTS.context_length.find(text).filter(|found| found.start == 0) {
        return Some(format!("context-length({})", list(&found.values)));
    }
    let values = TEXTS.tool_error.match_whole(text)?;
    Some(format!("tool-error({})", list(&values)))
}

fn list(values: &[(&str, &str)]) -> String {
    let values: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    values.join(",")
}

#[cfg(test)]
mod tests {
    use cepa_core::texts::fill;

    use super::*;

    fn hint(state: &str) -> String {
        fill(texts::HINT_RUNTIME_STATE, &[("runtime_state", state)])
    }

    #[test]
    fn time_is_left_out_and_figures_stay() {
        let tasks = fill(texts::HINT_TASKS, &[("in_progress", "1"), ("pending", "2")]);
        let length = fill(texts::HINT_CONTEXT_LENGTH, &[("tokens", "151"), ("trigger", "270")]);
        let length = length + texts::HINT_CONTEXT_COMPRESS_TOOL;
        let text = hint(&format!(
            "current_time: 2026-01-02T03:04:05\ntimezone: UTC\ntasks: {tasks}\n{length}\nplace: home"
        ));
        let tag = "<<hint:runtime_state current-time; timezone=UTC; tasks(in_progress=1,pending=2); \
                   context-length(tokens=151,trigger=270); place=home>>";
        assert_eq!(read(&text).as_deref(), Some(tag));
    }

    #[test]
    fn other_texts_are_left_alone() {
        assert_eq!(read("current_time: now"), None);
    }
}
