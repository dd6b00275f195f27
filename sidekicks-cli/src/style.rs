//! Colours, for those who want them.

use std::borrow::Cow;
use std::io::IsTerminal;

use clap::ValueEnum;

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb.
    #[default]
    Auto,
    /// Whatever the environment says.
    Always,
    /// Not at all.
    Never,
}

impl Color {
    /// What it comes to on a stream, by this program's environment.
    pub(crate) fn on(self, stream: &impl IsTerminal) -> Paint {
        match self {
            Self::Auto if !stream.is_terminal() => Paint(false),
            color => color.on_terminal(|name| std::env::var(name).ok()),
        }
    }

    /// What it comes to on a terminal.
    pub(crate) fn on_terminal(self, var: impl Fn(&str) -> Option<String>) -> Paint {
        Paint(match self {
            Self::Always => true,
            Self::Never => false,
            // Set and not empty, as no-color.org has it.
            Self::Auto => var("NO_COLOR").is_none_or(|it| it.is_empty()) && var("TERM").as_deref() != Some("dumb"),
        })
    }
}

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint(bool);

/// What a piece of text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Plain,
    /// What a card is about.
    Head,
    /// The name of a file, and where in it.
    Place,
    Added,
    Removed,
    /// What may destroy data, or prevents something.
    Destructive,
    /// Of which nobody can tell what it does, or which is probably not what was meant.
    Unclear,
}

impl Style {
    /// What a terminal is told (ECMA-48, SGR). The sixteen basic colours alone: people choose them to suit their eyes.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Head => Some("1"),
            Self::Place => Some("36"),
            Self::Added => Some("32"),
            Self::Removed => Some("31"),
            Self::Destructive => Some("1;31"),
            Self::Unclear => Some("1;33"),
        }
    }
}

impl Paint {
    /// `text` as it is written. It has to be harmless before: an escape sequence that was in it would still be one.
    pub(crate) fn text(self, style: Style, text: &str) -> Cow<'_, str> {
        match style.code().filter(|_| self.0 && !text.is_empty()) {
            Some(code) => Cow::Owned(format!("\x1b[{code}m{text}\x1b[m")),
            None => Cow::Borrowed(text),
        }
    }

    /// One line, piece by piece.
    pub(crate) fn line(self, line: &Line) -> String {
        line.0.iter().map(|(style, text)| self.text(*style, text)).collect()
    }
}

/// A line of text that is harmless, in pieces of one style each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<(Style, String)>);

impl Line {
    pub(crate) fn of(style: Style, text: impl Into<String>) -> Self {
        Self(vec![(style, text.into())])
    }

    pub(crate) fn push(&mut self, style: Style, text: &str) {
        match self.0.last_mut() {
            Some((last, before)) if *last == style => before.push_str(text),
            _ => self.0.push((style, text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_those_who_want_them() {
        /// What is asked for, the environment, and whether that makes colours.
        type Case = (Color, &'static [(&'static str, &'static str)], bool);
        let cases: [Case; 8] = [
            (Color::Auto, &[("TERM", "xterm")], true),
            (Color::Auto, &[], true),
            (Color::Auto, &[("NO_COLOR", "")], true),
            (Color::Auto, &[("NO_COLOR", "0")], false),
            (Color::Auto, &[("TERM", "dumb")], false),
            (Color::Always, &[("NO_COLOR", "1"), ("TERM", "dumb")], true),
            (Color::Never, &[("TERM", "xterm")], false),
            (Color::Never, &[], false),
        ];
        for (color, environment, expected) in cases {
            let var =
                |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(color.on_terminal(var), Paint(expected), "{color:?} {environment:?}");
        }
    }

    #[test]
    fn a_line_ends_as_it_began() {
        let mut line = Line::of(Style::Destructive, "a");
        line.push(Style::Destructive, "b");
        line.push(Style::Plain, "c");
        line.push(Style::Added, "");
        assert_eq!(Paint(true).line(&line), "\x1b[1;31mab\x1b[mc");
        assert_eq!(Paint(false).line(&line), "abc");
    }
}
