//! Cutting a long text into chunks.

use std::hint::black_box;

use cepa_core::TextBlock;
use cepa_rag::{Chunker, Section, TokenChunker};

use crate::{
    Figure, Goal,
    clock::cpu_ns,
    samples::{By, Samples},
};

const BYTES: usize = 8 << 20;
const ROUNDS: usize = 15;

/// How many megabytes of prose one thread cuts in a second.
pub(crate) fn chunk_mb_s() -> Figure {
    let text = prose();
    let megabytes = text.len() as f64 / 1e6;
    let chunker = TokenChunker::default();
    let mut seconds = Samples::default();
    for _ in 0..ROUNDS {
        let sections = vec![Section::new("prose.txt", TextBlock::new(text.clone()))];
        let (ns, _) = cpu_ns(|| black_box(chunker.chunk(black_box(sections))));
        seconds.add(ns / 1e9);
    }
    Figure {
        name: "chunk_mb_s",
        goal: Some(Goal::AtLeast(50.0)),
        best: megabytes / seconds.by(By::Minimum),
        median: Some(megabytes / seconds.by(By::Median)),
    }
}

/// Sentences of words, in paragraphs and lines, the same in every run.
fn prose() -> String {
    const WORDS: [&str; 12] = [
        "onion", "the", "layers", "of", "einer", "Zwiebel", "are", "peeled", "one", "after", "another",
        "größer",
    ];
    let (mut text, mut number) = (String::with_capacity(BYTES + 64), 42_u64);
    let mut words = 0_u32;
    while text.len() < BYTES {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(number >> 33) as usize % WORDS.len()]);
        words += 1;
        text.push_str(match (words % 150, words % 14, words % 17) {
            (0, ..) => ".\n\n",
            (_, 0, _) => ". ",
            (_, _, 0) => "\n",
            _ => " ",
        });
    }
    text
}
