//! The index of memories: one line for each.

use super::{
    cut::cut,
    front_matter::{FrontMatter, one_line},
    name::Name,
};

/// The most tokens of a title and of a description in a line.
const TITLE_TOKENS: usize = 20;
const DESCRIPTION_TOKENS: usize = 60;

/// The line of a memory.
pub(super) fn line(name: &Name, matter: &FrontMatter) -> String {
    let title = matter.name.as_deref().unwrap_or_else(|| name.split().1.trim_end_matches(".md"));
    // Brackets would end the link early.
    let title = cut(title, TITLE_TOKENS).replace('[', "(").replace(']', ")");
    let line = format!("- [{title}]({name})");
    match &matter.description {
        Some(description) => format!("{line} — {}", one_line(cut(description, DESCRIPTION_TOKENS))),
        None => line,
    }
}

/// The index with this line for a memory in the place of the one it had, else at the end; without any for `None`.
pub(super) fn with_line(index: &str, name: &Name, line: Option<&str>) -> String {
    let link = format!("]({name})");
    let mut line = line;
    let mut out = String::with_capacity(index.len() + 128);
    for old in index.lines() {
        if !old.contains(&link) {
            out += old;
            out.push('\n');
        } else if let Some(line) = line.take() {
            out += line;
            out.push('\n');
        }
    }
    if let Some(line) = line {
        out += line;
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_the_place_of_the_one_before() {
        let name = Name::new("b.md").unwrap();
        let index = "# Mine\n- [A](a.md)\n- [B](b.md) — old\n- [C](c.md)";
        assert_eq!(
            with_line(index, &name, Some("- [B](b.md) — new")),
            "# Mine\n- [A](a.md)\n- [B](b.md) — new\n- [C](c.md)\n"
        );
        assert_eq!(with_line(index, &name, None), "# Mine\n- [A](a.md)\n- [C](c.md)\n");
        assert_eq!(with_line("- [AB](ab.md)\n", &name, Some("- [B](b.md)")), "- [AB](ab.md)\n- [B](b.md)\n");
        assert_eq!(with_line("", &name, None), "");
    }

    #[test]
    fn a_line_is_one_line_whatever_the_memory_says() {
        let name = Name::new("a.md").unwrap();
        let matter = FrontMatter {
            name: Some("[x](y.md) {z}".repeat(100)),
            description: Some("<b> {memory_dir} ".repeat(1_000)),
            kind: None,
        };
        let line = line(&name, &matter);
        assert!(line.len() < 400 && !line.contains('\n'), "{line}");
        assert_eq!(line.matches("](").count(), 1, "{line}");
        assert_eq!(super::line(&name, &FrontMatter::default()), "- [a](a.md)");
    }
}
