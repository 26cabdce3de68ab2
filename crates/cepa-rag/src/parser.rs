//! [`Parser`]: from the bytes of a file to its [`Section`]s.

mod csv;
#[cfg(any(feature = "html", feature = "office", feature = "pdf"))]
mod guard;
#[cfg(feature = "html")]
mod html;
mod image;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
mod registry;
mod text;

use std::fmt;

#[cfg(feature = "html")]
pub use self::html::HtmlParser;
#[cfg(feature = "office")]
pub use self::office::{ExcelParser, PowerPointParser, WordParser};
#[cfg(feature = "pdf")]
pub use self::pdf::PdfParser;
pub use self::{
    csv::CsvParser,
    image::ImageParser,
    registry::Parsers,
    text::{CodeParser, MarkdownParser, TextParser},
};
use crate::{RagError, Section};

/// Reads files of one format, or of some that are alike.
///
/// Parsing is work of the processor: it is done on a thread for it, one file at a time.
pub trait Parser: fmt::Debug + Send + Sync + 'static {
    /// The endings of the files it reads, in lower case and without the dot: `["md", "markdown"]`.
    fn extensions(&self) -> &[&str];

    /// Reads a file. What can be read of a damaged file is there, and what cannot is among the problems.
    ///
    /// # Errors
    /// [`RagError::Parse`], with the file's name, when nothing of it can be read.
    fn parse(&self, file: &File) -> Result<Parsed, RagError>;
}

/// A file to be read.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Its name, as citations give it: a path below the folder that is indexed, with `/`.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl File {
    /// A file of this name with these bytes.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }

    /// The ending of its name, in lower case and without the dot; empty where there is none.
    pub fn extension(&self) -> String {
        extension(&self.name)
    }
}

fn extension(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("name", &self.name).field("bytes", &self.bytes.len()).finish()
    }
}

/// What a file holds.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Parsed {
    /// What could be read, in the file's order.
    pub sections: Vec<Section>,
    /// What could not, each with its place: a page that is damaged.
    pub problems: Vec<RagError>,
}

impl From<Vec<Section>> for Parsed {
    fn from(sections: Vec<Section>) -> Self {
        Self { sections, problems: Vec::new() }
    }
}
