//! [`PowerPointParser`].

use cepa_core::TextBlock;

use super::{
    MAX_UNPACKED,
    archive::Archive,
    blocks::{Blocks, Kind},
    xml::{self, Token},
};
use crate::{File, Parsed, Parser, Position, RagError, Section, SectionKind};

/// Reads PPTX slide by slide as Markdown: title, texts, tables, then the speaker's notes. A slide that is damaged is
/// among the problems, and the others are read.
#[derive(Clone, Copy, Debug)]
pub struct PowerPointParser {
    max_unpacked: u64,
}

impl Default for PowerPointParser {
    fn default() -> Self {
        Self { max_unpacked: MAX_UNPACKED }
    }
}

impl PowerPointParser {
    /// The most bytes a document may unpack to. Default 256 MiB.
    pub fn with_max_unpacked(mut self, bytes: u64) -> Self {
        self.max_unpacked = bytes;
        self
    }
}

impl Parser for PowerPointParser {
    fn extensions(&self) -> &[&str] {
        &["pptx", "pptm"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        let mut archive = Archive::open(file, self.max_unpacked)?;
        let slides = slides(&mut archive)?;
        let mut parsed = Parsed::default();
        for (number, path) in (1..).zip(&slides) {
            match slide(&mut archive, path) {
                Ok(markdown) if markdown.is_empty() => {}
                Ok(markdown) => {
                    let mut position = Position::new();
                    position.slide = Some(number);
                    let section = Section::new(file.name.as_str(), TextBlock::new(markdown));
                    parsed.sections.push(section.with_kind(SectionKind::Markdown).with_position(position));
                }
                Err(RagError::Parse { file, place: None, reason }) => {
                    parsed.problems.push(RagError::Parse {
                        file,
                        place: Some(format!("slide {number}")),
                        reason,
                    });
                }
                Err(error) => parsed.problems.push(error),
            }
        }
        if parsed.sections.is_empty() && !parsed.problems.is_empty() {
            return Err(parsed.problems.swap_remove(0));
        }
        Ok(parsed)
    }
}

/// The slides' names in the archive, in the order they are shown.
fn slides(archive: &mut Archive<'_>) -> Result<Vec<String>, RagError> {
    const MAIN: &str = "ppt/presentation.xml";
    let relations = archive.needed("ppt/_rels/presentation.xml.rels")?;
    let relations =
        xml::relations(&relations, "ppt").map_err(|error| archive.damaged("presentation.xml.rels", error))?;
    let main = archive.needed(MAIN)?;
    let mut ids = Vec::new();
    let read = xml::read(&main, |token| {
        if let Token::Open("sldId", attributes) = token {
            ids.extend(attributes.get("r:id"));
        }
    });
    read.map_err(|error| archive.damaged(MAIN, error))?;
    Ok(ids.iter().filter_map(|id| relations.get(id)).map(|slide| slide.target.clone()).collect())
}

fn slide(archive: &mut Archive<'_>, path: &str) -> Result<String, RagError> {
    let xml = archive.needed(path)?;
    let mut markdown = text(&xml, false).map_err(|error| archive.damaged(path, error))?;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let Some(relations) = archive.text(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(markdown) };
    let relations = xml::relations(&relations, folder).map_err(|error| archive.damaged(path, error))?;
    let notes = relations.values().find(|relation| relation.kind.ends_with("/notesSlide"));
    if let Some(notes) = notes.map(|notes| archive.text(&notes.target)).transpose()?.flatten() {
        let notes = text(&notes, true).map_err(|error| archive.damaged(path, format!("notes: {error}")))?;
        if !notes.is_empty() {
            let gap = if markdown.is_empty() { "" } else { "\n\n" };
            markdown = format!("{markdown}{gap}Notes: {notes}");
        }
    }
    Ok(markdown)
}

/// The text of a slide, or of the notes of one.
fn text(xml: &str, is_notes: bool) -> Result<String, String> {
    let mut blocks = Blocks::default();
    let (mut shape, mut in_text, mut in_fallback) = (None, false, 0_usize);
    xml::read(xml, |token| match token {
        Token::Open("Fallback", _) => in_fallback += 1,
        Token::Close("Fallback") => in_fallback = in_fallback.saturating_sub(1),
        _ if in_fallback > 0 => {}
        Token::Open("sp" | "graphicFrame", _) => shape = None,
        // what a shape stands in for: the title, the body, the number of the slide
        Token::Open("ph", attributes) => shape = attributes.get("type"),
        Token::Open("p", _) => blocks.begin_paragraph(),
        Token::Open("t", _) => in_text = true,
        Token::Open("br", _) => blocks.text("\n"),
        Token::Open("tbl", _) => blocks.begin_table(),
        Token::Open("tr", _) => blocks.begin_row(),
        Token::Open("tc", _) => blocks.begin_cell(),
        Token::Open(..) => {}
        Token::Close("p") => {
            let kind = match shape.as_deref() {
                Some("title" | "ctrTitle") => Some(Kind::Heading(1)),
                Some("sldNum" | "dt" | "ftr" | "hdr" | "sldImg") => None,
                other if is_notes && other != Some("body") => None,
                _ => Some(Kind::Line),
            };
            match kind {
                Some(kind) => blocks.end_paragraph(kind),
                None => blocks.drop_paragraph(),
            }
        }
        Token::Close("t") => in_text = false,
        Token::Close("tbl") => blocks.end_table(),
        Token::Close(_) => {}
        Token::Text(text) if in_text => blocks.text(text),
        Token::Text(_) => {}
    })?;
    Ok(blocks.finish())
}
