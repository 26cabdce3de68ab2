//! [`WordParser`].

use std::collections::HashMap;

use super::{
    MAX_UNPACKED,
    archive::Archive,
    blocks::{Blocks, Kind},
    xml::{self, Token},
};
use crate::{File, Parsed, Parser, RagError, SectionKind, parser::text::parsed};

/// Reads DOCX as Markdown: headings, paragraphs, lists, tables, text boxes, then footnotes. Chunks of it know the
/// headings above them. What is deleted in tracked changes, and headers and footers, are left out.
#[derive(Clone, Copy, Debug)]
pub struct WordParser {
    max_unpacked: u64,
}

impl Default for WordParser {
    fn default() -> Self {
        Self { max_unpacked: MAX_UNPACKED }
    }
}

impl WordParser {
    /// The most bytes a document may unpack to. Default 256 MiB.
    pub fn with_max_unpacked(mut self, bytes: u64) -> Self {
        self.max_unpacked = bytes;
        self
    }
}

impl Parser for WordParser {
    fn extensions(&self) -> &[&str] {
        &["docx", "docm"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        let mut archive = Archive::open(file, self.max_unpacked)?;
        let document = archive.needed("word/document.xml")?;
        // without its styles a document is still worth reading
        let styles = archive.text("word/styles.xml")?.map(|xml| heading_styles(&xml)).unwrap_or_default();
        let notes = archive.text("word/footnotes.xml")?;

        let mut reading = Reading { styles, ..Reading::default() };
        let mut problems = Vec::new();
        if let Err(error) = reading.read(&document) {
            problems.push(archive.damaged("word/document.xml", error));
        }
        if let Some(Err(error)) = notes.map(|notes| reading.read(&notes)) {
            problems.push(archive.damaged("word/footnotes.xml", error));
        }
        let mut parsed = parsed(file, reading.blocks.finish(), SectionKind::Markdown);
        if parsed.sections.is_empty() && !problems.is_empty() {
            return Err(problems.swap_remove(0));
        }
        parsed.problems = problems;
        Ok(parsed)
    }
}

/// The levels of the styles that are headings, by their ids.
fn heading_styles(xml: &str) -> HashMap<String, usize> {
    let mut levels = HashMap::new();
    let mut id = String::new();
    let _ = xml::read(xml, |token| {
        let Token::Open(tag, attributes) = token else { return };
        match tag {
            "style" => id = attributes.get("w:styleId").unwrap_or_default(),
            "name" => {
                let name = attributes.get("w:val").unwrap_or_default().to_lowercase();
                let level = name.strip_prefix("heading ").and_then(|level| level.parse().ok());
                if let Some(level) = level.or((name == "title").then_some(1)) {
                    levels.insert(id.clone(), level);
                }
            }
            "outlineLvl" => {
                if let Some(level) = attributes
                    .get("w:val")
                    .and_then(|level| level.parse().ok())
                    .filter(|level: &usize| *level < 9)
                {
                    levels.entry(id.clone()).or_insert(level + 1);
                }
            }
            _ => {}
        }
    });
    levels
}

#[derive(Default)]
struct Reading {
    styles: HashMap<String, usize>,
    blocks: Blocks,
    /// What each open paragraph is.
    kinds: Vec<Kind>,
    in_text: bool,
    /// How deep in what is there twice.
    in_fallback: usize,
}

impl Reading {
    fn read(&mut self, xml: &str) -> Result<(), String> {
        xml::read(xml, |token| match token {
            Token::Open("Fallback", _) => self.in_fallback += 1,
            Token::Close("Fallback") => self.in_fallback = self.in_fallback.saturating_sub(1),
            _ if self.in_fallback > 0 => {}
            Token::Open(tag, attributes) => self.open(tag, &attributes),
            Token::Close(tag) => self.close(tag),
            Token::Text(text) if self.in_text => self.blocks.text(text),
            Token::Text(_) => {}
        })
    }

    fn open(&mut self, tag: &str, attributes: &xml::Attributes<'_>) {
        let value = || attributes.get("w:val").unwrap_or_default();
        let kind = self.kinds.last_mut();
        match (tag, kind) {
            ("p", _) => {
                self.blocks.begin_paragraph();
                self.kinds.push(Kind::Text);
            }
            ("t", _) => self.in_text = true,
            ("br" | "cr", Some(_)) => self.blocks.text("\n"),
            // a stop of the ruler has the same name, with a value
            ("tab", Some(_)) if attributes.get("w:val").is_none() => self.blocks.text("\t"),
            ("noBreakHyphen", Some(_)) => self.blocks.text("-"),
            ("tbl", _) => self.blocks.begin_table(),
            ("tr", _) => self.blocks.begin_row(),
            ("tc", _) => self.blocks.begin_cell(),
            ("pStyle", Some(kind)) => {
                let style = value();
                if let Some(level) = self.styles.get(&style) {
                    *kind = Kind::Heading(*level);
                } else if style.starts_with("List") && *kind == Kind::Text {
                    *kind = Kind::Item(0);
                }
            }
            ("outlineLvl", Some(kind)) => {
                if let Some(level) = value().parse().ok().filter(|level: &usize| *level < 9) {
                    *kind = Kind::Heading(level + 1);
                }
            }
            ("ilvl", Some(kind)) if !matches!(kind, Kind::Heading(_)) => {
                *kind = Kind::Item(value().parse().unwrap_or(0));
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: &str) {
        match tag {
            "p" => self.blocks.end_paragraph(self.kinds.pop().unwrap_or(Kind::Text)),
            "t" => self.in_text = false,
            "tbl" => self.blocks.end_table(),
            _ => {}
        }
    }
}
