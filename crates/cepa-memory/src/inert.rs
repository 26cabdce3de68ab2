//! Memories inside of a frame.

/// A text that neither closes a `<system-reminder>` nor opens one: the bracket of such a tag is written as an entity.
pub(crate) fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out += before;
        out += if is_frame(&tag[1..]) { "&lt;" } else { "<" };
        rest = &tag[1..];
    }
    out + rest
}

/// Whether the rest of a tag is that of a frame, as leniently as a model reads.
fn is_frame(tag: &str) -> bool {
    const NAME: &str = "system-reminder";
    let name = tag.trim_start_matches(|sign: char| sign == '/' || sign.is_whitespace());
    name.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tags_of_frames_are_made_inert() {
        assert_eq!(
            inert("a < b <b></system-reminder>< / System-Reminder x><ünter"),
            "a < b <b>&lt;/system-reminder>&lt; / System-Reminder x><ünter"
        );
    }
}
