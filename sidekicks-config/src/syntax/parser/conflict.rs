//! The marks that a merge leaves where it could not choose.

use super::Parser;
use crate::Code;
use crate::pointer::Pointer;
use crate::syntax::brackets::Brackets;

/// How many characters a mark has.
const WIDTH: usize = 7;

impl Parser<'_> {
    /// Whether a mark stands here, at the beginning of a line.
    pub(super) fn is_conflict(&self) -> bool {
        let begins = self.at == 0 || self.text[..self.at].ends_with(['\n', '\r', '\u{feff}']);
        begins && mark(&self.text[self.at..]).is_some()
    }

    /// Tells of a conflict and goes past it: which of its texts is meant is not known, and they would contradict each other.
    pub(super) fn conflict(&mut self) {
        self.report(Code::ConflictMarker, self.at..self.at + WIDTH);
        self.damage();
        self.conflict = true;
        match self.end_of_conflict() {
            Some(end) => self.at = end,
            None => {
                self.other_conflicts();
                self.stop();
            }
        }
    }

    /// Whether a conflict was passed since this was asked last.
    pub(super) fn passed_conflict(&mut self) -> bool {
        std::mem::take(&mut self.conflict)
    }

    /// The end of the last line of the conflict that begins here. Nothing where that is missing, or where one of the texts
    /// opens or closes what is around it: then what follows is not known to be in the same map.
    fn end_of_conflict(&self) -> Option<usize> {
        let mut side = self.line_end();
        if self.text[self.at..].starts_with('>') {
            return Some(side); // What it ends was read already.
        }
        for start in self.lines_after(side) {
            let Some(mark) = mark(&self.text[start..]) else { continue };
            if mark == '<' || !Brackets::of(&self.text[side..start]).come_out_even() {
                return None;
            }
            side = start + WIDTH;
            side += self.text[side..].find(['\n', '\r']).unwrap_or(self.text.len() - side);
            if mark == '>' {
                return Some(side);
            }
        }
        None
    }

    /// Tells of those in what is not read any more.
    fn other_conflicts(&mut self) {
        let others = self.lines_after(self.line_end()).filter(|start| mark(&self.text[*start..]) == Some('<'));
        for start in others.collect::<Vec<_>>() {
            self.report_at(Code::ConflictMarker, Pointer::default(), start..start + WIDTH, None);
        }
    }

    /// Where the lines begin that come after this place.
    fn lines_after(&self, at: usize) -> impl Iterator<Item = usize> + use<'_> {
        self.text[at..].match_indices(['\n', '\r']).map(move |(end, _)| at + end + 1)
    }
}

/// The character of the mark that this begins with.
fn mark(rest: &str) -> Option<char> {
    let c = rest.chars().next().filter(|c| matches!(c, '<' | '|' | '=' | '>'))?;
    let end = rest.find(|other| other != c).unwrap_or(rest.len());
    (end == WIDTH && (rest.len() == end || rest[end..].starts_with([' ', '\t', '\n', '\r']))).then_some(c)
}
