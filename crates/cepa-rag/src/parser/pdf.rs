//! [`PdfParser`].

mod forms;

use cepa_core::TextBlock;
use pdf_extract::{Document, Object, PlainTextOutput, output_doc_page};

use super::guard::guarded;
use crate::{File, Parsed, Parser, Position, RagError, Section};

/// Reads the text of PDF files, page by page. A page that is damaged is among the problems, and the others are read.
///
/// Pages that are pictures have no text; a file without any text is refused. So are files with a password. Nothing that
/// is damaged makes it panic, except in a program that is built to abort on panics: there, damaged files end the
/// program.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct PdfParser {}

impl Parser for PdfParser {
    fn extensions(&self) -> &[&str] {
        &["pdf"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        // other code looks for these bytes in the first kilobyte, too
        if memchr::memmem::find(&file.bytes[..file.bytes.len().min(1024)], b"%PDF-").is_none() {
            return Err(RagError::parse(&*file.name, "it does not begin as a PDF file"));
        }
        let document =
            guarded(|| Document::load_mem(&file.bytes)).and_then(|loaded| loaded.map_err(|e| e.to_string()));
        let mut document = document.map_err(|reason| RagError::parse(&*file.name, damaged(&reason)))?;
        if document.is_encrypted() {
            return Err(RagError::parse(&*file.name, "it is encrypted; save it without a password"));
        }
        without_pictures(&mut document);
        let pages = guarded(|| document.get_pages())
            .map_err(|reason| RagError::parse(&*file.name, damaged(&reason)))?;
        let mut parsed = Parsed::default();
        for (number, page) in &pages {
            match forms::check(&document, *page).and_then(|()| text(&document, *number)) {
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
                    reason: damaged(&reason),
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

fn damaged(reason: &str) -> String {
    format!("it is damaged ({reason})")
}

fn text(document: &Document, page: u32) -> Result<String, String> {
    let mut text = String::new();
    let read = guarded(|| output_doc_page(document, &mut PlainTextOutput::new(&mut text), page));
    read?.map_err(|error| error.to_string())?;
    Ok(text.trim().to_owned())
}

/// Pictures are drawn as pages are, by one operator; their bytes would be read as text.
fn without_pictures(document: &mut Document) {
    for object in document.objects.values_mut() {
        if let Object::Stream(stream) = object
            && stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|subtype| subtype == b"Image")
        {
            stream.dict.remove(b"Filter");
            stream.set_content(Vec::new());
        }
    }
}
