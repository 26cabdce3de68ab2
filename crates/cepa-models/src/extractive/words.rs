//! From text to the terms by which texts are compared.

use std::{collections::HashSet, sync::LazyLock};

/// Words that say nothing about what is asked.
static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a about after all also am an and any are as at be been before but by can could did do does \
    doing each ever far few find for from get give had happen happens has have having he her here his how i if in into is it its \
    just know let like long look many may me more most much must my need no not of off often on once only or other \
    our out over per please s say says shall she should show so some such t tell than that the their them then there \
    these they this those through to too under up us use very want was way we were what when where which while who \
    whom whose why will with would yes you your explain"
        .split_whitespace()
        .collect()
});

/// Pairs of Chinese characters that say nothing about what is asked.
const STOP_PAIRS: &[&str] = &[
    "什么", "怎么", "如何", "多少", "哪里", "哪个", "哪些", "为什", "是否", "请问", "是什", "么时", "时候",
    "多久", "是多", "有什", "有多", "这个", "那个", "我们", "你们", "他们", "可以",
];

/// A term is cut to so many characters, so that `configure` and `configuration` meet.
const LONGEST_TERM: usize = 7;

/// A word as it is written, with its term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) term: String,
}

/// The terms of a text: words in lower case, without stop words, cut down to their stems; of scripts that are
/// written without spaces, pairs of characters.
pub(super) fn terms(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.term).collect()
}

/// The words of a text that say something.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let unspaced = rest.starts_with(is_unspaced);
        let end =
            rest.find(|c: char| !c.is_alphanumeric() || is_unspaced(c) != unspaced).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if unspaced {
            pairs(run, &mut words);
        } else {
            word(run, &mut words);
        }
        rest = after;
    }
    words
}

fn word<'a>(text: &'a str, words: &mut Vec<Word<'a>>) {
    let lower = text.to_lowercase();
    if !STOP_WORDS.contains(lower.as_str()) {
        words.push(Word { text, term: stem(lower) });
    }
}

fn pairs<'a>(run: &'a str, words: &mut Vec<Word<'a>>) {
    let starts: Vec<usize> = run.char_indices().map(|(start, _)| start).chain([run.len()]).collect();
    let length = if starts.len() == 2 { 1 } else { 2 }; // a lone character is its own term
    for ends in starts.windows(length + 1) {
        let text = &run[ends[0]..ends[length]];
        if !STOP_PAIRS.contains(&text) {
            words.push(Word { text, term: text.to_owned() });
        }
    }
}

/// Chinese, Japanese and Korean characters.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2fa1f}')
}

/// Cuts the commonest English endings, and long words.
fn stem(mut word: String) -> String {
    if word.is_ascii() && !word.bytes().any(|byte| byte.is_ascii_digit()) {
        for (ending, instead) in
            [("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", "")]
        {
            let Some(rest) = word.strip_suffix(ending) else { continue };
            if rest.len() >= 3 && !(ending == "s" && rest.ends_with('s')) {
                word = format!("{rest}{instead}");
                let bytes = word.as_bytes();
                if let [.., before, last] = bytes
                    && before == last
                    && matches!(ending, "ing" | "ed")
                    && !matches!(last, b's' | b'l')
                {
                    word.pop(); // running, run
                }
            }
            break;
        }
        if word.len() > 3 && word.ends_with('e') {
            word.pop(); // cache, caching
        }
    }
    if let Some((end, _)) = word.char_indices().nth(LONGEST_TERM) {
        word.truncate(end);
    }
    word
}

/// A text in pieces as a model would stream it: words with the space after them, single characters of scripts
/// without spaces.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (position, c) in text.char_indices() {
        if c.is_whitespace() || is_unspaced(c) {
            let end = position + c.len_utf8();
            pieces.push(&text[start..end]);
            start = end;
        }
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_term() {
        for forms in [
            &["cache", "caches", "cached", "caching"][..],
            &["run", "runs", "running"],
            &["battery", "batteries"],
            &["configure", "configures", "configuration"],
            &["maintain", "maintainer", "maintained"],
            &["class", "classes"],
        ] {
            let terms: Vec<_> = forms.iter().map(|form| terms(form)).collect();
            assert!(terms.windows(2).all(|pair| pair[0] == pair[1]), "{forms:?}: {terms:?}");
        }
        assert_ne!(terms("X200"), terms("X300"));
    }

    #[test]
    fn questions_are_reduced_to_what_they_are_about() {
        assert_eq!(terms("What is the capital of Mongolia?"), ["capital", "mongoli"]);
        assert_eq!(terms("How long does it take?"), ["tak"]);
        assert_eq!(terms("max_retries: 3"), ["max", "retry", "3"]);
    }

    #[test]
    fn chinese_is_compared_by_pairs() {
        assert_eq!(terms("保修期是多久？"), ["保修", "修期", "期是"]);
        assert_eq!(terms("A型泵 水"), ["型泵", "水"]);
    }

    #[test]
    fn pieces_add_up_to_the_text() {
        let text = "Two words,\n保修期 end";
        assert_eq!(pieces(text).concat(), text);
        assert_eq!(pieces(text), ["Two ", "words,\n", "保", "修", "期", " ", "end"]);
        assert!(pieces("").is_empty());
    }
}
