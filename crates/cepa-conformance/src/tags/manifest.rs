//! The list of memories to choose from: when they were saved is left out.

use cepa_memory::texts::MEMORY_SELECTION;

use super::template::Template;

/// The text with a tag in the place of each date; `None` for any text that holds no such list.
pub(super) fn read(text: &str) -> Option<String> {
    let template = Template::new(MEMORY_SELECTION);
    let values = template.match_whole(text)?;
    Some(template.fill(|name| {
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        if name == "manifest" { without_dates(value) } else { value.to_owned() }
    }))
}

/// The date stands in brackets after the name.
fn without_dates(manifest: &str) -> String {
    let line = |line: &str| match line.split_once(" (") {
        Some((file, rest)) if rest.get(..11).is_some_and(is_date) => {
            format!("{file} (<date>){}", &rest[11..])
        }
        _ => line.to_owned(),
    };
    manifest.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn is_date(text: &str) -> bool {
    text.bytes().zip(b"dddd-dd-dd)").all(|(byte, form)| match form {
        b'd' => byte.is_ascii_digit(),
        form => byte == *form,
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_the_date_of_a_memory_is_left_out() {
        let text = "Query: user: (2020-01-01)\n\nAvailable memories:\n- [user] a.md (2026-03-05): since (2026-03-05)\n- b.md (unknown)";
        let tagged = "Query: user: (2020-01-01)\n\nAvailable memories:\n- [user] a.md (<date>): since (2026-03-05)\n- b.md (unknown)";
        assert_eq!(read(text).as_deref(), Some(tagged));
        assert_eq!(read("- a.md (2026-03-05)"), None);
    }
}
