//! The line of a problem, with a mark under its place.

use std::ops::Range;

use super::skeleton::{Row, Rows};
use crate::columns::{Cell, cells};
use crate::harmless::Reading;
use crate::style::{Line, Style};

/// A line of a file and the marks under it.
pub(super) struct Excerpt {
    pub(super) line: Line,
    pub(super) marks: Line,
}

/// The excerpts of a text. Whoever wants them in order has it read once.
pub(super) struct Excerpts<'a> {
    text: &'a str,
    rows: Rows<'a>,
    /// The line that was read last.
    row: Option<Row<'a>>,
}

impl<'a> Excerpts<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, rows: Rows::of(text), row: None }
    }

    /// The line in which `span` begins, in at most `width` columns, marked in this style.
    pub(super) fn at(
        &mut self,
        span: &Range<usize>,
        width: usize,
        style: Style,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Excerpt {
        if self.row.as_ref().is_some_and(|row| span.start < row.start) {
            *self = Self::of(self.text);
        }
        while self.row.as_ref().is_none_or(|row| row.start + row.text.len() < span.start) {
            let Some(row) = self.rows.next() else { break };
            self.row = Some(row);
        }
        match &self.row {
            Some(row) => excerpt(row, span, width.max(20), style, is_known),
            None => Excerpt { line: Line::default(), marks: Line::default() },
        }
    }
}

fn excerpt(row: &Row<'_>, span: &Range<usize>, width: usize, style: Style, is_known: &dyn Fn(&str) -> bool) -> Excerpt {
    let within = |at: usize| at.saturating_sub(row.start).min(row.text.len());
    let span = within(span.start)..within(span.end.max(span.start));
    let mut shown = String::new();
    let mut marked: Option<Range<usize>> = None;
    for piece in row.around(span.start, width, is_known) {
        let begin = shown.len();
        shown.push_str(&piece.shown);
        // What stands for other characters is marked as one; of a blank the one that is meant.
        let same = piece.shown.len() == piece.bytes.len();
        let within = |at: usize| if same { begin + at - piece.bytes.start } else { begin };
        if piece.bytes.start < span.end.max(span.start + 1) && span.start < piece.bytes.end {
            let to = if same { within(span.end.min(piece.bytes.end)) } else { shown.len() };
            let from = marked.map_or(within(span.start.max(piece.bytes.start)), |marked| marked.start);
            marked = Some(from..to.max(from));
        }
    }
    // Where something is missing at the end of the line, the mark is after it.
    let marked = marked.unwrap_or(shown.len()..shown.len());
    let row: Vec<Cell> = cells(&shown, Reading::Exact).collect();
    let columns = row.last().map_or(0, |cell| cell.place.end);
    let column = |byte: usize| row.iter().find(|cell| cell.bytes.end > byte).map_or(columns, |cell| cell.place.start);
    let (from, to) = (column(marked.start), column(marked.end));
    let place = from..to.max(from + 1);
    cut(&row, place, columns, width, style)
}

/// The part of a row around `place`, with a sign where something is left out.
fn cut(row: &[Cell], place: Range<usize>, columns: usize, width: usize, style: Style) -> Excerpt {
    let whole = columns.max(place.end) <= width;
    let first = if whole { 0 } else { place.start.saturating_sub(width / 3) };
    let window = first..if whole { columns } else { first + width - 2 };
    let mut line = Line::default();
    let lead = usize::from(first > 0);
    line.push(Style::Plain, if lead > 0 { "…" } else { "" });
    let seen = row.iter().filter(|cell| cell.place.start >= window.start && cell.place.end <= window.end);
    let mut begin = None;
    for cell in seen {
        begin.get_or_insert(cell.place.start);
        let mut text = String::new();
        cell.push_to(&mut text);
        line.push(Style::Plain, &text);
    }
    line.push(Style::Plain, if window.end < columns { "…" } else { "" });
    let begin = begin.unwrap_or(window.start);
    let mut marks = Line::of(Style::Plain, " ".repeat(place.start.saturating_sub(begin) + lead));
    let length = place.end.min(window.end.max(place.start + 1)) - place.start;
    marks.push(style, &"^".repeat(length));
    Excerpt { line, marks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Color;

    fn shown(text: &str, part: &str, width: usize) -> [String; 2] {
        let start = text.find(part).unwrap();
        let known = |key: &str| ["command", "日本", "env"].contains(&key);
        let Excerpt { line, marks } = Excerpts::of(text).at(&(start..start + part.len()), width, Style::Plain, &known);
        let paint = Color::Never.on_terminal(|_| None);
        [paint.line(&line), paint.line(&marks)]
    }

    #[test]
    fn marks_stand_under_what_they_mark() {
        let cases = [
            ("{\n  \"command\": 12\n}", "12", 80, ["  \"command\": …", "             ^"]),
            ("{\n  \"command\": 12\n}", "\"command\"", 80, ["  \"command\": …", "  ^^^^^^^^^"]),
            (
                "\u{feff}{\r\n\t\"日本\": \"long value\" }",
                "\"long value\"",
                80,
                ["        \"日本\": \"…\" }", "                ^^^"],
            ),
            ("\"command\": 1,\r\"env\": sk secret", "secret", 80, ["\"env\": …", "       ^"]),
            (
                "\"env\": {}, \"env\": {}, \"env\": {}, \"command\": [], \"env\": {}, \"env\": {}",
                "\"command\"",
                30,
                ["…env\": {}, \"command\": [], \"en…", "           ^^^^^^^^^"],
            ),
        ];
        for (text, part, width, expected) in cases {
            assert_eq!(shown(text, part, width), expected, "{text}");
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{{ {} \"command\": 12, {} }}", "\"env\": {}, ".repeat(1000), "[], ".repeat(1000));
        assert_eq!(
            shown(&text, "12", 40),
            ["…  \"command\": …, [], [], [], [], [], []…", "              ^"].map(str::to_owned)
        );
        let blanks = format!("{}\"command\":{}1", " ".repeat(5000), " ".repeat(5000));
        assert_eq!(
            shown(&blanks, "\"command\"", 40),
            [format!("…{}\"command\":{}…", " ".repeat(13), " ".repeat(15)), format!("{}^^^^^^^^^", " ".repeat(14))]
        );
    }

    /// In whatever order they are wanted.
    #[test]
    fn excerpts_of_one_text_are_the_same_as_each_alone() {
        let text = "{ /* x\n\"env\": */ \"command\": 1,\r\n  \"env\": {} }";
        let paint = Color::Never.on_terminal(|_| None);
        let mut all = Excerpts::of(text);
        let of = |excerpts: &mut Excerpts<'_>, at: usize| {
            let Excerpt { line, marks } = excerpts.at(&(at..at + 1), 80, Style::Plain, &|_| true);
            [paint.line(&line), paint.line(&marks)]
        };
        for at in (0..text.len()).chain((0..text.len()).rev()) {
            assert_eq!(of(&mut all, at), of(&mut Excerpts::of(text), at), "{at}");
        }
    }

    #[test]
    fn what_is_missing_is_marked_where_it_should_be() {
        let at = |text: &str, at: usize| {
            let Excerpt { line, marks } = Excerpts::of(text).at(&(at..at), 80, Style::Plain, &|_| true);
            let paint = Color::Never.on_terminal(|_| None);
            [paint.line(&line), paint.line(&marks)]
        };
        assert_eq!(at("\"a\": 1\n\"b\": 2", 6), ["\"a\": …", "      ^"]);
        assert_eq!(at("{ \"a\": }", 6), ["{ \"a\": }", "      ^"]);
        assert_eq!(at("", 0), ["", "^"]);
    }
}
