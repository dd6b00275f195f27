//! What a prompt asks for, line by line.

/// The file content where a `write:` line has no text below it.
const DEFAULT_CONTENT: &str = "Written by the demo agent of sidekicks.\n";

/// `long: N` counts no further than this.
const LONGEST_COUNT: u64 = 10_000_000;

/// One thing to do in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Directive {
    /// Ordinary text, which is said back.
    Talk(String),
    /// Nothing but talk was in the prompt: explain the words.
    Help,
    /// `run: COMMAND`
    Run(String),
    /// `write: FILE`, with the lines below it.
    Write { file: String, content: String },
    /// `fail`, with its message where there is one.
    Fail(Option<String>),
    /// `stall`
    Stall,
    /// `long: N`
    Long { lines: u64, asked: u64 },
    /// A word that lacks what it needs; the sentence says what.
    Misused(&'static str),
}

impl Directive {
    /// The line that stands for it in the plan.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Talk(_) => "Say back what you said".to_owned(),
            Self::Help => "Say what else I understand".to_owned(),
            Self::Run(command) => format!("Run {}", code(command)),
            Self::Write { file, .. } => format!("Write {}", code(file)),
            Self::Fail(_) => "Fail on purpose".to_owned(),
            Self::Stall => "Wait until cancelled".to_owned(),
            Self::Long { lines, .. } => format!("Count to {lines}"),
            Self::Misused(_) => "Say what is missing".to_owned(),
        }
    }
}

/// The directives of a prompt, in order. Never empty: a prompt that only talks gets an answer and the help.
pub(super) fn parse(prompt: &str) -> Vec<Directive> {
    let mut directives = Vec::new();
    let mut text = String::new();
    let mut first = true;
    for line in prompt.lines() {
        // `/run ls` is how clients send one of the commands that the agent told them of.
        let directive = directive(line).or_else(|| slash(line).filter(|_| first));
        first &= line.trim().is_empty();
        if let Some(directive) = directive {
            place(&mut directives, std::mem::take(&mut text));
            directives.push(directive);
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    place(&mut directives, text);
    if directives.is_empty() {
        directives.push(Directive::Talk(String::new()));
    }
    if let [Directive::Talk(_)] = directives.as_slice() {
        directives.push(Directive::Help);
    }
    directives
}

/// Gives the lines between two directives to the one above, or keeps them as talk.
fn place(directives: &mut Vec<Directive>, text: String) {
    if text.trim().is_empty() {
        return;
    }
    if let Some(Directive::Write { content, .. }) = directives.last_mut() {
        *content = text;
    } else {
        directives.push(Directive::Talk(text.trim().to_owned()));
    }
}

fn directive(line: &str) -> Option<Directive> {
    let line = line.trim();
    match line {
        "fail" | "stall" => known(line, ""),
        _ => line.split_once(':').and_then(|(word, rest)| known(word, rest.trim())),
    }
}

fn slash(line: &str) -> Option<Directive> {
    let line = line.trim().strip_prefix('/')?;
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    known(word, rest.trim())
}

fn known(word: &str, rest: &str) -> Option<Directive> {
    Some(match word {
        "run" if rest.is_empty() => Directive::Misused("`run:` needs a command, as in `run: date`."),
        "run" => Directive::Run(rest.to_owned()),
        "write" if rest.is_empty() => {
            Directive::Misused("`write:` needs the name of a file, as in `write: notes.txt`.")
        }
        "write" => Directive::Write { file: rest.to_owned(), content: DEFAULT_CONTENT.to_owned() },
        "fail" => Directive::Fail((!rest.is_empty()).then(|| rest.to_owned())),
        "stall" if rest.is_empty() => Directive::Stall,
        "long" => match rest.replace('_', "").parse() {
            Ok(asked) => Directive::Long { lines: LONGEST_COUNT.min(asked), asked },
            Err(_) => Directive::Misused("`long:` needs a whole number, as in `long: 1000`."),
        },
        _ => return None,
    })
}

/// `text` as Markdown code, whatever backticks it holds.
pub(super) fn code(text: &str) -> String {
    let fence = "`".repeat(longest_backticks(text) + 1);
    if text.starts_with('`') || text.ends_with('`') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// `text` as a Markdown code block, whatever backticks it holds.
pub(super) fn code_block(text: &str) -> String {
    let fence = "`".repeat(longest_backticks(text).max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

fn longest_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(text: &str) -> Directive {
        Directive::Talk(text.to_owned())
    }

    fn run(command: &str) -> Directive {
        Directive::Run(command.to_owned())
    }

    fn write(file: &str, content: &str) -> Directive {
        Directive::Write { file: file.to_owned(), content: content.to_owned() }
    }

    fn long(lines: u64, asked: u64) -> Directive {
        Directive::Long { lines, asked }
    }

    fn fail(message: &str) -> Directive {
        Directive::Fail(Some(message.to_owned()))
    }

    #[test]
    fn prompts_become_directives() {
        use Directive::{Fail, Help, Misused, Stall};
        let table: Vec<(&str, Vec<Directive>)> = vec![
            ("", vec![talk(""), Help]),
            (" \n\t\n", vec![talk(""), Help]),
            ("hello", vec![talk("hello"), Help]),
            ("two\n\nparagraphs\n", vec![talk("two\n\nparagraphs"), Help]),
            ("run: ls -l", vec![run("ls -l")]),
            ("  run:ls  ", vec![run("ls")]),
            ("run: echo a: b", vec![run("echo a: b")]),
            ("please:\nrun: ls\nthank you", vec![talk("please:"), run("ls"), talk("thank you")]),
            ("run: a\n\nrun: b", vec![run("a"), run("b")]),
            ("I run: fast", vec![talk("I run: fast"), Help]),
            ("Run: ls", vec![talk("Run: ls"), Help]),
            ("jump: high", vec![talk("jump: high"), Help]),
            ("write: a.txt\none\n two\n", vec![write("a.txt", "one\n two\n")]),
            ("write: a.txt\r\none\r\ntwo", vec![write("a.txt", "one\ntwo\n")]),
            ("write: a.txt", vec![write("a.txt", DEFAULT_CONTENT)]),
            ("write: a.txt\n\n", vec![write("a.txt", DEFAULT_CONTENT)]),
            ("write: a b\nx: y\nrun: cat", vec![write("a b", "x: y\n"), run("cat")]),
            ("write: a\nwrite: b\nx", vec![write("a", DEFAULT_CONTENT), write("b", "x\n")]),
            ("fail", vec![Fail(None)]),
            ("fail:", vec![Fail(None)]),
            ("fail: no more", vec![fail("no more")]),
            ("fail now", vec![talk("fail now"), Help]),
            ("stall", vec![Stall]),
            ("stall:", vec![Stall]),
            ("stall: a bit", vec![talk("stall: a bit"), Help]),
            ("long: 17", vec![long(17, 17)]),
            ("long: 1_000", vec![long(1_000, 1_000)]),
            ("long: 99999999", vec![long(10_000_000, 99_999_999)]),
            ("/run ls", vec![run("ls")]),
            ("\n/write a\nx", vec![write("a", "x\n")]),
            ("/stall", vec![Stall]),
            ("/long 3", vec![long(3, 3)]),
            ("see\n/run ls", vec![talk("see\n/run ls"), Help]),
            ("/etc/passwd", vec![talk("/etc/passwd"), Help]),
            ("run:", vec![Misused("`run:` needs a command, as in `run: date`.")]),
            ("long: many", vec![Misused("`long:` needs a whole number, as in `long: 1000`.")]),
            ("long: -1", vec![Misused("`long:` needs a whole number, as in `long: 1000`.")]),
            ("write:", vec![Misused("`write:` needs the name of a file, as in `write: notes.txt`.")]),
        ];
        for (prompt, expected) in table {
            assert_eq!(parse(prompt), expected, "{prompt:?}");
        }
    }

    #[test]
    fn code_survives_backticks() {
        assert_eq!(code("ls"), "`ls`");
        assert_eq!(code("echo `date`"), "`` echo `date` ``");
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code_block("a"), "```\na\n```");
        assert_eq!(code_block("```\na\n```\n"), "````\n```\na\n```\n````");
    }
}
