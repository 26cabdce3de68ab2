//! The index of memories: one line for each.

use std::collections::{BTreeMap, HashSet};

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
    let line = match name.as_str() {
        name if name.contains([' ', '(', ')']) => format!("- [{title}](<{name}>)"),
        name => format!("- [{title}]({name})"),
    };
    match &matter.description {
        Some(description) => format!("{line} — {}", one_line(cut(description, DESCRIPTION_TOKENS))),
        None => line,
    }
}

/// The memories that have a line.
pub(super) fn named(index: &[u8]) -> HashSet<Name> {
    lines(index).filter_map(memory_of).collect()
}

/// The index with these lines in the place of those that the memories have, else at the end; without any for `None`. All
/// else stays as it is, to the byte.
pub(super) fn with_lines(index: &[u8], mut of: BTreeMap<Name, Option<String>>) -> Vec<u8> {
    let usual_end = lines(index).next().map(end_of).filter(|end| !end.is_empty()).unwrap_or(b"\n");
    let mut out = Vec::with_capacity(index.len() + 128 * of.len());
    for old in lines(index) {
        match memory_of(old).and_then(|name| of.get_mut(&name)) {
            None => out.extend(old),
            Some(line) => {
                if let Some(line) = line.take() {
                    out.extend(line.as_bytes());
                    out.extend(end_of(old));
                }
            }
        }
    }
    for line in of.into_values().flatten() {
        if !out.is_empty() && !out.ends_with(b"\n") {
            out.extend(usual_end);
        }
        out.extend(line.as_bytes());
        out.extend(usual_end);
    }
    out
}

/// The lines with their ends.
fn lines(index: &[u8]) -> impl Iterator<Item = &[u8]> {
    index.split_inclusive(|byte| *byte == b'\n')
}

fn end_of(line: &[u8]) -> &[u8] {
    [&b"\r\n"[..], b"\n"].into_iter().find(|end| line.ends_with(end)).unwrap_or_default()
}

/// The memory whose line this is: `- [title](name)`, with or without a dash and a description after it. A line that links
/// a memory in any other way belongs to whoever wrote it.
fn memory_of(line: &[u8]) -> Option<Name> {
    let line = String::from_utf8_lossy(line);
    let item = line.trim_start_matches('\u{feff}').trim().strip_prefix(['-', '*', '+'])?;
    let (_, target) = item.trim_start().strip_prefix('[')?.split_once("](")?;
    let (name, rest) = match target.strip_prefix('<') {
        Some(target) => target.split_once(">)")?,
        None => {
            let end = target.find(".md)")? + ".md".len();
            (&target[..end], &target[end + 1..])
        }
    };
    let rest = rest.trim_start();
    let is_its_own = rest.is_empty() || rest.starts_with(['—', '–', '-', ':']);
    is_its_own.then(|| Name::of_memory(name).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Otherwise it would be added again and again.
        #[test]
        fn the_line_of_a_memory_is_known_again_whatever_it_is_called(
            path in r"(\PC{1,8}/){0,2}\PC{1,12}(\]\(|>\)|\.md\)| )?\PC{1,4}\.md",
            title in proptest::option::of(r"\PC{1,30}"),
            description in proptest::option::of(r"\PC{1,30}"),
        ) {
            let Ok(name) = Name::of_memory(&path) else { return Ok(()) };
            let text = |text: Option<String>| text.map(|text| one_line(&text)).filter(|text| !text.is_empty());
            let matter = FrontMatter { name: text(title), description: text(description), kind: None };
            let line = line(&name, &matter);
            prop_assert_eq!(memory_of(line.as_bytes()), Some(name.clone()), "{}", line);
            let lines = || BTreeMap::from([(name.clone(), Some(line.clone()))]);
            let once = with_lines(b"# Mine", lines());
            prop_assert_eq!(with_lines(&once, lines()), once);
        }
    }

    fn set(index: &str, name: &str, line: Option<&str>) -> String {
        let lines = BTreeMap::from([(Name::new(name).unwrap(), line.map(str::to_owned))]);
        String::from_utf8(with_lines(index.as_bytes(), lines)).unwrap()
    }

    #[test]
    fn a_line_takes_the_place_of_the_one_before() {
        let index = "# Mine\n- [A](a.md)\n- [B](b.md) — old\n- [C](c.md)";
        assert_eq!(
            set(index, "b.md", Some("- [B](b.md) — new")),
            "# Mine\n- [A](a.md)\n- [B](b.md) — new\n- [C](c.md)"
        );
        assert_eq!(set(index, "b.md", None), "# Mine\n- [A](a.md)\n- [C](c.md)");
        assert_eq!(set(index, "d.md", Some("- [D](d.md)")), format!("{index}\n- [D](d.md)\n"));
        assert_eq!(set("- [AB](ab.md)\n", "b.md", Some("- [B](b.md)")), "- [AB](ab.md)\n- [B](b.md)\n");
        assert_eq!(set("", "b.md", None), "");
    }

    #[test]
    fn a_line_that_links_a_memory_in_passing_is_not_its_line() {
        for line in [
            "- [B](b.md) — see also [A](a.md)",
            "Start with [A](a.md): it is short",
            "- [A](a.md), then [C](c.md)",
            "- see [A](a.md)",
            "- [A](a.md#part)",
            "- [A](../a.md)",
        ] {
            assert_eq!(set(line, "a.md", None), line);
        }
        for line in ["* [A](a.md)", "  - [A](./a.md): who", "- [A](<a.md>) - who", "- [A [2]](a.md)\r\n"] {
            assert_eq!(set(line, "a.md", None), "", "{line}");
        }
    }

    #[test]
    fn what_is_not_changed_stays_to_the_byte() {
        let index = b"# Caf\xe9\r\n- [\xff](a.md)\r\n\r\n- [\xe9](\xe9.md)";
        let lines = BTreeMap::from([
            (Name::new("a.md").unwrap(), Some("- [AA](a.md)".to_owned())),
            (Name::new("b.md").unwrap(), Some("- [B](b.md)".to_owned())),
        ]);
        let expected = b"# Caf\xe9\r\n- [AA](a.md)\r\n\r\n- [\xe9](\xe9.md)\r\n- [B](b.md)\r\n";
        assert_eq!(with_lines(index, lines), expected);
        assert_eq!(named(expected), ["a.md", "b.md"].map(|name| Name::new(name).unwrap()).into());
    }

    #[test]
    fn a_line_is_one_line_and_names_its_memory_whatever_the_memory_says() {
        let matter = FrontMatter {
            name: Some("[x](y.md) {z}".repeat(100)),
            description: Some("<b> {memory_dir} ".repeat(1_000)),
            kind: None,
        };
        for name in ["a.md", "a b.md", "Meeting (2024) [draft].md", "x/Why?.md", "a](x).md"] {
            let name = Name::new(name).unwrap();
            for matter in [&matter, &FrontMatter::default()] {
                let line = line(&name, matter);
                assert!(line.len() < 400 && !line.contains('\n'), "{line}");
                assert_eq!(named(line.as_bytes()), HashSet::from([name.clone()]), "{line}");
            }
        }
        assert_eq!(line(&Name::new("a.md").unwrap(), &FrontMatter::default()), "- [a](a.md)");
    }
}
