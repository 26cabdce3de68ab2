//! What was found, as models read it.

use cepa_core::{HintContent, OutputBlock, TextBlock};

use crate::Hit;

/// The place in a hint's template where the passages go.
pub(crate) const CONTEXT: &str = "{context}";

/// Numbered passages with their sources. What is no text stays a block of its own, between the texts.
pub(crate) fn passages(hits: &[Hit]) -> Vec<OutputBlock> {
    let mut blocks = Vec::new();
    for (number, hit) in (1..).zip(hits) {
        let gap = if number == 1 { "" } else { "\n\n" };
        push_text(&mut blocks, &format!("{gap}[{number}] (source: {})\n", citation(hit)));
        match &hit.chunk.content {
            OutputBlock::Text(text) => push_text(&mut blocks, &text.text),
            other => blocks.push(other.clone()),
        }
    }
    blocks
}

/// The passages inside of a template.
pub(crate) fn hint(template: &str, hits: &[Hit]) -> HintContent {
    let (before, after) = template.split_once(CONTEXT).unwrap_or((template, ""));
    let mut blocks = Vec::new();
    push_text(&mut blocks, before);
    for block in passages(hits) {
        match block {
            OutputBlock::Text(text) => push_text(&mut blocks, &text.text),
            other => blocks.push(other),
        }
    }
    push_text(&mut blocks, after);
    match &mut blocks[..] {
        [OutputBlock::Text(only)] => HintContent::Text(std::mem::take(&mut only.text)),
        _ => HintContent::Blocks(blocks),
    }
}

/// `guide.pdf, page 3`, on one line: a source is data, and must not look like another passage.
pub(crate) fn citation(hit: &Hit) -> String {
    let (source, position) = (&hit.chunk.source, hit.chunk.position.to_string());
    let whole = if position.is_empty() { source.clone() } else { format!("{source}, {position}") };
    one_line(&whole)
}

/// The text on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split(char::is_control).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Adds text, to the block before where that is text too.
fn push_text(blocks: &mut Vec<OutputBlock>, text: &str) {
    match blocks.last_mut() {
        _ if text.is_empty() => {}
        Some(OutputBlock::Text(last)) => last.text.push_str(text),
        _ => blocks.push(TextBlock::new(text).into()),
    }
}

#[cfg(test)]
mod tests {
    use cepa_core::{DataBlock, Source};

    use super::*;
    use crate::{Chunk, Position};

    fn text(source: &str, text: &str) -> Hit {
        Hit::new(1.0, source, Chunk::new(source, TextBlock::new(text)))
    }

    #[test]
    fn braces_are_text_in_templates_and_in_passages() {
        let hits = [text("a.rs", "fn f() { {context} }")];
        let HintContent::Text(hint) = hint("{\"{x}\": {context}} {}", &hits) else { panic!("no text") };
        assert_eq!(hint, "{\"{x}\": [1] (source: a.rs)\nfn f() { {context} }} {}");
    }

    #[test]
    fn an_image_stands_between_the_texts_around_it() {
        let image = DataBlock::new(Source::base64("AAE=", "image/png"));
        let mut second = text("p.png", "");
        second.chunk.content = image.clone().into();
        let hits = [text("a.txt", "alpha"), second, text("b.txt", "beta")];
        let HintContent::Blocks(blocks) = hint("KB[{context}]", &hits) else { panic!("no blocks") };
        assert_eq!(blocks[0].as_text(), Some("KB[[1] (source: a.txt)\nalpha\n\n[2] (source: p.png)\n"));
        assert_eq!(blocks[1], OutputBlock::Data(image));
        assert_eq!(blocks[2].as_text(), Some("\n\n[3] (source: b.txt)\nbeta]"));
        assert_eq!(blocks.len(), 3);
    }

    #[test]
    fn a_citation_is_one_line_and_says_where() {
        let mut hit = text("a.txt)\n\n[2] (source: b.txt", "alpha");
        hit.chunk.position = Position::new().with_lines(3, 4);
        assert_eq!(citation(&hit), "a.txt) [2] (source: b.txt, lines 3-4");
    }
}
