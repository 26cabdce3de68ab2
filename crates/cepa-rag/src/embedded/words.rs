//! [`words`]: the words of a text, as they are looked for.

use std::{collections::HashMap, mem};

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Longer ones are cut: no word that somebody looks for, but a line of encoded bytes.
const LONGEST: usize = 64;

/// How often each word occurs.
///
/// Words are runs of letters and digits, in lower case and normalised (NFKC: an umlaut is one however it was written).
/// Where words are not kept apart in writing (Chinese, Japanese, Thai) and in Korean, each two neighbouring characters
/// are a word, as search engines do it.
pub(super) fn words(text: &str) -> HashMap<String, u32> {
    let mut words = HashMap::new();
    let (mut word, mut run) = (String::new(), Vec::new());
    for letter in text.nfkc().flat_map(char::to_lowercase) {
        if is_unspaced(letter) {
            count(&mut words, &mut word);
            run.push(letter);
            continue;
        }
        pairs(&mut words, &mut run);
        if !(letter.is_alphanumeric() || is_combining_mark(letter)) {
            count(&mut words, &mut word);
        } else if word.len() < LONGEST {
            word.push(letter);
        }
    }
    pairs(&mut words, &mut run);
    count(&mut words, &mut word);
    words
}

fn count(words: &mut HashMap<String, u32>, word: &mut String) {
    if !word.is_empty() {
        *words.entry(mem::take(word)).or_default() += 1;
    }
}

fn pairs(words: &mut HashMap<String, u32>, run: &mut Vec<char>) {
    match run[..] {
        [] => return,
        [single] => count(words, &mut single.into()),
        _ => run.windows(2).for_each(|pair| count(words, &mut pair.iter().collect())),
    }
    run.clear();
}

/// Of a script that writes words without spaces, or of Korean.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' // Thai, Lao
        | '\u{1000}'..='\u{109F}' // Burmese
        | '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7AF}' // Hangul
        | '\u{1780}'..='\u{17FF}' // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}' // Kana
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' // Han
    )
}
