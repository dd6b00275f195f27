//! Statements that are given to a database.

use std::ops::Range;

use crate::danger::args::{Args, Spec, Until};
use crate::danger::reason::{Found, Reason};
use crate::danger::text::Text;
use crate::danger::tree::Word;
use crate::danger::walk::Stdin;

pub(super) fn look(name: &str, words: &[Word], stdin: &Stdin, found: &mut Found) {
    match name {
        "psql" => {
            let spec = Spec {
                short: "cdfFhLopPRTUv",
                attached: "",
                long: &[
                    "command",
                    "dbname",
                    "file",
                    "field-separator",
                    "host",
                    "log-file",
                    "output",
                    "port",
                    "pset",
                    "record-separator",
                    "table-attr",
                    "username",
                    "set",
                    "variable",
                ],
            };
            let args = Args::of(words, 1, spec, Until::Separator);
            args.values(&["c", "command"]).for_each(|text| statements(words, text, found));
        }
        "mysql" | "mariadb" => {
            let spec = Spec {
                short: "ehPuDS",
                attached: "p",
                long: &[
                    "execute",
                    "host",
                    "port",
                    "user",
                    "database",
                    "socket",
                    "defaults-file",
                    "defaults-extra-file",
                ],
            };
            let args = Args::of(words, 1, spec, Until::Separator);
            args.values(&["e", "execute"]).for_each(|text| statements(words, text, found));
        }
        // Everything after the file may be a statement, also what `-cmd` takes.
        _ => words.iter().skip(1).for_each(|word| statements(words, &word.value, found)),
    }
    if let Stdin::Fixed(text) = stdin {
        statements(words, text, found);
    }
}

fn statements(words: &[Word], text: &Text, found: &mut Found) {
    for statement in destructive(text.as_str()) {
        let (start, end) = text.span(statement);
        let program = words[0].span;
        // Through a pipe, the statement stands before the program.
        found.flag(Reason::DropsData, (start.min(program.0), end.max(program.1)));
    }
}

/// The beginnings of statements that drop or delete: `DROP TABLE`, `DELETE FROM`, `TRUNCATE`.
fn destructive(sql: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < sql.len() {
        let start = at + blank(&sql[at..]);
        let rest = &sql[start..];
        if rest.starts_with(['\\', '.']) {
            // A command of the client, to the end of its line.
            at = start + rest.find('\n').map_or(rest.len(), |end| end + 1);
            continue;
        }
        found.extend(verb(rest).map(|length| start..start + length));
        at = start + end_of_statement(rest);
    }
    found
}

fn verb(statement: &str) -> Option<usize> {
    let word = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let first = word(statement);
    let is = |verbs: &[&str], word: &str| verbs.iter().any(|verb| word.eq_ignore_ascii_case(verb));
    let after = first + blank(&statement[first..]);
    let second = after + word(&statement[after..]);
    let follows = after > first && after < statement.len();
    match &statement[..first] {
        verb if is(&["drop"], verb) && follows => Some(second),
        verb if is(&["delete", "truncate"], verb) && follows => {
            Some(if is(&["from", "table"], &statement[after..second]) { second } else { first })
        }
        _ => None,
    }
}

/// The length of the blanks and comments that `sql` begins with.
fn blank(sql: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &sql[at..];
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';' || c == '(');
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("--") {
            at += trimmed.find('\n').map_or(trimmed.len(), |end| end + 1);
        } else if trimmed.starts_with("/*") {
            at += trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
        } else {
            return at;
        }
    }
}

/// The length of a statement with its semicolon, which none in quotes or comments is.
fn end_of_statement(sql: &str) -> usize {
    let mut at = 0;
    while let Some(character) = sql[at..].chars().next() {
        let rest = &sql[at..];
        let after =
            |open: usize, close: &str| rest[open..].find(close).map_or(rest.len(), |end| open + end + close.len());
        at += match character {
            ';' => return at + 1,
            '\'' => after(1, "'"),
            '"' => after(1, "\""),
            '`' => after(1, "`"),
            '-' if rest.starts_with("--") => after(2, "\n"),
            '/' if rest.starts_with("/*") => after(2, "*/"),
            '$' => dollar(rest).map_or(1, |tag| after(tag.len(), tag)),
            other => other.len_utf8(),
        };
    }
    at
}

/// `$$` or `$tag$`, which quote until they come again.
fn dollar(sql: &str) -> Option<&str> {
    let end = sql[1..].find('$')? + 1;
    sql[1..end].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then(|| &sql[..=end])
}
