//! [`HtmlParser`].

use std::rc::Rc;

use htmd::{HtmlToMarkdown, Node};

use super::{
    guard::guarded,
    text::{decoded, parsed},
};
use crate::{File, Parsed, Parser, RagError, SectionKind};

/// How deep elements may be in each other: what comes after works by recursion, and real pages have some dozens.
const MAX_DEPTH: usize = 256;

/// Reads HTML as Markdown, without its head, scripts and styles. Chunks of it know the headings above them. Encodings
/// are those of [`TextParser`](crate::TextParser).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct HtmlParser {}

impl Parser for HtmlParser {
    fn extensions(&self) -> &[&str] {
        &["html", "htm", "xhtml"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        let html = decoded(file)?;
        let markdown = guarded(|| markdown(&html)).unwrap_or_else(Err);
        Ok(parsed(
            file,
            markdown.map_err(|reason| RagError::parse(&*file.name, reason))?,
            SectionKind::Markdown,
        ))
    }
}

fn markdown(html: &str) -> Result<String, String> {
    let skipped = vec!["head", "script", "style", "template", "noscript", "svg"];
    let converter = HtmlToMarkdown::builder().skip_tags(skipped).build();
    let tree = converter.html_to_tree(html).map_err(|error| error.to_string())?;
    let mut open: Vec<(Rc<Node>, usize)> = vec![(tree.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return Err(format!("its elements are more than {MAX_DEPTH} deep in each other"));
        }
        open.extend(node.children.borrow().iter().map(|child| (child.clone(), depth + 1)));
    }
    Ok(converter.tree_to_markdown(&tree))
}
