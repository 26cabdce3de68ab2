//! The output of a call, up to a size.

use std::fmt;

use cepa_core::{Acting, Id, OutputBlock, Source, TextBlock, ToolChunk, ToolResponse, chain::Content};

/// What a block of data takes beside its bytes, about.
const DATA_BLOCK: usize = 256;

/// What the chunks of a call add up to. What is over the size is left out and counted.
#[derive(Default)]
pub(super) struct Output {
    fold: <Acting as Content>::Fold,
    /// Bytes that may still be kept.
    left: usize,
    /// Bytes that were left out.
    cut: usize,
    /// The data block of which the first piece was left out.
    broken: Option<Id>,
}

impl Output {
    pub(super) fn new(most: usize) -> Self {
        Self { left: most, ..Self::default() }
    }

    pub(super) fn add(&mut self, chunk: &ToolChunk) {
        if size(chunk) <= self.left {
            self.left -= size(chunk);
            Acting::fold(&mut self.fold, chunk);
            return;
        }
        for block in &chunk.content {
            self.add_cut(block);
        }
    }

    fn add_cut(&mut self, block: &OutputBlock) {
        let whole = size_of(block);
        let kept = match block {
            OutputBlock::Text(block) => {
                let text = begin_of(&block.text, self.left);
                if !text.is_empty() {
                    let piece = TextBlock::new(text).with_id(block.id.clone());
                    Acting::fold(&mut self.fold, &ToolChunk::from_blocks(vec![piece.into()]));
                }
                text.len()
            }
            other if whole <= self.left => {
                Acting::fold(&mut self.fold, &ToolChunk::from_blocks(vec![other.clone()]));
                whole
            }
            other => {
                self.broken.get_or_insert_with(|| other.id().clone());
                0
            }
        };
        // No gaps: what comes after a cut is left out, too.
        self.left = if kept < whole { 0 } else { self.left - kept };
        self.cut += whole - kept;
    }

    /// The blocks, and how many bytes are left out of them. Data that may not be whole is left out: no model can read it.
    pub(super) fn into_parts(self, ended_well: bool) -> (Vec<OutputBlock>, usize) {
        let mut response = ToolResponse::streamed();
        Acting::put(&mut response, self.fold, true);
        let mut cut = self.cut;
        let mut blocks = response.content.blocks().to_vec();
        blocks.retain(|block| {
            let whole = match block {
                OutputBlock::Text(_) => true,
                data => ended_well && self.broken.as_ref() != Some(data.id()),
            };
            cut += if whole { 0 } else { size_of(block) };
            whole
        });
        (blocks, cut)
    }
}

/// The begin of a text, up to so many bytes.
fn begin_of(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn size(chunk: &ToolChunk) -> usize {
    chunk.content.iter().map(size_of).sum()
}

/// The bytes of a text or of data; each block of data counts for what it takes beside.
fn size_of(block: &OutputBlock) -> usize {
    match block {
        OutputBlock::Text(block) => block.text.len(),
        OutputBlock::Data(block) => {
            DATA_BLOCK
                + match &block.source {
                    Source::Base64 { data, .. } => data.len(),
                    Source::Url { url, .. } => url.len(),
                    _ => 0,
                }
        }
        _ => 0,
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("left", &self.left).field("cut", &self.cut).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use cepa_core::DataBlock;

    use super::*;

    fn text_of(output: Output) -> (String, usize) {
        let (blocks, cut) = output.into_parts(true);
        (blocks.iter().filter_map(OutputBlock::as_text).collect(), cut)
    }

    #[test]
    fn text_is_cut_between_characters_and_has_no_gaps() {
        let mut output = Output::new(8);
        for piece in ["abc", "äöü", "x", "y"] {
            output.add(&ToolChunk::text(piece));
        }
        assert_eq!(text_of(output), ("abcäö".to_owned(), 4));
        let mut none = Output::new(0);
        none.add(&ToolChunk::text("abc"));
        assert_eq!(text_of(none), (String::new(), 3));
    }

    #[test]
    fn data_that_may_not_be_whole_is_left_out() {
        let piece = |id: &str, data: &str| {
            ToolChunk::data(DataBlock::new(Source::base64(data, "image/png")).with_id(id))
        };
        let output = |most| {
            let mut output = Output::new(most);
            for chunk in [piece("a", "AAAA"), piece("b", "AAAA"), piece("b", "BBBB")] {
                output.add(&chunk);
            }
            output
        };
        let ids = |(blocks, cut): (Vec<OutputBlock>, usize)| {
            (blocks.iter().map(|block| block.id().to_string()).collect::<Vec<_>>(), cut)
        };
        assert_eq!(ids(output(10_000).into_parts(true)), (vec!["a".to_owned(), "b".to_owned()], 0));
        assert_eq!(ids(output(10_000).into_parts(false)).0, Vec::<String>::new());
        let (kept, cut) = ids(output(2 * (DATA_BLOCK + 4)).into_parts(true));
        assert_eq!((kept, cut), (vec!["a".to_owned()], 2 * (DATA_BLOCK + 4)));
    }
}
