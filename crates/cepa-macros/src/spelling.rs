//! Which known word was meant.

/// The known word nearest to `word`, if it is near enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, found) = known.into_iter().map(|known| (distance(word, known), known)).min()?;
    (distance <= found.len() / 3 + 1).then_some(found)
}

/// How many letters must be put in, taken out or changed to get from one word to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, (&b, above)) in to.iter().zip(row.windows(2)).enumerate() {
            let changed = above[0] + usize::from(a != b);
            next.push(changed.min(above[1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("on_reply", "on_reply"), 0);
        assert_eq!(distance("on_replay", "on_reply"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }

    #[test]
    fn a_slip_is_found_and_another_word_is_not() {
        let hooks = ["on_reply", "on_model_call", "on_acting"];
        assert_eq!(nearest("on_modelcall", hooks), Some("on_model_call"));
        assert_eq!(nearest("fetch_everything", hooks), None);
    }
}
