//! What the parsers make of files that are text, tables and pictures, and how the right parser is found.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/files.rs"]
mod files;

use std::sync::Arc;

use cepa_core::{OutputBlock, TextBlock};
use cepa_rag::{Chunker, File, Parsed, Parser, Parsers, RagError, Section, SectionKind, TokenChunker};
use files::{document, error, noise, parse, text};
use proptest::prelude::*;

#[test]
fn texts_of_each_encoding_are_the_same() {
    let utf16 = |unit: fn(u16) -> [u8; 2], mark: [u8; 2]| {
        [&mark[..], &"Grüße 🐝\n".encode_utf16().flat_map(unit).collect::<Vec<u8>>()].concat()
    };
    let encodings = [
        "Grüße 🐝\n".as_bytes().to_vec(),
        "\u{feff}Grüße 🐝\n".as_bytes().to_vec(),
        utf16(u16::to_le_bytes, [0xFF, 0xFE]),
        utf16(u16::to_be_bytes, [0xFE, 0xFF]),
    ];
    for bytes in encodings {
        let parsed = parse("a.txt", bytes).unwrap();
        assert_eq!(text(&parsed.sections[0]), "Grüße 🐝\n");
        assert_eq!(parsed.sections[0].position.to_string(), "line 1");
    }
}

#[test]
fn what_is_no_text_is_refused() {
    assert_eq!(
        error("latin.txt", b"one\ntwo\nGr\xfc\xdfe".to_vec()),
        "latin.txt, line 3, cannot be read: it is not text in UTF-8; save the file in UTF-8, if it is text"
    );
    for name in ["noise.txt", "noise.md", "noise.csv", "noise.rs", "noise"] {
        assert_eq!(
            error(name, noise(100_000)),
            format!("{name} cannot be read: it is no text: there are zero bytes in it")
        );
    }
    assert!(error("a.txt", b"\xff\xfea\0b".to_vec()).contains("goes on as something else"));
    assert!(error("a.txt", b"valid\0but no text".to_vec()).contains("zero bytes"));
    assert!(error("a.png", noise(1000)).contains("PNG"));
}

#[test]
fn an_empty_file_has_no_sections() {
    for name in ["a.txt", "a.md", "a.csv", "a.py", "LICENSE"] {
        assert!(parse(name, "\n \n").unwrap().sections.is_empty());
    }
}

#[test]
fn files_are_cut_as_their_endings_say() {
    let kind = |name: &str| parse(name, "x").unwrap().sections[0].kind.clone();
    assert_eq!(kind("a.txt"), SectionKind::Prose);
    assert_eq!(kind("LICENSE"), SectionKind::Prose);
    assert_eq!(kind("dir.d/README.MD"), SectionKind::Markdown);
    assert_eq!(kind("a.RS"), SectionKind::Code("rs".into()));
    assert_eq!(kind("a.tsv"), SectionKind::Table);
}

#[test]
fn unknown_endings_are_refused_by_name() {
    let message = error("song.mp3", "la la");
    assert!(
        message.starts_with("song.mp3 cannot be read: no parser reads `.mp3` files; there are parsers for ")
    );
    assert!(message.contains(", md, ") && message.contains(", png, "), "{message}");
    assert!(!Parsers::default().supports("song.mp3"));
    if cfg!(not(feature = "pdf")) {
        assert_eq!(
            error("a.pdf", "%PDF-1.4"),
            "a.pdf cannot be read: turn on the feature `pdf` of cepa-rag for `.pdf` files"
        );
    }
}

/// Reads songs, and everything else about bees.
#[derive(Debug)]
struct Songs;

impl Parser for Songs {
    fn extensions(&self) -> &[&str] {
        &["mp3", "txt"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        Ok(vec![Section::new(file.name.as_str(), TextBlock::new("la la"))].into())
    }
}

#[test]
fn a_parser_of_ones_own_comes_first() {
    let parsers = Arc::new(Parsers::default().with(Songs));
    for name in ["song.mp3", "song.txt"] {
        assert_eq!(text(&parsers.parse(&File::new(name, noise(10))).unwrap().sections[0]), "la la");
    }
    assert!(parsers.supports("a.md"));
    assert!(!Parsers::none().with(Songs).supports("a.md"));
}

#[test]
fn rows_of_csv_stay_on_one_line() {
    let csv = "name,note\nbee,\"flies,\r\nhums \"\"loud\"\"\"\nant,\"5\" tall\nwasp,stings\n";
    let parsed = parse("a.csv", csv).unwrap();
    assert_eq!(
        text(&parsed.sections[0]),
        "name,note\nbee,\"flies, hums \"\"loud\"\"\"\n\nant,\"5\" tall\nwasp,stings\n"
    );
    let chunks = TokenChunker::builder().max_tokens(10).overlap(0).build().unwrap().chunk(parsed.sections);
    let last = chunks.last().unwrap();
    assert_eq!(last.text().unwrap(), "name,note\nant,\"5\" tall\nwasp,stings");
    assert_eq!(last.position.to_string(), "lines 4-5");
    // a quote that is never closed is no quote
    assert_eq!(text(&parse("a.csv", "a,\"b\nc,d").unwrap().sections[0]), "a,\"b\nc,d");
}

#[test]
fn pictures_are_what_their_bytes_say() {
    let file = document("honey.png");
    let parsed = parse("pictures/honey.jpg", file.bytes).unwrap();
    let OutputBlock::Data(block) = &parsed.sections[0].content else { panic!("{parsed:?}") };
    assert_eq!((block.media_type(), block.name.as_deref()), ("image/png", Some("honey.jpg")));
}

#[test]
fn a_hundred_thousand_lines_are_read_and_cut() {
    let parsed = parse("long.txt", "Bees hum in the lime trees.\n".repeat(100_000)).unwrap();
    let chunks = TokenChunker::default().chunk(parsed.sections);
    assert_eq!(chunks.last().unwrap().position.lines.unwrap().1, 100_000);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_parser_panic(
        start in proptest::sample::select(
            [&b""[..], b"PK\x03\x04", b"%PDF-1.7\n", b"<html><body>", b"\xff\xfe", b"\x89PNG\r\n\x1a\n"].to_vec(),
        ),
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let parsers = Parsers::default();
        for extension in parsers.extensions() {
            let file = File::new(format!("a.{extension}"), [start, &bytes].concat());
            match parsers.parse(&file) {
                Ok(parsed) => drop(TokenChunker::default().chunk(parsed.sections)),
                Err(error) => prop_assert!(error.to_string().starts_with(&file.name)),
            }
        }
    }

    #[test]
    fn csv_keeps_its_lines(csv in "[a,\"\n\r]{0,60}") {
        if let Some(section) = parse("a.csv", csv.clone()).unwrap().sections.first() {
            prop_assert_eq!(text(section).matches('\n').count(), csv.matches('\n').count());
        }
    }
}
