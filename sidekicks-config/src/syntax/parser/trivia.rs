//! Blanks and comments.

use super::Parser;
use crate::Code;
use crate::syntax::trivia::{is_blank, is_odd_space};

impl Parser<'_> {
    /// Skips blanks and comments, and tells of those that JSONC does not have.
    pub(super) fn trivia(&mut self) {
        while let Some(c) = self.peek() {
            let rest = &self.text[self.at..];
            match c {
                ' ' | '\t' | '\n' | '\r' => self.at += 1,
                '/' if rest.starts_with("//") => self.at = self.line_end(),
                '/' if rest.starts_with("/*") => match rest[2..].find("*/") {
                    Some(end) => self.at += 2 + end + 2,
                    None => {
                        self.report(Code::UnclosedComment, self.at..self.at + 2);
                        self.stop();
                    }
                },
                '#' => {
                    let end = self.line_end();
                    self.report(Code::HashComment, self.at..end);
                    self.at = end;
                }
                '<' | '|' | '=' | '>' if self.is_conflict() => self.conflict(),
                _ if is_odd_space(c) => {
                    // Ordinary ones may be among them.
                    let run =
                        &rest[..rest.find(|c| !is_odd_space(c) && !matches!(c, ' ' | '\t')).unwrap_or(rest.len())];
                    let end = self.at + run.trim_end_matches([' ', '\t']).len();
                    self.report(Code::OddSpace, self.at..end);
                    self.at = self.at.max(end);
                }
                _ => return,
            }
        }
    }

    /// Where what comes after the blanks and comments from `at` on begins.
    pub(super) fn past_blanks(&self, mut at: usize) -> usize {
        loop {
            let rest = &self.text[at..];
            let blanks = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
            at += blanks;
            let rest = &self.text[at..];
            if rest.starts_with("//") || rest.starts_with('#') {
                at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                at += comment.find("*/").map_or(rest.len(), |end| 2 + end + 2);
            } else {
                return at;
            }
        }
    }

    /// Whether a line ended since `from`.
    pub(super) fn breaks_line(&self, from: usize) -> bool {
        self.text[from..self.at].contains(['\n', '\r'])
    }

    /// Where the line ends in which we are. Looks at all of it, so it is for comments and slips alone: a file may be one line.
    pub(super) fn line_end(&self) -> usize {
        self.text[self.at..].find(['\n', '\r']).map_or(self.text.len(), |end| self.at + end)
    }
}
