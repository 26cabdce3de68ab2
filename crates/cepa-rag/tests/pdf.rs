//! What is read of PDF files, whole and damaged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "support/files.rs"]
mod files;

use cepa_rag::{File, Parsed, Parser as _, PdfParser, RagError};
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

/// This content, packed as often as this.
fn packed(mut content: Box<dyn std::io::Read>, times: usize) -> Vec<u8> {
    for _ in 0..times {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::copy(&mut content, &mut encoder).unwrap();
        content = Box::new(std::io::Cursor::new(encoder.finish().unwrap()));
    }
    let mut packed = Vec::new();
    content.read_to_end(&mut packed).unwrap();
    packed
}

fn spaces(len: u64) -> Box<dyn std::io::Read> {
    use std::io::Read as _;
    Box::new(std::io::repeat(b' ').take(len))
}

/// A file of these objects, some of which hold other bytes than text.
fn raw(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.5\n".to_vec();
    let mut places = String::new();
    for (number, object) in (1..).zip(objects) {
        places += &format!("{:010} 00000 n \n", file.len());
        file.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let (size, start) = (objects.len() + 1, file.len());
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{places}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n"
    );
    file.extend_from_slice(format!("{end}startxref\n{start}\n%%EOF\n").as_bytes());
    file
}

fn raw_stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< {dictionary} /Length {} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// A page that is drawn by object 4, beside this one.
fn page_with(content: Vec<u8>, other: Vec<u8>) -> Vec<u8> {
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
                /Resources << /Font << /F1 5 0 R >> >> >>";
    let objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page];
    let mut objects = objects.map(|object| object.as_bytes().to_vec()).to_vec();
    objects.extend([content, FONT.as_bytes().to_vec(), other]);
    raw(&objects, "")
}

/// The most memory that this process has ever had, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn what_unpacks_to_too_much_is_refused_and_takes_no_memory() {
    let bomb = packed(spaces(48 << 20), 1);
    let twice = packed(spaces(48 << 20), 2);
    assert!(bomb.len() < 1 << 19 && twice.len() < 1 << 14, "{} {}", bomb.len(), twice.len());
    let good = || raw_stream("", b"BT /F1 12 Tf 72 700 Td (A good page) Tj ET");
    let flate = "/Filter /FlateDecode";
    let cases = [
        // the page itself, once and twice packed
        page_with(raw_stream(flate, &bomb), Vec::new()),
        page_with(raw_stream("/Filter [/FlateDecode /FlateDecode]", &twice), Vec::new()),
        // something that no page draws
        page_with(good(), raw_stream(flate, &bomb)),
        // what holds other objects, which is unpacked while the file is loaded
        page_with(good(), raw_stream(&format!("/Type /ObjStm /N 1 /First 4 {flate}"), &bomb)),
        page_with(
            good(),
            raw_stream("/Type /ObjStm /N 1 /First 4 /Filter [/FlateDecode /FlateDecode]", &twice),
        ),
        page_with(good(), raw_stream("/Type /Obj#53tm /N 1 /First 4 /Filter /FlateDecode", &bomb)),
        // the table, at the end of the file
        {
            let table = format!("/Type /XRef /Size 9 /W [1 2 1] /Root 1 0 R {flate}");
            let mut file = raw(&[], "");
            let start = file.len();
            file.extend_from_slice(b"7 0 obj\n");
            file.extend_from_slice(&raw_stream(&table, &bomb));
            file.extend_from_slice(format!("\nendobj\nstartxref\n{start}\n%%EOF\n").as_bytes());
            file
        },
    ];
    #[cfg(target_os = "linux")]
    let before = peak();
    for (case, file) in cases.into_iter().enumerate() {
        let parser = PdfParser::default().with_max_unpacked(2 << 20);
        let message = parser.parse(&File::new("bomb.pdf", file)).unwrap_err().to_string();
        assert!(message.contains("unpacks to more than "), "{case}: {message}");
        assert!(message.contains("with_max_unpacked"), "{case}: {message}");
    }
    // Other tests may run at the same time.
    #[cfg(target_os = "linux")]
    assert!(peak() < before + (32 << 20), "{} MiB more", (peak() - before) >> 20);
}

#[test]
fn pictures_do_not_count() {
    let good = raw_stream("", b"BT /F1 12 Tf 72 700 Td (A good page) Tj ET");
    let head = "/Type /XObject /Subtype /Image /Width 4096 /Height 2048 /Filter /FlateDecode";
    let file = page_with(good, raw_stream(head, &packed(spaces(8 << 20), 1)));
    let parsed = PdfParser::default().with_max_unpacked(2 << 20).parse(&File::new("scan.pdf", file)).unwrap();
    assert_eq!(pages(&parsed), [("page 1".into(), "A good page")]);
}

#[test]
fn a_page_that_is_too_long_is_named_and_a_limit_can_be_raised() {
    // eight times three megabytes on one page
    let content = packed(spaces(3 << 20), 1);
    let page = |contents: &str| {
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {contents} \
             /Resources << /Font << /F1 7 0 R >> >> >>"
        )
    };
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".into(),
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>".into(),
        page(&format!("[{}]", "5 0 R ".repeat(8))).into_bytes(),
        page("6 0 R").into_bytes(),
        raw_stream("/Filter /FlateDecode", &content),
        raw_stream("", b"BT /F1 12 Tf 72 700 Td (A good page) Tj ET"),
        FONT.as_bytes().to_vec(),
    ];
    let file = raw(&objects, "");
    let parsed = parse("long.pdf", file.clone()).unwrap();
    assert_eq!(pages(&parsed), [("page 2".into(), "A good page")]);
    let problem = parsed.problems[0].to_string();
    assert!(
        problem.starts_with("long.pdf, page 1, cannot be read: ") && problem.contains("16777216 bytes"),
        "{problem}"
    );

    let parse =
        |limit| PdfParser::default().with_max_unpacked(limit).parse(&File::new("long.pdf", file.clone()));
    assert!(parse(4 << 20).is_ok());
    assert!(parse(2 << 20).unwrap_err().to_string().contains("more than 2097152 bytes"));
}

#[test]
fn objects_in_streams_are_found() {
    // The font of the page and where it stands are in a stream of objects, which is packed.
    let pages = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>";
    let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R \
                /Resources << /Font << /F1 7 0 R >> >> >>";
    let index = format!("2 0 3 {} 7 {} ", pages.len() + 1, pages.len() + page.len() + 2);
    let text = format!("{index}{pages} {page} {FONT}");
    let content = packed(Box::new(std::io::Cursor::new(text)), 1);
    let head = format!("/Type /ObjStm /N 3 /First {} /Filter /FlateDecode", index.len());
    let mut file = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in [
        (1, b"<< /Type /Catalog /Pages 2 0 R >>".to_vec()),
        (4, raw_stream(&head, &content)),
        (5, raw_stream("", b"BT /F1 12 Tf 72 700 Td (Found in a stream) Tj ET")),
    ] {
        places.push((number, file.len()));
        file.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        file.extend_from_slice(&object);
        file.extend_from_slice(b"\nendobj\n");
    }
    // A table with its type, place and index for each object.
    let start = file.len();
    places.push((6, start));
    let mut table = vec![0; 8 * 4];
    for (number, place) in places {
        table[number * 4..][..4].copy_from_slice(&[1, (place >> 8) as u8, place as u8, 0]);
    }
    for (number, index) in [(2, 0), (3, 1), (7, 2)] {
        table[number * 4..][..4].copy_from_slice(&[2, 0, 4, index]);
    }
    file.extend_from_slice(b"6 0 obj\n");
    file.extend_from_slice(&raw_stream("/Type /XRef /Size 8 /W [1 2 1] /Root 1 0 R", &table));
    file.extend_from_slice(format!("\nendobj\nstartxref\n{start}\n%%EOF\n").as_bytes());
    let parsed = parse("packed.pdf", file).unwrap();
    assert_eq!(self::pages(&parsed), [("page 1".into(), "Found in a stream")]);
}
