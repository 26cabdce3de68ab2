//! [`Position`]: where in a document something stands.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where in its document a piece stands, as far as its format says: what a citation shows.
///
/// ```
/// use cepa_rag::Position;
///
/// let mut position = Position::default();
/// position.page = Some(3);
/// position.lines = Some((10, 14));
/// assert_eq!(position.to_string(), "page 3, lines 10-14");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Position {
    /// The page, from 1 (PDF).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The slide, from 1 (PPTX).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slide: Option<u32>,
    /// The sheet's name (XLSX).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The headings above it, outermost first (Markdown, HTML, DOCX).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Its first and last line, from 1: of the file for plain text, Markdown, CSV and code, of the sheet for XLSX, of
    /// the extracted text otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
}

impl Position {
    /// Nowhere in particular: the whole document.
    pub fn new() -> Self {
        Self::default()
    }

    /// These lines, the first and the last, from 1.
    pub fn with_lines(mut self, first: u32, last: u32) -> Self {
        self.lines = Some((first, last));
        self
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.page.map(|page| format!("page {page}")));
        parts.extend(self.slide.map(|slide| format!("slide {slide}")));
        parts.extend(self.sheet.as_ref().map(|sheet| format!("sheet {sheet}")));
        parts.extend((!self.headings.is_empty()).then(|| self.headings.join(" > ")));
        parts.extend(self.lines.map(|(first, last)| match first == last {
            true => format!("line {first}"),
            false => format!("lines {first}-{last}"),
        }));
        f.write_str(&parts.join(", "))
    }
}
