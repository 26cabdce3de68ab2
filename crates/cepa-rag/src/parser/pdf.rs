//! [`PdfParser`].

mod forms;
mod load;
mod unpack;

use std::fmt;

use cepa_core::TextBlock;
use pdf_extract::{ConvertToFmt, Document, ObjectId, PlainTextOutput, output_doc_page};

use self::load::damaged;
use super::guard::guarded;
use crate::{File, Parsed, Parser, Position, RagError, Section};

/// Reads the text of PDF files, page by page. A page that is damaged is among the problems, and the others are read.
///
/// Pages that are pictures have no text; a file without any text is refused. So are files with a password, and those that
/// unpack to more than [a limit](Self::with_max_unpacked). Nothing that is damaged makes it panic, except in a program that
/// is built to abort on panics: there, damaged files end the program.
#[derive(Clone, Copy, Debug)]
pub struct PdfParser {
    max_unpacked: u64,
}

/// 16 MiB: what is drawn on a page. Each operator takes many times its length in memory.
const MAX_PAGE: usize = 16 << 20;

impl Default for PdfParser {
    fn default() -> Self {
        Self { max_unpacked: 256 << 20 }
    }
}

impl PdfParser {
    /// The most bytes that the streams of a file may unpack to, without its pictures; those that hold other objects may
    /// have a quarter of it. Default 256 MiB. A page may have 16 MiB at most.
    pub fn with_max_unpacked(mut self, bytes: u64) -> Self {
        self.max_unpacked = bytes;
        self
    }
}

impl Parser for PdfParser {
    fn extensions(&self) -> &[&str] {
        &["pdf"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        // other code looks for these bytes in the first kilobyte, too
        if memchr::memmem::find(&file.bytes[..file.bytes.len().min(1024)], b"%PDF-").is_none() {
            return Err(RagError::parse(&*file.name, "it does not begin as a PDF file"));
        }
        let document = load::load(&file.bytes, self.max_unpacked)
            .map_err(|reason| RagError::parse(&*file.name, reason))?;
        let pages = guarded(|| document.get_pages())
            .map_err(|reason| RagError::parse(&*file.name, damaged(reason)))?;
        let mut parsed = Parsed::default();
        for (number, page) in &pages {
            let text = is_short(&document, *page)
                .and_then(|()| forms::check(&document, *page))
                .and_then(|()| text(&document, *number));
            match text {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => {
                    let mut position = Position::new();
                    position.page = Some(*number);
                    let section = Section::new(file.name.as_str(), TextBlock::new(text));
                    parsed.sections.push(section.with_position(position));
                }
                Err(reason) => parsed.problems.push(RagError::Parse {
                    file: file.name.clone(),
                    place: Some(format!("page {number}")),
                    reason: damaged(reason),
                }),
            }
        }
        match (parsed.sections.is_empty(), parsed.problems.is_empty()) {
            (true, true) if pages.is_empty() => {
                Err(RagError::parse(&*file.name, "no page of it can be found"))
            }
            (true, true) => {
                Err(RagError::parse(&*file.name, "its pages have no text; they may be pictures of text"))
            }
            (true, false) => Err(parsed.problems.swap_remove(0)),
            _ => Ok(parsed),
        }
    }
}

/// Refuses a page with too much on it; a stream can be on a page more than once.
fn is_short(document: &Document, page: ObjectId) -> Result<(), String> {
    let mut left = MAX_PAGE;
    for id in document.get_page_contents(page) {
        let Ok(stream) = document.get_object(id).and_then(|object| object.as_stream()) else { continue };
        left = left.checked_sub(stream.content.len() + 1).ok_or_else(|| too_long("what is drawn on it"))?;
    }
    Ok(())
}

fn too_long(what: &str) -> String {
    format!("{what} has more than {MAX_PAGE} bytes")
}

fn text(document: &Document, page: u32) -> Result<String, String> {
    let mut text = Limited(String::new());
    let read = guarded(|| output_doc_page(document, &mut PlainTextOutput::new(&mut text), page));
    match read? {
        Ok(()) => Ok(text.0.trim().to_owned()),
        Err(_) if text.0.len() > MAX_PAGE => Err(too_long("its text")),
        Err(error) => Err(error.to_string()),
    }
}

/// The text of a page, which a font may make much longer than what is drawn.
struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        if self.0.len() > MAX_PAGE { Err(fmt::Error) } else { Ok(()) }
    }
}

impl ConvertToFmt for &mut Limited {
    type Writer = Self;

    fn convert(self) -> Self {
        self
    }
}
