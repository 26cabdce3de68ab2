//! The answer: the best sentences with their sources, or the word that there are none.

use super::{material::Material, rank::Ranked};

/// How well a further sentence must fit, beside the best one.
const BESIDE_THE_BEST: f64 = 0.6;
/// A question that is told again is cut to so many characters.
const LONGEST_QUESTION: usize = 120;

/// The answer of up to so many sentences.
pub(super) fn compose(material: &Material, sentences: usize) -> String {
    let ranked = material.answers();
    let Some(best) = ranked.first() else { return nothing_found(&material.question) };
    let is_near = |ranked: &&Ranked<'_>| ranked.score >= best.score * BESIDE_THE_BEST;
    let chosen = ranked.iter().filter(is_near).take(sentences);
    let lines: Vec<String> =
        chosen.map(|ranked| format!("{} ({})", ranked.passage.text, ranked.passage.source)).collect();
    lines.join("\n")
}

fn nothing_found(question: &str) -> String {
    let question = question.split_whitespace().collect::<Vec<_>>().join(" ");
    if question.is_empty() {
        return "Please ask me something in words: I look for sentences that answer it.".to_owned();
    }
    let question = match question.char_indices().nth(LONGEST_QUESTION) {
        Some((end, _)) => format!("{}…", &question[..end]),
        None => question,
    };
    format!("I am sorry, I found nothing that answers this: {question}")
}
