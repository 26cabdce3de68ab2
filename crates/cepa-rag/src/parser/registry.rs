//! [`Parsers`]: one parser for each kind of file.

use std::{collections::BTreeSet, sync::Arc};

use super::{CodeParser, CsvParser, ImageParser, MarkdownParser, TextParser, extension};
use crate::{File, Parsed, Parser, RagError};

/// The parsers of all files that can be read, found by the endings of their names.
///
/// By default: text, Markdown, CSV, code and images, and with their features HTML (`html`), PDF (`pdf`) and DOCX, PPTX,
/// XLSX (`office`). A file without an ending is read as text.
///
/// ```
/// use cepa_rag::{File, Parsers};
///
/// # fn main() -> Result<(), cepa_rag::RagError> {
/// let parsers = Parsers::default();
/// let parsed = parsers.parse(&File::new("guide/bees.md", "# Bees\n\nThey hum."))?;
/// assert_eq!(parsed.sections.len(), 1);
///
/// assert!(!parsers.supports("bees.mp3"));
/// let error = parsers.parse(&File::new("bees.mp3", "...")).unwrap_err();
/// assert!(error.to_string().starts_with("bees.mp3 cannot be read: "));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Parsers {
    /// The later ones come first where both read a file.
    parsers: Vec<Arc<dyn Parser>>,
}

impl Default for Parsers {
    /// All that are compiled in.
    fn default() -> Self {
        let parsers = Self::none().with(TextParser).with(MarkdownParser).with(CsvParser).with(CodeParser);
        let parsers = parsers.with(ImageParser);
        #[cfg(feature = "html")]
        let parsers = parsers.with(crate::HtmlParser::default());
        #[cfg(feature = "pdf")]
        let parsers = parsers.with(crate::PdfParser::default());
        #[cfg(feature = "office")]
        let parsers = parsers
            .with(crate::WordParser::default())
            .with(crate::PowerPointParser::default())
            .with(crate::ExcelParser::default());
        parsers
    }
}

impl Parsers {
    /// No parsers yet.
    pub fn none() -> Self {
        Self { parsers: Vec::new() }
    }

    /// With this parser, which reads its files instead of any parser before it.
    pub fn with(mut self, parser: impl Parser) -> Self {
        self.parsers.push(Arc::new(parser));
        self
    }

    /// The parser that reads this file.
    pub fn for_file(&self, file: &File) -> Option<&dyn Parser> {
        self.for_name(&file.name)
    }

    /// Whether a file of this name can be read. What is in it may still be something else.
    pub fn supports(&self, name: &str) -> bool {
        self.for_name(name).is_some()
    }

    /// The endings of all files that can be read, in order, in lower case and without the dot.
    pub fn extensions(&self) -> Vec<&str> {
        let extensions: BTreeSet<&str> =
            self.parsers.iter().flat_map(|parser| parser.extensions().iter().copied()).collect();
        extensions.into_iter().collect()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`RagError::Parse`], with the file's name, when no parser reads it, or nothing of it can be read.
    pub fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        match self.for_file(file) {
            Some(parser) => parser.parse(file),
            None => Err(self.unknown(file)),
        }
    }

    fn for_name(&self, name: &str) -> Option<&dyn Parser> {
        let extension = extension(name);
        let extension = if extension.is_empty() { "txt" } else { &extension };
        self.parsers
            .iter()
            .rev()
            .map(|parser| &**parser)
            .find(|parser| parser.extensions().contains(&extension))
    }

    fn unknown(&self, file: &File) -> RagError {
        let extension = file.extension();
        let feature = match extension.as_str() {
            "html" | "htm" | "xhtml" if cfg!(not(feature = "html")) => Some("html"),
            "pdf" if cfg!(not(feature = "pdf")) => Some("pdf"),
            "docx" | "pptx" | "xlsx" if cfg!(not(feature = "office")) => Some("office"),
            _ => None,
        };
        let reason = match feature {
            Some(feature) => format!("turn on the feature `{feature}` of cepa-rag for `.{extension}` files"),
            None => format!(
                "no parser reads `.{extension}` files; there are parsers for {}",
                self.extensions().join(", ")
            ),
        };
        RagError::parse(&*file.name, reason)
    }
}
