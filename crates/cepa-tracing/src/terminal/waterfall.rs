//! A tree of spans as lines.

use std::time::Duration;

use super::columns::{cut, left, right, width};
use crate::view::{Kind, Row, Status, Tree, duration};

/// How it is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Columns of a line.
    pub(super) width: usize,
    pub(super) colours: bool,
}

/// Columns without which a bar or a status says nothing.
const MIN_BAR: usize = 8;
const MIN_STATUS: usize = 8;
const GAP: &str = "  ";

const RED: &str = "1;31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const DIM: &str = "2";

/// The lines of a reply.
pub(super) fn waterfall(tree: &Tree, style: Style) -> String {
    let rows: Vec<Line> = tree.rows().iter().map(|row| Line::of(row, style.width / 10)).collect();
    let whole = tree.duration();
    let column = |head, cell: Cell| {
        let widest = rows.iter().map(|row| width(cell(row))).max().unwrap_or(0);
        Column { head, cell, wide: if widest > 0 { widest.max(head.len()) } else { 0 } }
    };
    let name = column("SPAN", |row| &row.name).wide.min(style.width * 2 / 5);
    let mut numbers = vec![
        column("TIME", |row| &row.time),
        column("TOKENS", |row| &row.tokens),
        column("FIRST", |row| &row.first),
    ];
    numbers.retain(|column| column.wide > 0);
    let free = |numbers: &[Column]| {
        let taken: usize = numbers.iter().map(|column| column.wide + GAP.len()).sum();
        style.width.saturating_sub(taken + name + 2 * GAP.len())
    };
    // Where it is narrow, the times are what is wanted most.
    while numbers.len() > 1 && free(&numbers) < MIN_BAR + MIN_STATUS {
        numbers.pop();
    }
    let free = free(&numbers);
    let status = column("STATUS", |row| &row.status).wide.min((free * 2 / 5).max(MIN_STATUS));
    let bar = free.saturating_sub(status);

    let paint = |text: String, colour: &str| match style.colours && !colour.is_empty() {
        true => format!("\x1b[{colour}m{text}\x1b[0m"),
        false => text,
    };
    let numbers = |cell: &dyn Fn(&Column) -> String| {
        numbers.iter().map(|column| format!("{GAP}{}", right(&cell(column), column.wide))).collect::<String>()
    };

    let scale = format!("0{}", right(&duration(whole), bar.saturating_sub(1)));
    let heads = numbers(&|column| column.head.to_owned());
    let mut text = paint(format!("{}{GAP}{scale}{heads}{GAP}STATUS", left("SPAN", name)), DIM) + "\n";
    for row in &rows {
        let line = [
            left(&cut(&row.name, name), name),
            GAP.to_owned(),
            paint(left(&draw(row, whole, bar), bar), row.bar_colour),
            numbers(&|column| (column.cell)(row).to_owned()),
            GAP.to_owned(),
            paint(cut(&row.status, status), row.status_colour),
        ];
        text.push_str(line.concat().trim_end());
        text.push('\n');
    }
    if tree.spans_left_out > 0 {
        text.push_str(&format!("… {} more spans were left out\n", tree.spans_left_out));
    }
    text.push('\n');
    text
}

type Cell = fn(&Line) -> &str;

struct Column {
    head: &'static str,
    cell: Cell,
    /// How many columns of the terminal it takes: none where nothing is in it.
    wide: usize,
}

/// What stands in a line.
struct Line {
    name: String,
    start: Duration,
    /// When the answer began, where it is one.
    first_at: Duration,
    end: Duration,
    time: String,
    tokens: String,
    first: String,
    status: String,
    bar_colour: &'static str,
    status_colour: &'static str,
}

impl Line {
    /// Of a span. Levels deeper than this are not indented further.
    fn of(row: &Row<'_>, max_depth: usize) -> Self {
        let node = row.node;
        let status = node.status();
        let first = node.first_chunk();
        Self {
            name: format!("{}{}", "  ".repeat(row.depth.min(max_depth)), node.name),
            start: node.start,
            first_at: node.start.saturating_add(first.unwrap_or_default()),
            end: row.end,
            time: duration(row.duration()),
            tokens: node.tokens().map(|(sent, written)| format!("{sent}→{written}")).unwrap_or_default(),
            first: first.map(duration).unwrap_or_default(),
            bar_colour: match node.kind() {
                Kind::Agent => "35",
                Kind::Chat => "36",
                Kind::Tool => "33",
                Kind::Other => DIM,
            },
            status_colour: match status {
                Status::Error { .. } => RED,
                Status::Waiting(_) | Status::Cancelled => YELLOW,
                Status::Ok => GREEN,
                Status::Unset => "",
            },
            status: match status {
                Status::Error { description: Some(description), .. } => format!("{status}: {description}"),
                _ => status.to_string(),
            },
        }
    }
}

/// A bar at its place, to an eighth of a column where it ends and to a half where it begins.
fn draw(line: &Line, whole: Duration, columns: usize) -> String {
    let eighths = |time: Duration| {
        let share = time.as_secs_f64() / whole.as_secs_f64().max(f64::MIN_POSITIVE);
        (share * columns as f64 * 8.0).round() as usize
    };
    let first_column = (eighths(line.start) / 8).min(columns.saturating_sub(1));
    let begins_late = eighths(line.start) >= first_column * 8 + 4;
    let end = eighths(line.end).clamp(first_column * 8 + 1, columns * 8);
    let answered = eighths(line.first_at);

    let mut bar = " ".repeat(first_column);
    for column in first_column..end.div_ceil(8) {
        bar.push(match end - column * 8 {
            eighths @ 1..8 => ['▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths - 1],
            _ if column == first_column && begins_late => '▐',
            _ if (column + 1) * 8 <= answered => '▒',
            _ => '█',
        });
    }
    bar
}

#[cfg(test)]
mod tests;
