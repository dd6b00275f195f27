//! The line of a problem, with a mark under its place.

use std::ops::Range;

use super::skeleton::skeleton;
use crate::columns::{Cell, cells};
use crate::harmless::Reading;
use crate::style::{Line, Style};

/// A line of a file and the marks under it.
pub(super) struct Excerpt {
    pub(super) line: Line,
    pub(super) marks: Line,
}

/// The line of `text` in which `span` begins, in at most `width` columns, marked in this style.
pub(super) fn excerpt(
    text: &str,
    span: &Range<usize>,
    width: usize,
    style: Style,
    is_known: &dyn Fn(&str) -> bool,
) -> Excerpt {
    let (start, line) = line_of(text, span.start);
    let end = span.end.clamp(span.start, start + line.len());
    let span = span.start - start..end - start;
    let mut shown = String::new();
    let mut marked: Option<Range<usize>> = None;
    for piece in skeleton(line, is_known) {
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
    cut(&row, place, columns, width.max(20), style)
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

/// The line around this byte, and where it begins.
fn line_of(text: &str, at: usize) -> (usize, &str) {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let at = at.clamp(bom, text.len().max(bom));
    let start = text[..at].rfind(['\n', '\r']).map_or(bom, |end| end + 1);
    let rest = &text[start..];
    (start, &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Color;

    fn shown(text: &str, part: &str, width: usize) -> [String; 2] {
        let start = text.find(part).unwrap();
        let known = |key: &str| ["command", "日本", "env"].contains(&key);
        let Excerpt { line, marks } = excerpt(text, &(start..start + part.len()), width, Style::Plain, &known);
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
    fn what_is_missing_is_marked_where_it_should_be() {
        let at = |text: &str, at: usize| {
            let Excerpt { line, marks } = excerpt(text, &(at..at), 80, Style::Plain, &|_| true);
            let paint = Color::Never.on_terminal(|_| None);
            [paint.line(&line), paint.line(&marks)]
        };
        assert_eq!(at("\"a\": 1\n\"b\": 2", 6), ["\"a\": …", "      ^"]);
        assert_eq!(at("{ \"a\": }", 6), ["{ \"a\": }", "      ^"]);
        assert_eq!(at("", 0), ["", "^"]);
    }
}
