//! [`ExcelParser`].

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader, Xlsx};
use cepa_core::TextBlock;

use super::{MAX_UNPACKED, archive::Archive, one_line};
use crate::{File, Parsed, Parser, Position, RagError, Section, SectionKind, parser::guard::guarded};

/// Reads XLSX sheet by sheet: a line for each row, with ` | ` between its cells. The first row that is not empty is the
/// header, which each chunk has above its rows. Formulas are read as the values they had when the file was saved. A
/// sheet that is damaged is among the problems, and the others are read.
#[derive(Clone, Copy, Debug)]
pub struct ExcelParser {
    max_unpacked: u64,
}

impl Default for ExcelParser {
    fn default() -> Self {
        Self { max_unpacked: MAX_UNPACKED }
    }
}

impl ExcelParser {
    /// The most bytes a document may unpack to, and its rows may take as text. Default 256 MiB.
    pub fn with_max_unpacked(mut self, bytes: u64) -> Self {
        self.max_unpacked = bytes;
        self
    }
}

impl Parser for ExcelParser {
    fn extensions(&self) -> &[&str] {
        &["xlsx", "xlsm"]
    }

    fn parse(&self, file: &File) -> Result<Parsed, RagError> {
        Archive::open(file, self.max_unpacked)?.check_size()?;
        let damaged = |reason: String| RagError::parse(&*file.name, format!("it is damaged: {reason}"));
        let book = guarded(|| Xlsx::new(Cursor::new(file.bytes.as_slice())));
        let mut book = book.map_err(damaged)?.map_err(|error| damaged(error.to_string()))?;
        let mut parsed = Parsed::default();
        let mut left = usize::try_from(self.max_unpacked).unwrap_or(usize::MAX);
        for name in book.sheet_names() {
            match guarded(|| rows(&mut book, &name, &mut left)).and_then(|rows| rows) {
                Ok((text, _)) if text.trim().is_empty() => {}
                Ok((text, last)) => {
                    let mut position = Position::new().with_lines(1, last);
                    position.sheet = Some(name);
                    let section = Section::new(file.name.as_str(), TextBlock::new(text));
                    parsed.sections.push(section.with_kind(SectionKind::Table).with_position(position));
                }
                Err(reason) => {
                    let (file, place) = (file.name.clone(), Some(format!("sheet {name}")));
                    parsed.problems.push(RagError::Parse { file, place, reason });
                }
            }
        }
        if parsed.sections.is_empty() && !parsed.problems.is_empty() {
            return Err(parsed.problems.swap_remove(0));
        }
        Ok(parsed)
    }
}

/// The rows of a sheet, each on the line of its number, and the number of the last. They are read cell by cell: a sheet
/// of two cells that are far apart is small, and as a rectangle it is not.
fn rows(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str, left: &mut usize) -> Result<(String, u32), String> {
    let mut cells = book.worksheet_cells_reader(sheet).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let (mut row, mut column) = (0, 0);
    while let Some(cell) = cells.next_cell().map_err(|error| error.to_string())? {
        let value = value(cell.get_value());
        if value.is_empty() {
            continue;
        }
        let before = text.len();
        let at = cell.get_position();
        if at.0 < row || at.0 == row && at.1 < column {
            return Err("its cells are not in order".into());
        }
        for _ in row..at.0 {
            text.push('\n');
            column = 0;
        }
        for _ in column..at.1 {
            text.push_str(" | ");
        }
        (row, column) = at;
        text.push_str(&value);
        *left = left
            .checked_sub(text.len() - before)
            .ok_or("its rows are too much text; raise `with_max_unpacked`")?;
    }
    Ok((text, row + 1))
}

/// A cell, on one line.
fn value(cell: &DataRef<'_>) -> String {
    match cell {
        DataRef::Empty => String::new(),
        DataRef::Int(value) => value.to_string(),
        DataRef::Float(value) => value.to_string(),
        DataRef::Bool(value) => value.to_string(),
        DataRef::Error(error) => error.to_string(),
        DataRef::DateTime(value) => time(value),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => one_line(text),
        DataRef::SharedString(text) => one_line(text),
    }
}

fn time(value: &ExcelDateTime) -> String {
    if value.is_duration() {
        let seconds = value.as_f64() * 86_400.0;
        return format!("{seconds} s");
    }
    let (year, month, day, hour, minute, second, _) = value.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second) {
        (0, 0, 0) => date,
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}"),
    }
}
