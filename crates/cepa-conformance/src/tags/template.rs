//! Templates with `{name}` placeholders, matched in reverse.

/// A text with named gaps.
#[derive(Debug)]
pub(super) struct Template {
    /// Text before the first gap.
    head: String,
    /// Each gap's name and the text after it.
    gaps: Vec<(String, String)>,
}

/// Where a template was found in a text.
#[derive(Debug)]
pub(super) struct Found<'t, 's> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) values: Vec<(&'t str, &'s str)>,
}

impl Template {
    /// Reads `{name}` (lower-case letters, digits and underscores) as a gap; any other brace is text.
    pub(super) fn new(text: &str) -> Self {
        let mut template = Self { head: String::new(), gaps: Vec::new() };
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let name = rest[open + 1..].split('}').next().unwrap_or_default();
            let end = open + 1 + name.len();
            if is_name(name) && rest[end..].starts_with('}') {
                template.literal().push_str(&rest[..open]);
                template.gaps.push((name.to_owned(), String::new()));
                rest = &rest[end + 1..];
            } else {
                template.literal().push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
        template.literal().push_str(rest);
        template
    }

    /// The text that is being read.
    fn literal(&mut self) -> &mut String {
        match self.gaps.last_mut() {
            Some((_, after)) => after,
            None => &mut self.head,
        }
    }

    /// The names of the gaps, in order.
    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.gaps.iter().map(|(name, _)| name.as_str())
    }

    /// The text with the gaps filled.
    pub(super) fn fill(&self, value: impl Fn(&str) -> String) -> String {
        let mut out = self.head.clone();
        for (name, after) in &self.gaps {
            out.push_str(&value(name));
            out.push_str(after);
        }
        out
    }

    /// The values of the gaps, if this is the whole of the text. A gap takes as little as it can; the last one goes
    /// up to the text's end.
    pub(super) fn match_whole<'t, 's>(&'t self, text: &'s str) -> Option<Vec<(&'t str, &'s str)>> {
        let mut rest = text.strip_prefix(self.head.as_str())?;
        let Some(((last, tail), inner)) = self.gaps.split_last() else {
            return rest.is_empty().then(Vec::new);
        };
        let mut values = Vec::with_capacity(self.gaps.len());
        for (name, after) in inner {
            let at = rest.find(after.as_str())?;
            values.push((name.as_str(), &rest[..at]));
            rest = &rest[at + after.len()..];
        }
        values.push((last.as_str(), rest.strip_suffix(tail.as_str())?));
        Some(values)
    }

    /// The first place in the text where this stands. An empty template stands nowhere.
    pub(super) fn find<'t, 's>(&'t self, text: &'s str) -> Option<Found<'t, 's>> {
        if self.head.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(at) = text[from..].find(self.head.as_str()) {
            let start = from + at;
            if let Some((end, values)) = self.match_from(text, start + self.head.len()) {
                return Some(Found { start, end, values });
            }
            from = start + self.head.len();
        }
        None
    }

    fn match_from<'t, 's>(
        &'t self,
        text: &'s str,
        mut at: usize,
    ) -> Option<(usize, Vec<(&'t str, &'s str)>)> {
        let mut values = Vec::with_capacity(self.gaps.len());
        for (name, after) in &self.gaps {
            let length = if after.is_empty() { text.len() - at } else { text[at..].find(after.as_str())? };
            values.push((name.as_str(), &text[at..at + length]));
            at += length + after.len();
        }
        Some((at, values))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_and_put_back() {
        let template = Template::new("Tool `{name}` of {group}: {text}");
        let text = "Tool `f` of extra: on: {x}";
        let values = template.match_whole(text).unwrap();
        assert_eq!(values, [("name", "f"), ("group", "extra"), ("text", "on: {x}")]);
        let filled = template.fill(|name| values.iter().find(|(n, _)| *n == name).unwrap().1.to_owned());
        assert_eq!(filled, text);
    }

    #[test]
    fn braces_without_a_name_are_text() {
        let template = Template::new(r#"{"a": {}} {x}"#);
        assert_eq!(template.match_whole(r#"{"a": {}} 5"#).unwrap(), [("x", "5")]);
        assert_eq!(Template::new("a{").match_whole("a{"), Some(vec![]));
    }

    #[test]
    fn text_that_goes_on_is_no_match() {
        let template = Template::new("budget is spent");
        assert!(template.match_whole("budget is spent!").is_none());
        assert!(template.match_whole("budget is").is_none());
    }

    #[test]
    fn a_head_that_leads_nowhere_does_not_hide_a_later_place() {
        let template = Template::new("[cut {n}]");
        let found = template.find("[cut [cut 3] x").unwrap();
        assert_eq!(found.values, [("n", "[cut 3")]);
        assert!(template.find("[cut 3").is_none());
    }
}
