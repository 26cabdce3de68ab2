//! What [`TokenChunker`] makes of texts: by example, and whatever the text.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use cepa_core::{DataBlock, OutputBlock, Source, TextBlock};
use cepa_rag::{Chunk, Chunker, Position, RagError, Section, SectionKind, TokenChunker};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

fn chunker(max_tokens: usize, overlap: usize) -> TokenChunker {
    TokenChunker::builder().max_tokens(max_tokens).overlap(overlap).build().unwrap()
}

fn section(text: &str, kind: SectionKind) -> Section {
    Section::new("file", TextBlock::new(text)).with_kind(kind)
}

fn chunk(chunker: &TokenChunker, text: &str, kind: SectionKind) -> Vec<Chunk> {
    chunker.chunk(vec![section(text, kind)])
}

fn texts(chunks: &[Chunk]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk.text().unwrap()).collect()
}

fn positions(chunks: &[Chunk]) -> Vec<String> {
    chunks.iter().map(|chunk| chunk.position.to_string()).collect()
}

/// As `cepa_core::estimate_tokens` does.
fn tokens(text: &str) -> usize {
    (text.len() + 2) / 4
}

#[test]
fn a_short_text_is_one_chunk() {
    let chunks = chunk(&TokenChunker::default(), "\n\nOne line.\nAnd one more.\n\n", SectionKind::Prose);
    assert_eq!(texts(&chunks), ["One line.\nAnd one more."]);
    assert_eq!(positions(&chunks), ["lines 3-4"]);
    assert_eq!((chunks[0].chunk_index, chunks[0].total_chunks), (0, 1));
}

#[test]
fn a_text_of_white_space_has_no_chunks() {
    for kind in
        [SectionKind::Prose, SectionKind::Markdown, SectionKind::Code("rs".into()), SectionKind::Table]
    {
        assert_eq!(chunk(&chunker(1, 0), "", kind.clone()), []);
        assert_eq!(chunk(&chunker(1, 0), &" \n\t\r\n\u{3000}".repeat(50), kind), []);
    }
}

#[test]
fn prose_is_cut_at_the_best_end() {
    let text = "A bee flies. It hums a lot.\n\nA wasp stings.";
    assert_eq!(
        texts(&chunk(&chunker(8, 0), text, SectionKind::Prose)),
        ["A bee flies. It hums a lot.", "A wasp stings."]
    );
    assert_eq!(
        texts(&chunk(&chunker(5, 0), "The bees fly. They hum.", SectionKind::Prose)),
        ["The bees fly.", "They hum."]
    );
    assert_eq!(
        texts(&chunk(&chunker(3, 0), "bees hum\nlouder now", SectionKind::Prose)),
        ["bees hum", "louder now"]
    );
    assert_eq!(
        texts(&chunk(&chunker(8, 0), "蜜蜂在花间飞舞。它们很忙。", SectionKind::Prose)),
        ["蜜蜂在花间飞舞。", "它们很忙。"]
    );
}

#[test]
fn a_chunk_repeats_the_end_of_the_one_before() {
    let text = "One bee flew. Two bees hummed. Three bees slept. Four bees danced.";
    let chunks = chunk(&chunker(9, 4), text, SectionKind::Prose);
    assert_eq!(
        texts(&chunks),
        ["One bee flew. Two bees hummed.", "bees hummed. Three bees slept.", "bees slept. Four bees danced."]
    );
    let chunks = chunk(&chunker(12, 5), text, SectionKind::Prose);
    assert_eq!(texts(&chunks)[1], "Three bees slept. Four bees danced.");
}

#[test]
fn markdown_is_cut_at_headings_and_names_them() {
    let text = "\
---
title: not a heading
---
Before any heading there is a line.

# Bees #

## Honey bees

They live in hives, and they make honey.

```sh
# no heading

ls
```

Wild bees
---------

Most live alone, in the ground or in wood.

### In C#

Text.

# Wasps
";
    let chunks = chunk(&chunker(25, 0), text, SectionKind::Markdown);
    assert_eq!(
        positions(&chunks),
        [
            "lines 1-4",
            "Bees > Honey bees, lines 6-16",
            "Bees > Wild bees, lines 18-21",
            "Bees > Wild bees > In C#, lines 23-25",
            "Wasps, line 27",
        ]
    );
    assert_eq!(
        chunks[1].text().unwrap(),
        "# Bees #\n\n## Honey bees\n\nThey live in hives, and they make honey.\n\n```sh\n# no heading\n\nls\n```"
    );
}

#[test]
fn a_heading_is_with_its_text_however_long_that_is() {
    let text = format!("# Top\n\n## Long\n\n{}", "Words and words. ".repeat(40));
    let chunks = chunk(&chunker(30, 5), &text, SectionKind::Markdown);
    assert!(chunks[0].text().unwrap().starts_with("# Top\n\n## Long\n\nWords"), "{chunks:?}");
    assert!(chunks.len() > 4);
    assert!(chunks.iter().all(|chunk| chunk.position.headings == ["Top", "Long"]));
}

#[test]
fn headings_of_the_section_stand_above_those_of_its_text() {
    let mut position = Position::new().with_lines(11, 12);
    position.headings = vec!["Book".into()];
    let section = section("# Chapter\ntext", SectionKind::Markdown).with_position(position);
    assert_eq!(positions(&chunker(50, 0).chunk(vec![section])), ["Book > Chapter, lines 11-12"]);
}

#[test]
fn code_is_cut_before_its_items() {
    let text = "\
use std::fmt;

/// Adds.
fn add(a: u32, b: u32) -> u32 {
    let sum = a + b;

    sum
}

/// Subtracts.
#[inline]
fn sub(a: u32, b: u32) -> u32 {
    a - b
}
";
    let chunks = chunk(&chunker(28, 0), text, SectionKind::Code("rs".into()));
    assert_eq!(positions(&chunks), ["lines 1-8", "lines 10-14"]);
    assert!(chunks[1].text().unwrap().starts_with("/// Subtracts.\n#[inline]"));
    // within an item, lines keep their indentation
    let chunks = chunk(&chunker(8, 0), text, SectionKind::Code("rs".into()));
    assert!(texts(&chunks).contains(&"    let sum = a + b;\n\n    sum\n}"), "{:?}", texts(&chunks));
}

#[test]
fn tables_are_cut_between_rows_below_their_header() {
    let text = "name,legs\nbee,6\nspider,8\n\ncat,4\nant,6\n";
    let chunks = chunk(&chunker(7, 3), text, SectionKind::Table);
    assert_eq!(texts(&chunks), ["name,legs\nbee,6\nspider,8", "name,legs\ncat,4\nant,6"]);
    assert_eq!(positions(&chunks), ["lines 1-3", "lines 5-6"]);
}

#[test]
fn data_passes_as_it_is() {
    let image = OutputBlock::from(DataBlock::new(Source::base64("iVBORw0KGgo=", "image/png")));
    let sections = vec![section("text", SectionKind::Prose), Section::new("a.png", image.clone())];
    let chunks = TokenChunker::default().chunk(sections);
    assert_eq!(chunks[1].content, image);
    assert_eq!((chunks[1].chunk_index, chunks[1].total_chunks), (1, 2));
}

#[test]
fn no_chunk_has_text_of_two_sections() {
    let mut page = Position::new();
    page.page = Some(2);
    let sections =
        vec![section("one", SectionKind::Prose), section("two", SectionKind::Prose).with_position(page)];
    let chunks = TokenChunker::default().chunk(sections);
    assert_eq!(texts(&chunks), ["one", "two"]);
    assert_eq!(positions(&chunks), ["line 1", "page 2, line 1"]);
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let error = TokenChunker::builder().max_tokens(0).overlap(0).build().unwrap_err();
    assert!(matches!(error, RagError::Settings(_)));
    let error = TokenChunker::builder().max_tokens(100).overlap(51).build().unwrap_err();
    assert_eq!(error.to_string(), "chunks of 100 tokens cannot overlap by 51: set `overlap` to 50 or less");
}

#[test]
fn large_texts_of_every_shape_take_little_time() {
    let line = "Bees hum in the lime trees, all day long, and nobody counts them. ";
    let kinds =
        [SectionKind::Prose, SectionKind::Markdown, SectionKind::Code("py".into()), SectionKind::Table];
    let shapes = [
        format!("{line}\n").repeat(100_000),
        "x".repeat(6_000_000),
        "蜂".repeat(2_000_000),
        "👩‍👩‍👧‍👦".repeat(200_000),
        "🇦".repeat(1_000_000),
        format!("a{}", "\u{301}".repeat(2_000_000)),
        "\n".repeat(2_000_000),
        " ".repeat(2_000_000),
        "#\n".repeat(1_000_000),
        "- \n\n".repeat(500_000),
        "```\n".repeat(500_000),
        "a\n=\n".repeat(400_000),
    ];
    for kind in kinds {
        for text in &shapes {
            let begin = std::time::Instant::now();
            let chunks = chunk(&TokenChunker::default(), text, kind.clone());
            // a lot, for machines that are busy with other things
            let took = begin.elapsed();
            println!("{kind:?} {:?}: {took:?}, {} chunks", text.chars().next(), chunks.len());
            assert!(took.as_secs() < 10, "{kind:?} {:?}: {took:?}", text.chars().next());
        }
    }
}

/// Texts with all that makes cutting hard.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => "[a-z]{1,9} ".prop_map(|word| word),
        2 => Just("end. ".to_owned()),
        2 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        1 => "#{1,7} [a-c] ?#?\n".prop_map(|heading| heading),
        1 => Just("```\n".to_owned()),
        1 => Just("---\n".to_owned()),
        1 => Just("    ".to_owned()),
        1 => Just("蜜蜂。花、".to_owned()),
        1 => Just("👩‍👩‍👧‍👦".to_owned()),
        1 => Just("🇦🇹🇫".to_owned()),
        1 => Just("e\u{301}\u{300}".to_owned()),
        1 => Just(" \u{301}".to_owned()),
        1 => Just("\u{600} ".to_owned()),
        1 => Just("क्षि".to_owned()),
        1 => Just("\u{feff}\u{2028}\u{85}\u{a0}".to_owned()),
        1 => "\\PC{1,40}".prop_map(|any| any),
    ];
    proptest::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

fn kind() -> impl Strategy<Value = SectionKind> {
    prop_oneof![
        2 => Just(SectionKind::Prose),
        2 => Just(SectionKind::Markdown),
        1 => Just(SectionKind::Code("rs".into())),
    ]
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The lines a chunk says it is in.
fn lines<'a>(text: &'a str, chunk: &Chunk) -> &'a str {
    let (first, last) = chunk.position.lines.unwrap();
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let end = starts.get(last as usize).copied().unwrap_or(text.len());
    &text[starts[first as usize - 1]..end]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_split(text in text(), kind in kind(), max_tokens in 1_usize..40) {
        let chunks = chunk(&chunker(max_tokens, 0), &text, kind);
        let all: String = chunks.iter().map(|chunk| chunk.text().unwrap()).collect();
        prop_assert_eq!(without_spaces(&all), without_spaces(&text));

        let mut boundaries: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
        boundaries.push(text.len());
        let mut at = 0;
        for chunk in texts(&chunks) {
            let start = at + text[at..].find(chunk).unwrap();
            at = start + chunk.len();
            prop_assert!(boundaries.binary_search(&start).is_ok(), "{:?} begins within a character", chunk);
            prop_assert!(boundaries.binary_search(&at).is_ok(), "{:?} ends within a character", chunk);
        }
    }

    #[test]
    fn chunks_keep_to_the_limit_and_their_lines(text in text(), kind in kind(), max_tokens in 1_usize..40, overlap in 0_usize..20) {
        let chunks = chunk(&chunker(max_tokens, overlap.min(max_tokens / 2)), &text, kind);
        for (index, chunk) in chunks.iter().enumerate() {
            let content = chunk.text().unwrap();
            prop_assert!(!content.trim().is_empty());
            prop_assert!(tokens(content) <= max_tokens || content.graphemes(true).count() == 1, "{:?}", content);
            prop_assert!(lines(&text, chunk).contains(content), "{:?} is not in {:?}", content, chunk.position);
            prop_assert_eq!((chunk.chunk_index as usize, chunk.total_chunks as usize), (index, chunks.len()));
        }
        let all: String = chunks.iter().map(|chunk| chunk.text().unwrap()).collect();
        for word in text.split_whitespace().filter(|word| word.len() <= 2) {
            prop_assert!(all.contains(word));
        }
    }

    #[test]
    fn rows_stay_in_their_lines(rows in proptest::collection::vec("[a-z,]{0,30}", 1..40), max_tokens in 4_usize..40) {
        let text = rows.join("\n");
        let chunks = chunk(&chunker(max_tokens, 1), &text, SectionKind::Table);
        let mut found = String::new();
        for (index, chunk) in chunks.iter().enumerate() {
            let content = chunk.text().unwrap();
            prop_assert!(tokens(content) <= max_tokens);
            let place = lines(&text, chunk);
            let header = rows.iter().find(|row| !row.is_empty()).unwrap();
            let own = match content.strip_prefix(&format!("{header}\n")) {
                Some(own) if index > 0 && header.len() * 2 <= max_tokens * 4 + 1 => own,
                _ => content,
            };
            for row in own.lines() {
                prop_assert!(place.contains(row), "{:?} is not in {:?}", row, place);
            }
            found.push_str(own);
        }
        prop_assert_eq!(without_spaces(&found), without_spaces(&text));
    }
}
