//! Paragraphs and tables, as Markdown.

use super::one_line;

/// What a paragraph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Its level, from 1.
    Heading(usize),
    /// How deep it is in other lists, from 0.
    Item(usize),
    /// A line of a text box.
    Line,
}

/// Markdown that is being written. Paragraphs may be in paragraphs (text boxes), and tables in tables.
#[derive(Default)]
pub(super) struct Blocks {
    markdown: String,
    last: Option<Kind>,
    paragraphs: Vec<String>,
    /// Rows of cells.
    tables: Vec<Vec<Vec<String>>>,
}

impl Blocks {
    pub(super) fn begin_paragraph(&mut self) {
        self.paragraphs.push(String::new());
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.push_str(text);
        }
    }

    pub(super) fn end_paragraph(&mut self, kind: Kind) {
        let Some(text) = self.paragraphs.pop() else { return };
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match self.tables.last_mut() {
            Some(table) => {
                if let Some(cell) = table.last_mut().and_then(|row| row.last_mut()) {
                    append(cell, text);
                }
            }
            None => self.block(kind, text),
        }
    }

    pub(super) fn drop_paragraph(&mut self) {
        self.paragraphs.pop();
    }

    pub(super) fn begin_table(&mut self) {
        self.tables.push(Vec::new());
    }

    pub(super) fn begin_row(&mut self) {
        self.tables.last_mut().into_iter().for_each(|table| table.push(Vec::new()));
    }

    pub(super) fn begin_cell(&mut self) {
        self.tables
            .last_mut()
            .and_then(|table| table.last_mut())
            .into_iter()
            .for_each(|row| row.push(String::new()));
    }

    pub(super) fn end_table(&mut self) {
        let Some(table) = self.tables.pop() else { return };
        if let Some(cell) = self.tables.last_mut().and_then(|table| table.last_mut()?.last_mut()) {
            for text in table.iter().flatten() {
                append(cell, text);
            }
            return;
        }
        let columns = table.iter().map(Vec::len).max().unwrap_or_default();
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |", cells.join(" | "))
        };
        let mut lines: Vec<String> = table.iter().map(|cells| row(cells)).collect();
        if columns == 0 || table.iter().flatten().all(String::is_empty) {
            return;
        }
        lines.insert(1, format!("|{}", " --- |".repeat(columns)));
        self.push(Kind::Text, &lines.join("\n"));
    }

    /// The Markdown, with what was never closed.
    pub(super) fn finish(mut self) -> String {
        while !self.paragraphs.is_empty() {
            self.end_paragraph(Kind::Text);
        }
        while !self.tables.is_empty() {
            self.end_table();
        }
        self.markdown
    }

    fn block(&mut self, kind: Kind, text: &str) {
        let text = match kind {
            Kind::Heading(level) => format!("{} {}", "#".repeat(level.clamp(1, 6)), one_line(text)),
            Kind::Item(depth) => format!("{}- {}", "  ".repeat(depth.min(8)), one_line(text)),
            // text that only looks like a heading or the fence of code
            Kind::Text | Kind::Line if text.starts_with(['#', '`', '~']) => format!("\\{text}"),
            Kind::Text | Kind::Line => text.to_owned(),
        };
        self.push(kind, &text);
    }

    fn push(&mut self, kind: Kind, text: &str) {
        match (self.last, kind) {
            (None, _) => {}
            (Some(Kind::Item(_)), Kind::Item(_)) | (Some(Kind::Line), Kind::Line) => self.markdown.push('\n'),
            _ => self.markdown.push_str("\n\n"),
        }
        self.last = Some(kind);
        self.markdown.push_str(text);
    }
}

/// Texts of a cell, on one line.
fn append(cell: &mut String, text: &str) {
    for word in text.split_whitespace() {
        if !cell.is_empty() {
            cell.push(' ');
        }
        cell.push_str(word);
    }
}
