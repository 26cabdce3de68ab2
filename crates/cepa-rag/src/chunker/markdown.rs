//! Where Markdown is cut: at its headings, and at its blocks.

use std::ops::Range;

use super::cutter::Break;

/// A part of a document below its headings.
pub(super) struct Part {
    pub(super) range: Range<usize>,
    /// Above it or at its start, outermost first.
    pub(super) headings: Vec<String>,
    /// Starts of blocks.
    pub(super) breaks: Vec<Break>,
    /// Nothing but headings so far.
    is_bare: bool,
    /// How deep its first heading is.
    depth: usize,
}

const HEADING: u8 = 2;
const BLOCK: u8 = 1;

/// The parts of a document: one for each heading. A small one is with those below it and beside it as long as they fit,
/// and a heading is always with what is below it.
pub(super) fn parts(text: &str, limit: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for part in headed(text) {
        match parts.last_mut() {
            Some(last) if last.is_bare || last.has_room(&part, limit) => last.join(part),
            _ => parts.push(part),
        }
    }
    parts
}

impl Part {
    fn new(start: usize, headings: Vec<String>, is_bare: bool) -> Self {
        let depth = headings.len();
        Self { range: start..start, headings, breaks: Vec::new(), is_bare, depth }
    }

    fn has_room(&self, next: &Self, limit: usize) -> bool {
        let is_small = self.range.len() < limit / 4 && next.range.end - self.range.start <= limit;
        is_small && next.depth >= self.depth
    }

    fn join(&mut self, next: Self) {
        if self.is_bare && next.headings.starts_with(&self.headings) {
            self.headings = next.headings;
        } else {
            // what both are below
            let common =
                self.headings.iter().zip(&next.headings).take_while(|(one, other)| one == other).count();
            self.headings.truncate(common);
        }
        self.is_bare &= next.is_bare;
        self.range.end = next.range.end;
        self.breaks.push(Break { at: next.range.start, rank: HEADING });
        self.breaks.extend(next.breaks);
    }
}

/// One part for each heading, and one for what is above the first.
fn headed(text: &str) -> Vec<Part> {
    let mut parts = vec![Part::new(0, Vec::new(), true)];
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut fence = Fence::default();
    let (mut at, mut after_blank) = (front_matter(text), true);
    let mut lines = text[at..].split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let was_code = fence.is_open();
        fence.line(line);
        let heading = if was_code || fence.is_open() { None } else { heading(line) };
        let heading = heading.or_else(|| {
            // a title and a line below it
            let is_text = after_blank && !was_code && !fence.is_open() && !line.trim().is_empty();
            let level = lines.peek().filter(|_| is_text).and_then(|below| underline(below))?;
            at += lines.next().map_or(0, str::len);
            Some((level, line.trim()))
        });
        if let Some((level, title)) = heading {
            while open.pop_if(|(above, _)| *above >= level).is_some() {}
            open.push((level, title.to_owned()));
            if let Some(last) = parts.last_mut() {
                last.range.end = start;
            }
            parts.push(Part::new(start, open.iter().map(|(_, title)| title.clone()).collect(), true));
            after_blank = true;
            continue;
        }
        let is_blank = line.trim().is_empty() && !was_code;
        if let Some(last) = parts.last_mut().filter(|_| !is_blank) {
            last.is_bare = false;
            if after_blank || fence.is_open() && !was_code {
                last.breaks.push(Break { at: start, rank: BLOCK });
            }
        }
        after_blank = is_blank;
    }
    if let Some(last) = parts.last_mut() {
        last.range.end = text.len();
    }
    parts.retain(|part| !part.range.is_empty());
    parts
}

/// The length of the settings between two lines of `---` at the start.
fn front_matter(text: &str) -> usize {
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        match (index, line.trim_end()) {
            (0, "---") => {}
            (0, _) => return 0,
            (_, "---") => return at + line.len(),
            _ => {}
        }
        at += line.len();
    }
    0
}

/// `## Title`, and maybe `##` after it.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = unindented(line)?.trim_end();
    let title = text.trim_start_matches('#');
    let level = text.len() - title.len();
    if !(1..=6).contains(&level) || !(title.is_empty() || title.starts_with([' ', '\t'])) {
        return None;
    }
    let title = title.trim();
    let without = title.trim_end_matches('#');
    // `C#` is no heading `C`
    Some((level, if without.is_empty() || without.ends_with(' ') { without.trim_end() } else { title }))
}

fn underline(line: &str) -> Option<usize> {
    let text = unindented(line)?.trim_end();
    match text.as_bytes().first()? {
        b'=' if text.trim_start_matches('=').is_empty() => Some(1),
        b'-' if text.trim_start_matches('-').is_empty() && text.len() > 1 => Some(2),
        _ => None,
    }
}

/// Without the spaces before it, if they are so few that it is no code.
fn unindented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() < 4).then_some(text)
}

/// Whether lines are code between fences.
#[derive(Default)]
struct Fence(Option<(char, usize)>);

impl Fence {
    fn is_open(&self) -> bool {
        self.0.is_some()
    }

    fn line(&mut self, line: &str) {
        let text = line.trim();
        let Some(mark) = text.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return };
        let rest = text.trim_start_matches(mark);
        let len = text.len() - rest.len();
        match self.0 {
            None if len >= 3 && !(mark == '`' && rest.contains('`')) => self.0 = Some((mark, len)),
            Some((open, least)) if mark == open && len >= least && rest.is_empty() => self.0 = None,
            _ => {}
        }
    }
}
