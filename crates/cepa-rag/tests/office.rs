//! What is read of Word, PowerPoint and Excel files, whole and damaged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/files.rs"]
mod files;

use std::io::{Cursor, Read, Write};

use cepa_rag::{Chunker, ExcelParser, File, Parser, PowerPointParser, RagError, TokenChunker, WordParser};
use files::{document, error, noise, parse, text};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

const DOCUMENTS: [&str; 3] = ["bees.docx", "swarm.pptx", "harvest.xlsx"];

/// The document with this entry changed, or added.
fn changed(file: &File, name: &str, change: impl Fn(String) -> Vec<u8>) -> Vec<u8> {
    let mut old = ZipArchive::new(Cursor::new(&file.bytes)).unwrap();
    let mut new = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..old.len() {
        let mut entry = old.by_index(index).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        let found = entry.name().unwrap().into_owned();
        if found == name {
            content = change(String::from_utf8(content).unwrap());
        }
        new.start_file(found, SimpleFileOptions::default()).unwrap();
        new.write_all(&content).unwrap();
    }
    new.finish().unwrap().into_inner()
}

#[test]
fn word_is_read_as_markdown() {
    let parsed = WordParser::default().parse(&document("bees.docx")).unwrap();
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    assert_eq!(
        text(&parsed.sections[0]),
        "# Keeping bees\n\n\
         Bees need flowers, water and a dry place.\n\n\
         # Hives\n\n\
         A hive of pine wood & straw lasts for years.\n\n\
         - Frames\n\
         - A lid | a floor\n\n\
         ## Weights\n\n\
         | Part | Kilograms |\n| --- | --- |\n| Frame | 0.4 |\n| Full hive | 60 |\n\n\
         # Honey\n\n\
         Harvest in July, über der Wiese, 蜂蜜.\tNot before."
    );
    let chunks = TokenChunker::builder().max_tokens(30).overlap(0).build().unwrap().chunk(parsed.sections);
    let weights = chunks.iter().find(|chunk| chunk.text().unwrap().contains("Full hive")).unwrap();
    assert_eq!(weights.position.headings, ["Hives", "Weights"]);
}

#[test]
fn slides_are_read_with_tables_and_notes() {
    let parsed = PowerPointParser::default().parse(&document("swarm.pptx")).unwrap();
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    let slides: Vec<_> =
        parsed.sections.iter().map(|slide| (slide.position.to_string(), text(slide))).collect();
    assert_eq!(
        slides,
        [
            (
                "slide 1".to_owned(),
                "# The swarm\n\nA swarm leaves in May\nIt follows its old queen\n\nNotes: Ask who has seen one."
            ),
            ("slide 2".to_owned(), "# Numbers\n\n| Bees | Year |\n| --- | --- |\n| 20000 | 2024 |"),
        ]
    );
}

#[test]
fn sheets_are_read_row_by_row() {
    let parsed = ExcelParser::default().parse(&document("harvest.xlsx")).unwrap();
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    let sheets: Vec<_> =
        parsed.sections.iter().map(|sheet| (sheet.position.to_string(), text(sheet))).collect();
    assert_eq!(
        sheets,
        [
            (
                "sheet Harvest, lines 1-6".to_owned(),
                "Hive | Kilograms | Day | Sold\n\
                 North | 12.5 | 2024-07-03 | true\n\
                 South | 9 | 2024-07-04 06:30:00 | false\n\n\n\
                 Two lines |  |  | far"
            ),
            ("sheet Costs, lines 1-2".to_owned(), "What | Euro\nJars | 40"),
        ]
    );
    let chunks = TokenChunker::builder().max_tokens(20).overlap(0).build().unwrap().chunk(parsed.sections);
    let last = chunks.iter().find(|chunk| chunk.text().unwrap().contains("Two lines")).unwrap();
    assert_eq!(last.text().unwrap().lines().next(), Some("Hive | Kilograms | Day | Sold"));
    assert!(last.position.to_string().ends_with("6"), "{}", last.position);
}

#[test]
fn damaged_files_are_refused_by_name() {
    for name in DOCUMENTS {
        let bytes = document(name).bytes;
        for len in (0..bytes.len()).step_by(bytes.len() / 40) {
            error(name, &bytes[..len]);
        }
        assert!(error(name, noise(10_000)).contains("it is no office document, or damaged"));
        assert!(error(name, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".repeat(100)).contains("without a password"));
        for at in (0..bytes.len()).step_by(97) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x15;
            let _ = parse(name, flipped);
        }
    }
}

#[test]
fn a_damaged_slide_is_named_and_the_others_are_read() {
    let bytes = changed(&document("swarm.pptx"), "ppt/slides/slide1.xml", |xml| xml[..xml.len() / 2].into());
    let parsed = parse("swarm.pptx", bytes).unwrap();
    assert_eq!(parsed.sections[0].position.to_string(), "slide 2");
    let problem = parsed.problems[0].to_string();
    assert!(
        problem.starts_with("swarm.pptx, slide 1, cannot be read: `ppt/slides/slide1.xml` in it is damaged"),
        "{problem}"
    );
}

#[test]
fn a_damaged_sheet_is_named_and_the_others_are_read() {
    let bytes =
        changed(&document("harvest.xlsx"), "xl/worksheets/sheet1.xml", |xml| xml[..xml.len() / 2].into());
    let parsed = parse("harvest.xlsx", bytes).unwrap();
    assert_eq!(parsed.sections[0].position.sheet.as_deref(), Some("Costs"));
    assert!(
        matches!(&parsed.problems[0], RagError::Parse { place: Some(place), .. } if place == "sheet Harvest")
    );
}

#[test]
fn half_a_word_document_is_read_and_said() {
    let bytes =
        changed(&document("bees.docx"), "word/document.xml", |xml| xml[..xml.find("lasts").unwrap()].into());
    let parsed = parse("bees.docx", bytes).unwrap();
    assert!(text(&parsed.sections[0]).ends_with("A hive of pine wood & straw"), "{parsed:?}");
    assert!(parsed.problems[0].to_string().contains("`word/document.xml` in it is damaged"), "{parsed:?}");
}

#[test]
fn what_unpacks_to_too_much_is_refused() {
    let entries = ["word/document.xml", "ppt/slides/slide2.xml", "xl/worksheets/sheet1.xml"];
    for (name, entry) in DOCUMENTS.into_iter().zip(entries) {
        let bomb =
            changed(&document(name), entry, |xml| format!("<!--{}-->{xml}", " ".repeat(8 << 20)).into());
        assert!(bomb.len() < 200_000);
        let file = File::new(name, bomb);
        let limit = 4 << 20;
        let parsed = match name {
            "bees.docx" => WordParser::default().with_max_unpacked(limit).parse(&file),
            "swarm.pptx" => PowerPointParser::default().with_max_unpacked(limit).parse(&file),
            _ => ExcelParser::default().with_max_unpacked(limit).parse(&file),
        };
        let said = match parsed {
            Ok(parsed) => parsed.problems[0].to_string(),
            Err(error) => error.to_string(),
        };
        assert!(said.contains("it unpacks to more than 4194304 bytes"), "{said}");
    }
}

#[test]
fn rows_that_are_far_longer_than_their_cells_are_not_written_out() {
    let bytes = changed(&document("harvest.xlsx"), "xl/worksheets/sheet1.xml", |_| {
        let row = |row| format!("<row r=\"{row}\"><c r=\"XFD{row}\"><v>0</v></c></row>");
        let rows: String = (1..=2000).map(row).collect();
        format!(
            "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
             <sheetData>{rows}</sheetData></worksheet>"
        )
        .into()
    });
    let parsed = ExcelParser::default().with_max_unpacked(4 << 20).parse(&File::new("harvest.xlsx", bytes));
    let said = format!("{parsed:?}");
    assert!(said.contains("its rows are too much text"), "{said:.300}");
}

#[test]
fn cells_that_are_far_apart_take_no_memory() {
    let bytes = changed(&document("harvest.xlsx"), "xl/worksheets/sheet1.xml", |_| {
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row></sheetData></worksheet>".into()
    });
    let parsed = parse("harvest.xlsx", bytes).unwrap();
    assert_eq!(parsed.sections[0].position.lines, Some((1, 1_048_576)));
    let chunks = TokenChunker::default().chunk(parsed.sections);
    assert!(chunks.len() < 60, "{}", chunks.len());
}

#[test]
fn entities_of_a_document_are_not_expanded() {
    let bytes = changed(&document("bees.docx"), "word/document.xml", |xml| {
        let entities = "<!DOCTYPE x [<!ENTITY a \"bees bees\"><!ENTITY b \"&a;&a;&a;\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]>";
        let (start, rest) = xml.split_once("?>").unwrap();
        format!("{start}?>{entities}{}", rest.replace("lasts", "&b;&c;&#38;lasts")).into()
    });
    let parsed = parse("bees.docx", bytes).unwrap();
    assert!(text(&parsed.sections[0]).contains("straw &lasts for years"), "{parsed:?}");
}
