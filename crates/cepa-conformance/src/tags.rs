//! Built-in texts to tags.
//!
//! Each implementation words its own hints and messages. Before two recordings are compared, every text is looked
//! up here and replaced by the tag that the case files have for it, with the values that matter inside.

mod manifest;
mod runtime_state;
mod table;
mod template;

use std::borrow::Cow;

use self::template::Template;

/// Where in a text a template is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The template is the whole text.
    Whole,
    /// The template stands somewhere in a longer text, once or several times.
    Inside,
}

/// One built-in text and its tag.
struct Rule {
    template: Template,
    /// The tag, with the names of the template's values in braces.
    tag: Template,
    place: Place,
}

/// All built-in texts and their tags.
pub(crate) struct Tags {
    rules: Vec<Rule>,
    /// For texts that no template can take apart.
    readers: Vec<fn(&str) -> Option<String>>,
}

impl std::fmt::Debug for Tags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tags").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

impl Tags {
    /// The built-in texts of Cepa.
    pub(crate) fn of_cepa() -> Self {
        let mut tags = Self { rules: Vec::new(), readers: vec![runtime_state::read, manifest::read] };
        for (tag, text) in table::WHOLE {
            tags.add(tag, text, Place::Whole);
        }
        for (tag, text) in table::INSIDE {
            tags.add(tag, text, Place::Inside);
        }
        tags
    }

    fn add(&mut self, tag: &str, text: &str, place: Place) {
        self.rules.push(Rule { template: Template::new(text), tag: Template::new(tag), place });
    }

    /// The text with tags in place of what is built in.
    pub(crate) fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let whole = self.rules.iter().filter(|rule| rule.place == Place::Whole);
        if let Some(tag) = whole.filter_map(|rule| rule.whole(text)).next() {
            return tag.into();
        }
        if let Some(tag) = self.readers.iter().find_map(|read| read(text)) {
            return tag.into();
        }
        let mut text = Cow::Borrowed(text);
        for rule in self.rules.iter().filter(|rule| rule.place == Place::Inside) {
            if let Some(replaced) = rule.inside(&text) {
                text = replaced.into();
            }
        }
        text
    }
}

impl Rule {
    fn whole(&self, text: &str) -> Option<String> {
        Some(self.tag_for(&self.template.match_whole(text)?))
    }

    fn inside(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(found) = self.template.find(rest) {
            out.push_str(&rest[..found.start]);
            out.push_str(&self.tag_for(&found.values));
            rest = &rest[found.end..];
        }
        (rest.len() != text.len()).then(|| out + rest)
    }

    fn tag_for(&self, values: &[(&str, &str)]) -> String {
        self.tag.fill(|name| {
            let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
            in_the_words_of_the_cases(name, value)
        })
    }
}

/// Values that the cases write in another way than a Rust program does.
fn in_the_words_of_the_cases(name: &str, value: &str) -> String {
    match name {
        "got" => python_type(value).to_owned(),
        "name" if value.starts_with("named ") => value.replace('`', "'"),
        _ => value.to_owned(),
    }
}

fn python_type(json: &str) -> &str {
    let json = json.trim_start_matches("an ").trim_start_matches("a ");
    match json {
        "array" => "list",
        "string" => "str",
        "object" => "dict",
        "boolean" => "bool",
        "integer" => "int",
        "number" => "float",
        "null" => "NoneType",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags() -> Tags {
        let mut tags = Tags { rules: Vec::new(), readers: Vec::new() };
        tags.add("<<tool:denied name={name}>>", "The person said no to `{name}`.", Place::Whole);
        tags.add("<<tool_error:schema name={name} path={path}>>", "`{name}`: {path}: {reason}", Place::Whole);
        tags.add("<<truncated offloaded={file}>>", "[… cut, see {file}]", Place::Inside);
        tags.add("<<truncated>>", "[… cut]", Place::Inside);
        tags
    }

    #[test]
    fn whole_text_becomes_its_tag_with_the_values_inside() {
        assert_eq!(tags().apply("The person said no to `f`."), "<<tool:denied name=f>>");
    }

    #[test]
    fn values_that_the_tag_does_not_name_are_left_out() {
        let text = "`f`: $.items[0]: 3 is not a string";
        assert_eq!(tags().apply(text), "<<tool_error:schema name=f path=$.items[0]>>");
    }

    #[test]
    fn marks_inside_a_text_are_replaced_where_they_stand() {
        assert_eq!(tags().apply("abc[… cut, see /off/1.txt]"), "abc<<truncated offloaded=/off/1.txt>>");
        assert_eq!(tags().apply("a[… cut]b[… cut]c"), "a<<truncated>>b<<truncated>>c");
    }

    #[test]
    fn names_of_images_are_quoted_as_in_the_cases() {
        use cepa_core::texts::{REMINDER_IMAGE_REMOVED, REMINDER_NAMED, fill};
        let named = fill(REMINDER_NAMED, &[("name", "a.png")]);
        let text = fill(REMINDER_IMAGE_REMOVED, &[("name", &named)]);
        assert_eq!(Tags::of_cepa().apply(&text), "<<reminder:image_removed named 'a.png' >>");
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in ["", "hello", "The person said no", "The person said no to `f`. Really."] {
            assert!(matches!(tags().apply(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn every_value_of_a_tag_is_in_its_text() {
        for (tag, text) in table::WHOLE.iter().chain(table::INSIDE) {
            let known: Vec<_> = Template::new(text).names().map(str::to_owned).collect();
            for name in Template::new(tag).names() {
                assert!(known.iter().any(|k| k == name), "{tag}: the text has no {{{name}}}: {text}");
            }
        }
    }
}
