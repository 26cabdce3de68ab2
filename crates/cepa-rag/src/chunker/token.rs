//! [`TokenChunker`]: chunks of so many tokens.

use cepa_core::{OutputBlock, TextBlock};

use super::{
    Chunker, code,
    cutter::{Cutter, Lines},
    markdown, table,
};
use crate::{Chunk, RagError, Section, SectionKind};

/// Cuts texts into chunks of at most so many tokens, by the estimate of [`cepa_core::estimate_tokens`]: four bytes of
/// UTF-8 make a token (AgentScope's `ApproxTokenChunker`).
///
/// It cuts where a reader would: prose at the ends of paragraphs, else of sentences, lines, words; Markdown at headings
/// and blocks, and a chunk's position names the headings above it; code at its outermost items; tables between rows,
/// with the first row, the header, above the rows of each chunk. It never cuts within what is seen as one character: a
/// single such character may be longer than the limit, nothing else.
///
/// A chunk begins with the end of the one before ([`overlap`](TokenChunkerBuilder::overlap)), so that a thought that
/// was cut is whole in one of them; not across a heading of Markdown, and not in tables. Empty lines around a chunk and
/// spaces at its end are left out. Images, sounds and files pass as they are.
///
/// ```
/// use cepa_core::TextBlock;
/// use cepa_rag::{Chunker, Section, SectionKind, TokenChunker};
///
/// # fn main() -> Result<(), cepa_rag::RagError> {
/// let text = "# Onions\n\nThey grow in layers.\n\n## Peeling\n\nBegin at the top, and mind your eyes.\n";
/// let section = Section::new("onions.md", TextBlock::new(text)).with_kind(SectionKind::Markdown);
///
/// let chunks = TokenChunker::builder().max_tokens(15).overlap(0).build()?.chunk(vec![section]);
///
/// assert_eq!(chunks[1].text(), Some("## Peeling\n\nBegin at the top, and mind your eyes."));
/// assert_eq!(chunks[1].position.to_string(), "Onions > Peeling, lines 5-7");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenChunker {
    max_tokens: usize,
    overlap: usize,
}

/// Settings of a [`TokenChunker`].
#[derive(Clone, Debug)]
#[must_use]
pub struct TokenChunkerBuilder {
    max_tokens: usize,
    overlap: usize,
}

impl Default for TokenChunker {
    /// 512 tokens, of which 64 overlap.
    fn default() -> Self {
        Self { max_tokens: 512, overlap: 64 }
    }
}

impl TokenChunker {
    /// To set how long chunks are.
    pub fn builder() -> TokenChunkerBuilder {
        let Self { max_tokens, overlap } = Self::default();
        TokenChunkerBuilder { max_tokens, overlap }
    }

    /// The most tokens of a chunk.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The most tokens that a chunk repeats of the one before.
    pub fn overlap(&self) -> usize {
        self.overlap
    }
}

impl TokenChunkerBuilder {
    /// The most tokens of a chunk. Default 512.
    pub fn max_tokens(mut self, max_tokens: usize) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// The most tokens that a chunk repeats of the one before. Default 64.
    pub fn overlap(mut self, overlap: usize) -> Self {
        self.overlap = overlap;
        self
    }

    /// The chunker.
    ///
    /// # Errors
    /// [`RagError::Settings`] when chunks can hold nothing, or would repeat more than half of the one before.
    pub fn build(self) -> Result<TokenChunker, RagError> {
        let Self { max_tokens, overlap } = self;
        if max_tokens == 0 {
            return Err(RagError::Settings(
                "chunks of 0 tokens hold nothing: set `max_tokens` to 1 or more".into(),
            ));
        }
        if overlap > max_tokens / 2 {
            return Err(RagError::Settings(format!(
                "chunks of {max_tokens} tokens cannot overlap by {overlap}: set `overlap` to {} or less",
                max_tokens / 2
            )));
        }
        Ok(TokenChunker { max_tokens, overlap })
    }
}

impl Chunker for TokenChunker {
    fn chunk(&self, sections: Vec<Section>) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        for section in sections {
            self.section(section, &mut chunks);
        }
        Chunk::numbered(chunks)
    }
}

impl TokenChunker {
    fn section(&self, section: Section, chunks: &mut Vec<Chunk>) {
        let OutputBlock::Text(block) = &section.content else {
            let chunk = Chunk::new(section.source, section.content).with_position(section.position);
            chunks.push(chunk.with_metadata(section.metadata));
            return;
        };
        // (n + 2) / 4 tokens, rounded down, are at most `max_tokens`
        let limit = self.max_tokens.saturating_mul(4).saturating_add(1);
        let cutter = Cutter { text: &block.text, limit, overlap: self.overlap.saturating_mul(4) };
        let mut lines = Lines::new(&block.text, section.position.lines.map_or(1, |(first, _)| first));
        let mut emit = |piece: Piece<'_>| {
            let mut position = section.position.clone();
            position.lines = Some(lines.of(piece.start, piece.end));
            position.headings.extend_from_slice(piece.headings);
            let text = &block.text[piece.start..piece.end];
            let text = match section.kind {
                SectionKind::Table => table::text(piece.header, text),
                _ => text.to_owned(),
            };
            let chunk = Chunk::new(section.source.as_str(), TextBlock::new(text)).with_position(position);
            chunks.push(chunk.with_metadata(section.metadata.clone()));
        };
        match &section.kind {
            SectionKind::Prose => {
                cutter.pieces(0..block.text.len(), &[], |start, end| emit(Piece::new(start, end)));
            }
            SectionKind::Code(_) => {
                let breaks = code::breaks(&block.text);
                cutter.pieces(0..block.text.len(), &breaks, |start, end| emit(Piece::new(start, end)));
            }
            SectionKind::Markdown => {
                for part in markdown::parts(&block.text, limit) {
                    let headings = &part.headings;
                    cutter.pieces(part.range, &part.breaks, |start, end| {
                        emit(Piece { start, end, headings, header: None });
                    });
                }
            }
            SectionKind::Table => table::pieces(&cutter, |start, end, header| {
                emit(Piece { start, end, headings: &[], header });
            }),
        }
    }
}

/// A piece of the text of a section.
struct Piece<'a> {
    start: usize,
    end: usize,
    /// Within the section.
    headings: &'a [String],
    /// What stands above it.
    header: Option<&'a str>,
}

impl Piece<'_> {
    fn new(start: usize, end: usize) -> Self {
        Self { start, end, headings: &[], header: None }
    }
}
