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
/// How many elements may be without an end, to begin with: each takes as much time as there are others.
const MAX_UNCLOSED: usize = 2000;

/// Elements that need no end, or have none.
const ENDLESS: [&str; 28] = [
    "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "optgroup", "option", "p", "param", "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "track",
    "wbr",
];

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
    let too_deep = || format!("its elements are more than {MAX_DEPTH} deep in each other");
    if unclosed(html) > MAX_UNCLOSED {
        return Err(too_deep());
    }
    let skipped = vec!["head", "script", "style", "template", "noscript", "svg"];
    let converter = HtmlToMarkdown::builder().skip_tags(skipped).build();
    let tree = converter.html_to_tree(html).map_err(|error| error.to_string())?;
    let mut open: Vec<(Rc<Node>, usize)> = vec![(tree.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        open.extend(node.children.borrow().iter().map(|child| (child.clone(), depth + 1)));
    }
    Ok(converter.tree_to_markdown(&tree))
}

/// The most elements that are open at once, as far as a look at the tags can tell.
fn unclosed(html: &str) -> usize {
    let (mut open, mut most, mut at) = (0_usize, 0_usize, 0);
    while let Some(tag) = memchr::memchr(b'<', &html.as_bytes()[at..]).map(|found| at + found + 1) {
        at = tag;
        let rest = &html[tag..];
        let is_end = rest.starts_with('/');
        let name = rest
            .trim_start_matches('/')
            .split(|c: char| !c.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        let name = name.get(..name.len().min(20)).unwrap_or_default().to_ascii_lowercase();
        if name.is_empty() || name == "tr" || ENDLESS.contains(&name.as_str()) {
            continue;
        }
        if is_end {
            open = open.saturating_sub(1);
            continue;
        }
        // programs, styles and drawings nest in their own ways
        if ["script", "style", "svg", "math"].contains(&name.as_str()) {
            let end = format!("</{name}");
            at =
                memchr::memmem::find(rest.as_bytes(), end.as_bytes()).map_or(html.len(), |end| tag + end + 1);
            continue;
        }
        open += 1;
        most = most.max(open);
    }
    most
}
