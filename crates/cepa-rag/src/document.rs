//! What a document becomes on its way into a store: [`Section`]s, then [`Chunk`]s.

use cepa_core::OutputBlock;
use serde::{Deserialize, Serialize};

use crate::{Metadata, Position};

/// A natural part of a file, as a parser gives it: a page, a slide, a sheet, or the whole file (AgentScope 2.0.11).
///
/// No chunk ever holds content of two sections.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Section {
    /// Text, or an image, sound or file.
    pub content: OutputBlock,
    /// How its text is to be cut.
    pub kind: SectionKind,
    /// The file, as citations name it: `guide/install.md`.
    pub source: String,
    /// Where in the file it stands. Its lines are counted from here on where the text is cut.
    pub position: Position,
    /// What else the parser knows. Each chunk has it too.
    pub metadata: Metadata,
}

/// How the text of a [`Section`] is to be cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionKind {
    /// At ends of paragraphs, then of sentences, then of words.
    #[default]
    Prose,
    /// At headings and blocks of Markdown first.
    Markdown,
    /// At items of this programming language first, named as by its file extension: `rs`, `py`.
    Code(String),
    /// Between lines, each of which is a row.
    Table,
}

impl Section {
    /// Content of this file.
    pub fn new(source: impl Into<String>, content: impl Into<OutputBlock>) -> Self {
        Self {
            content: content.into(),
            kind: SectionKind::default(),
            source: source.into(),
            position: Position::default(),
            metadata: Metadata::new(),
        }
    }

    /// To be cut in this way.
    pub fn with_kind(mut self, kind: SectionKind) -> Self {
        self.kind = kind;
        self
    }

    /// Which stands here.
    pub fn with_position(mut self, position: Position) -> Self {
        self.position = position;
        self
    }

    /// Of which this is known.
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}

/// A piece of a document, small enough to be embedded: what is stored, found and cited (AgentScope 2.0.11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Chunk {
    /// Text, or an image, sound or file.
    pub content: OutputBlock,
    /// The file, as citations name it.
    pub source: String,
    /// Which chunk of its document this is, from 0.
    pub chunk_index: u32,
    /// How many chunks its document has.
    pub total_chunks: u32,
    /// Where in the file it stands.
    #[serde(default)]
    pub position: Position,
    /// What else is known of it.
    #[serde(default)]
    pub metadata: Metadata,
}

impl Chunk {
    /// The only chunk of this file; see [`numbered`](Self::numbered) for more of them.
    pub fn new(source: impl Into<String>, content: impl Into<OutputBlock>) -> Self {
        Self {
            content: content.into(),
            source: source.into(),
            chunk_index: 0,
            total_chunks: 1,
            position: Position::default(),
            metadata: Metadata::new(),
        }
    }

    /// Which stands here.
    pub fn with_position(mut self, position: Position) -> Self {
        self.position = position;
        self
    }

    /// Of which this is known.
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// As the chunks of one document, in this order.
    pub fn numbered(mut chunks: Vec<Self>) -> Vec<Self> {
        let total = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
        for (index, chunk) in (0..total).zip(&mut chunks) {
            (chunk.chunk_index, chunk.total_chunks) = (index, total);
        }
        chunks
    }

    /// Its text, if it is text.
    pub fn text(&self) -> Option<&str> {
        self.content.as_text()
    }
}
