//! What is read of PDF files, whole and damaged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/files.rs"]
mod files;

use cepa_rag::{Parsed, RagError};
use files::{document, error, noise, parse, text};

fn wax() -> Vec<u8> {
    document("wax.pdf").bytes
}

/// A file of these objects, numbered from 1; the first is its catalog.
fn pdf(objects: &[&str]) -> Vec<u8> {
    let mut file = String::from("%PDF-1.4\n");
    let mut places = String::new();
    for (number, object) in (1..).zip(objects) {
        places += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let (size, start) = (objects.len() + 1, file.len());
    file +=
        &format!("xref\n0 {size}\n0000000000 65535 f \n{places}trailer\n<< /Size {size} /Root 1 0 R >>\n");
    file += &format!("startxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<< {dictionary} /Length {} >>\nstream\n{content}\nendstream", content.len())
}

const FONT: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

fn pages(parsed: &Parsed) -> Vec<(String, &str)> {
    parsed.sections.iter().map(|section| (section.position.to_string(), text(section))).collect()
}

#[test]
fn pages_are_read_one_by_one() {
    let parsed = parse("wax.pdf", wax()).unwrap();
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    let pages = pages(&parsed);
    assert_eq!(pages.len(), 2);
    assert_eq!(pages[0].0, "page 1");
    assert!(
        pages[0].1.contains("Wax melts at sixty-two degrees.")
            && pages[0].1.contains("Candles of wax burn long.")
    );
    assert_eq!(pages[1], ("page 2".into(), "Old combs are melted in spring."));
}

#[test]
fn a_damaged_page_is_named_and_the_others_are_read() {
    let good = stream("", "BT /F1 12 Tf 72 700 Td (A good page) Tj ET");
    // an operator without what it needs
    let bad = stream("", "BT /F1 12 Tf 72 Td (A bad page) Tj ET");
    let page = |contents: u32| {
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {contents} 0 R \
             /Resources << /Font << /F1 8 0 R >> >> >>"
        )
    };
    let file = pdf(&[
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3 >>",
        &page(6),
        &page(7),
        &page(6),
        &good,
        &bad,
        FONT,
    ]);
    let parsed = parse("mixed.pdf", file).unwrap();
    assert_eq!(pages(&parsed), [("page 1".into(), "A good page"), ("page 3".into(), "A good page")]);
    assert_eq!(parsed.problems.len(), 1);
    assert!(matches!(&parsed.problems[0], RagError::Parse { place: Some(page), .. } if page == "page 2"));
    assert!(parsed.problems[0].to_string().starts_with("mixed.pdf, page 2, cannot be read: it is damaged ("));
}

#[test]
fn a_form_that_draws_itself_ends() {
    let form = |resources: &str| {
        stream(&format!("/Type /XObject /Subtype /Form /BBox [0 0 9 9] {resources}"), "/X Do")
    };
    for resources in ["", "/Resources << /XObject << /X 5 0 R >> >>"] {
        let file = pdf(&[
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
            &stream("", "/X Do"),
            &form(resources),
        ]);
        let message = error("loop.pdf", file);
        assert!(message.starts_with("loop.pdf, page 1, cannot be read: "), "{message}");
        assert!(message.contains("deep in each other"), "{message}");
    }
}

#[test]
fn damaged_files_are_refused_by_name() {
    for len in (0..wax().len()).step_by(37) {
        match parse("cut.pdf", &wax()[..len]) {
            Ok(parsed) => assert!(!parsed.sections.is_empty()),
            Err(error) => assert!(error.to_string().starts_with("cut.pdf"), "{error}"),
        }
    }
    assert_eq!(
        error("noise.pdf", noise(100_000)),
        "noise.pdf cannot be read: it does not begin as a PDF file"
    );
    for junk in ["[", "<<", "(", "<< /A ", "[<<"] {
        let deep = format!("%PDF-1.4\n1 0 obj\n{}", junk.repeat(50_000));
        error("deep.pdf", deep + "\nstartxref\n9\n%%EOF");
    }
}

#[test]
fn no_flipped_byte_stops_the_others() {
    let whole = wax();
    for at in (0..whole.len()).step_by(11) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x15;
        let _ = parse("flipped.pdf", bytes);
    }
}
