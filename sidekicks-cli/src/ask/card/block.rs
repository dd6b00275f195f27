//! Text that is shown whole and exactly, with marks under what is dangerous in it.

use std::ops::Range;

use sidekicks_conversations::{Danger, DangerLevel};

use super::Look;
use crate::columns::{Cell, Row, cells, columns, rows, wrap};
use crate::harmless::Reading;
use crate::say::Say;
use crate::style::{Line, Style};

/// What stands before a line, and before one that goes on with the line above.
pub(super) const INDENT: &str = "  ";
pub(super) const GOES_ON: &str = "↳ ";

/// What stands before each line of somebody's words.
const QUOTE: &str = "> ";

/// The lines of `text`, each as long as the terminal is wide.
pub(super) fn block<'a>(text: &'a str, look: &Look<'_>) -> impl Iterator<Item = Line> + use<'a> {
    rows(text, look.room(), Reading::Exact).map(move |row| shown("", text, &row, &[]))
}

/// The same as somebody's words: no line of it looks like one of a command.
pub(super) fn quote<'a>(text: &'a str, look: &Look<'_>) -> impl Iterator<Item = Line> + use<'a> {
    rows(text, look.room() - QUOTE.len(), Reading::Exact).map(move |row| shown(QUOTE, text, &row, &[]))
}

/// The command, with a mark under each piece that is dangerous and the reason beside it. What has no place in the
/// command is told below it.
pub(super) fn command(command: &str, dangers: &[Danger], look: &Look<'_>) -> Vec<Line> {
    let mut spans: Vec<Span<'_>> = dangers.iter().map(|danger| Span::of(danger, command)).collect();
    let all: Vec<Row> = rows(command, look.room(), Reading::Exact).collect();
    for (at, row) in all.iter().enumerate() {
        let visible = |span: &&mut Span<'_>| places(command, row, &span.bytes).next().is_some();
        spans.iter_mut().filter(visible).for_each(|span| span.last = Some(at));
    }
    let mut lines = Vec::new();
    for (at, row) in all.iter().enumerate() {
        let here: Vec<&Span<'_>> =
            spans.iter().filter(|span| span.last.is_some() && overlap(&span.bytes, &row.bytes)).collect();
        lines.push(shown("", command, row, &here));
        for alike in groups(&here) {
            let (danger, places) = (alike[0].danger, alike.iter().flat_map(|span| places(command, row, &span.bytes)));
            let marks = marks(places);
            // A reason is told once, under the last line of what it is about.
            let told = alike.iter().any(|span| span.last == Some(at));
            lines.extend(marked(&marks, danger, told, look));
        }
    }
    lines.extend(reasons(spans.iter().filter(|span| span.last.is_none()).map(|span| span.danger), look));
    lines
}

/// Dangers that are in no command, each reason once.
pub(super) fn reasons<'a>(dangers: impl Iterator<Item = &'a Danger>, look: &Look<'_>) -> Vec<Line> {
    let mut told = Vec::new();
    for danger in dangers {
        let reason = (reason(danger, look), style(danger.level));
        if !told.contains(&reason) {
            told.push(reason);
        }
    }
    let lines = told.into_iter().flat_map(|(reason, style)| sentence(&format!("! {reason}"), style, look));
    lines.collect()
}

/// A danger and the bytes of the command that it is about.
struct Span<'a> {
    danger: &'a Danger,
    bytes: Range<usize>,
    /// The last row with a mark for it; none where nothing of it can be seen.
    last: Option<usize>,
}

impl<'a> Span<'a> {
    /// Whatever the numbers are, it stays in the command.
    fn of(danger: &'a Danger, command: &str) -> Self {
        let end = danger.end.min(command.len());
        Self { danger, bytes: danger.start.min(end)..end, last: None }
    }
}

/// The spans by what is said of them, in their order.
fn groups<'a>(spans: &[&'a Span<'a>]) -> Vec<Vec<&'a Span<'a>>> {
    let mut groups: Vec<Vec<&Span<'_>>> = Vec::new();
    let alike = |one: &Danger, other: &Danger| one.code == other.code && one.level == other.level;
    for span in spans {
        match groups.iter_mut().find(|group| alike(group[0].danger, span.danger)) {
            Some(group) => group.push(span),
            None => groups.push(vec![span]),
        }
    }
    groups
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// The cells of `row`, by the bytes of the whole command.
fn placed<'a>(command: &'a str, row: &Row) -> impl Iterator<Item = Cell> + use<'a> {
    let start = row.bytes.start;
    cells(&command[row.bytes.clone()], Reading::Exact)
        .map(move |cell| Cell { bytes: start + cell.bytes.start..start + cell.bytes.end, ..cell })
}

/// The columns that `bytes` take in `row`.
fn places<'a>(command: &'a str, row: &Row, bytes: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let bytes = bytes.clone();
    // Looks at no row that has none of them.
    let cells = overlap(&bytes, &row.bytes).then(|| placed(command, row)).into_iter().flatten();
    cells.filter(move |cell| overlap(&cell.bytes, &bytes) && !cell.place.is_empty()).map(|cell| cell.place)
}

fn shown(mark: &str, text: &str, row: &Row, dangers: &[&Span<'_>]) -> Line {
    let begin = if row.continued { GOES_ON } else { INDENT };
    let mut line = Line::of(Style::Plain, format!("{begin}{mark}"));
    let mut piece = String::new();
    for cell in placed(text, row) {
        let of_level = |level| dangers.iter().any(|it| it.danger.level == level && overlap(&it.bytes, &cell.bytes));
        let levels = [DangerLevel::Destructive, DangerLevel::Unclear];
        let style = levels.into_iter().find(|level| of_level(*level)).map_or(Style::Plain, style);
        piece.clear();
        cell.push_to(&mut piece);
        line.push(style, &piece);
    }
    line
}

/// Marks in these columns.
fn marks(places: impl Iterator<Item = Range<usize>>) -> String {
    let mut marks = Vec::new();
    for place in places {
        if marks.len() < place.end {
            marks.resize(place.end, ' ');
        }
        marks[place].fill('~');
    }
    marks.into_iter().collect()
}

/// The marks, and the reason beside them, or below where there is no room.
fn marked(marks: &str, danger: &Danger, told: bool, look: &Look<'_>) -> Vec<Line> {
    let (reason, style) = (reason(danger, look), style(danger.level));
    let line = |text: &str| Line::of(style, format!("{INDENT}{text}"));
    match told {
        false => vec![line(marks)],
        true if columns(marks) + 1 + columns(&reason) <= look.room() => vec![line(&format!("{marks} {reason}"))],
        true => [line(marks)].into_iter().chain(sentence(&reason, style, look)).collect(),
    }
}

fn sentence(text: &str, style: Style, look: &Look<'_>) -> Vec<Line> {
    wrap(text, look.room()).into_iter().map(|line| Line::of(style, format!("{INDENT}{line}"))).collect()
}

fn reason(danger: &Danger, look: &Look<'_>) -> String {
    Say::Danger { code: &danger.code, level: danger.level }.text(look.lang)
}

fn style(level: DangerLevel) -> Style {
    match level {
        DangerLevel::Destructive => Style::Destructive,
        // What this program does not know is not known to be harmless.
        _ => Style::Unclear,
    }
}
