//! Which passages fit a question: BM25 over sentences, and a sense of when none fits.

use std::collections::{HashMap, HashSet};

use super::{passages::Passage, words::terms};

const K1: f64 = 1.2;
/// Less than for documents: that a sentence is long says little against it.
const B: f64 = 0.4;
/// What a word in the heading or in the file's name counts, beside one in the sentence itself.
const CONTEXT_WEIGHT: f64 = 0.5;
/// How much of a word of the question is said by its context.
const SAID_BY_CONTEXT: f64 = 0.9;
/// How much of the question a sentence must be about.
const FITS: f64 = 0.51;
/// A word of the question that occurs elsewhere, but not here. One that occurs nowhere counts 1: it is what says
/// most clearly that the answer is not there.
const KNOWN_ELSEWHERE: f64 = 0.5;

/// A passage that was ranked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranked<'a> {
    pub(super) passage: &'a Passage,
    pub(super) score: f64,
    /// Whether it says enough of what was asked to be an answer.
    pub(super) fits: bool,
}

/// The passages that share a word with the question, best first.
pub(super) fn rank<'a>(question: &str, passages: &'a [Passage]) -> Vec<Ranked<'a>> {
    let query: HashSet<String> = terms(question).into_iter().collect();
    if query.is_empty() || passages.is_empty() {
        return Vec::new();
    }
    let entries: Vec<Entry> = passages.iter().map(|passage| Entry::new(passage, &query)).collect();
    let count = entries.len() as f64;
    let average = entries.iter().map(|entry| entry.length).sum::<f64>() / count;
    // In how many sentences a word occurs; of one that only headings have, in how many under them.
    let occurrences = |term: &String| {
        let own = entries.iter().filter(|entry| entry.own.contains(term)).count();
        let with_context = || entries.iter().filter(|entry| entry.weights.contains_key(term)).count();
        (if own > 0 { own } else { with_context() }) as f64
    };
    let known: HashMap<&str, f64> = query.iter().map(|term| (term.as_str(), occurrences(term))).collect();

    let mut ranked: Vec<Ranked<'_>> = Vec::new();
    for (entry, passage) in entries.iter().zip(passages) {
        let (mut score, mut said, mut asked) = (0.0, 0.0, 0.0);
        for (term, found) in &known {
            let Some(weight) = entry.weights.get(*term) else {
                asked += if *found > 0.0 { KNOWN_ELSEWHERE } else { 1.0 };
                continue;
            };
            let idf = (1.0 + (count - found + 0.5) / (found + 0.5)).ln();
            let norm = K1 * (1.0 - B + B * entry.length / average.max(1.0));
            score += idf * weight * (K1 + 1.0) / (weight + norm);
            said += if entry.own.contains(*term) { 1.0 } else { SAID_BY_CONTEXT };
            asked += 1.0;
        }
        if score > 0.0 && !entry.own.is_empty() {
            let coverage = said / asked;
            ranked.push(Ranked { passage, score: score * coverage * coverage, fits: coverage >= FITS });
        }
    }
    // Stable: of equals the earlier one.
    ranked.sort_by(|a, b| b.fits.cmp(&a.fits).then(b.score.total_cmp(&a.score)));
    ranked
}

struct Entry {
    length: f64,
    /// Terms of the question with their weight here.
    weights: HashMap<String, f64>,
    /// Those in the sentence itself.
    own: HashSet<String>,
}

impl Entry {
    fn new(passage: &Passage, query: &HashSet<String>) -> Self {
        let all = terms(&passage.text);
        let length = all.len() as f64;
        let mut weights = HashMap::new();
        let mut own = HashSet::new();
        for term in all.into_iter().filter(|term| query.contains(term)) {
            *weights.entry(term.clone()).or_default() += 1.0;
            own.insert(term);
        }
        for term in terms(&passage.context).into_iter().filter(|term| query.contains(term)) {
            let weight = weights.entry(term).or_default();
            if *weight < 1.0 {
                *weight = CONTEXT_WEIGHT;
            }
        }
        Self { length, weights, own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(question: &str, sentences: &[&str]) -> Option<String> {
        let passages: Vec<_> = sentences.iter().map(|text| Passage::new(*text, "a.md")).collect();
        let first = rank(question, &passages).first().copied()?;
        first.fits.then(|| first.passage.text.clone())
    }

    const FACTS: &[&str] = &[
        "The pump is painted blue and weighs 12 kg.",
        "The warranty of the pump ends after 24 months.",
        "Capital expenditure is planned each spring.",
        "Ada Lovelace maintains the parser.",
        "水泵的保修期为两年。",
        "水泵每小时可抽五吨水。",
    ];

    #[test]
    fn finds_the_sentence_that_answers() {
        assert_eq!(best("When does the pump's warranty end?", FACTS).as_deref(), Some(FACTS[1]));
        assert_eq!(
            best("How heavy is the pump, how much does the pump weigh?", FACTS).as_deref(),
            Some(FACTS[0])
        );
        assert_eq!(best("Who is the maintainer of the parser?", FACTS).as_deref(), Some(FACTS[3]));
        assert_eq!(best("水泵的保修期是多久？", FACTS).as_deref(), Some(FACTS[4]));
    }

    #[test]
    fn says_when_nothing_answers() {
        assert_eq!(best("What is the capital of Mongolia?", FACTS), None);
        assert_eq!(best("Which colour has the submarine periscope?", FACTS), None);
        assert_eq!(best("谁发明了电话？", FACTS), None);
        assert_eq!(best("?", FACTS), None);
        assert_eq!(best("warranty", &[]), None);
    }

    #[test]
    fn headings_and_file_names_tell_what_a_sentence_is_about() {
        let mut x100 = Passage::new("Weight: 12 kg", "x100.md");
        x100.context = "x100.md Technical data".into();
        let mut x200 = Passage::new("Weight: 15 kg", "x200.md");
        x200.context = "x200.md Technical data".into();
        let passages = [x100, x200];
        assert_eq!(rank("weight of the X200", &passages)[0].passage.text, "Weight: 15 kg");
    }
}
