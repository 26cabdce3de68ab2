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
    let (_, mut state) = *values.first()?;
    let mut entries = Vec::new();
    while let Some((key, value, rest)) = first_entry(state) {
        entries.push(in_short(key, value));
        state = rest;
    }
    // What is left is no entry, and must not get lost.
    entries.extend((!state.trim().is_empty()).then(|| state.trim().to_owned()));
    Some(format!("<<hint:runtime_state {}>>", entries.join("; ")))
}

/// Key, value and what follows of `<key>value</key>`.
fn first_entry(state: &str) -> Option<(&str, &str, &str)> {
    let (key, rest) = state.trim_start().strip_prefix('<')?.split_once('>')?;
    let (value, rest) = rest.split_once(&format!("</{key}>"))?;
    Some((key, value, rest))
}

/// The time is left out, and texts give way to their figures.
fn in_short(key: &str, value: &str) -> String {
    let figures = match key {
        "current-time" => return key.to_owned(),
        "tasks" => TEXTS.tasks.match_whole(value),
        // More may follow, such as an advice to compress now.
        "context-length" => TEXTS.context_length.find(value).map(|found| found.values),
        "tool-error" => TEXTS.tool_error.match_whole(value),
        _ => None,
    };
    match figures {
        Some(figures) => {
            let figures: Vec<_> = figures.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{key}({})", figures.join(","))
        }
        None => format!("{key}={value}"),
    }
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
        let error = fill(texts::HINT_TOOL_ERROR, &[("tool_name", "f"), ("count", "3")]);
        let text = hint(&format!(
            "<current-time>2026-01-02T03:04:05</current-time>\n<timezone>UTC</timezone>\n<tasks>{tasks}</tasks>\n\
             <context-length>{length}</context-length>\n<tool-error>{error}</tool-error>\n<place>home</place>"
        ));
        let tag = "<<hint:runtime_state current-time; timezone=UTC; tasks(in_progress=1,pending=2); \
                   context-length(tokens=151,trigger=270); tool-error(tool_name=f,count=3); place=home>>";
        assert_eq!(read(&text).as_deref(), Some(tag));
    }

    #[test]
    fn what_is_no_entry_does_not_get_lost() {
        assert_eq!(read(&hint("<a>1</a> b")).as_deref(), Some("<<hint:runtime_state a=1; b>>"));
    }

    #[test]
    fn other_texts_are_left_alone() {
        assert_eq!(read("<current-time>now</current-time>"), None);
    }
}
