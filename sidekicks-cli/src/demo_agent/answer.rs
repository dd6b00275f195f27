//! What the demo agent says.

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, UnstructuredCommandInput};

use super::directive::Directive;
use super::prompt::Prompt;

/// A longer text is not repeated whole.
const LONGEST_ECHO: usize = 2_000;

/// The words it understands: name, what follows it, what it does.
const WORDS: [(&str, Option<&str>, &str); 5] = [
    ("run", Some("COMMAND"), "runs a command in this folder, if you allow it"),
    ("write", Some("FILE"), "writes the lines below it to a file, if you allow it"),
    ("fail", None, "answers with an error, as a broken agent would; `fail: MESSAGE` says which"),
    ("stall", None, "says a word and then nothing more, until you cancel"),
    ("long", Some("N"), "answers with N numbered lines, as fast as they are read"),
];

/// The same words, for a client that lists an agent's commands.
pub(super) fn commands() -> Vec<AvailableCommand> {
    let command = |(name, hint, description): (&str, Option<&str>, &str)| {
        let input = hint.map(|hint| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
        AvailableCommand::new(name, description).input(input)
    };
    WORDS.map(command).into()
}

/// How to use it.
pub(super) fn help() -> String {
    let mut help = "I am the demo agent of **sidekicks**: no network, no model. \
                    At the start of a line I understand these words:\n"
        .to_owned();
    for (name, hint, description) in WORDS {
        let word = hint.map_or(name.to_owned(), |hint| format!("{name}: {hint}"));
        help.push_str(&format!("\n- `{word}` {description}"));
    }
    help
}

/// Says back what was said. The attachments are told of in the first answer of a turn.
pub(super) fn echo(text: &str, attachments: &[String]) -> String {
    let mut answer = if text.is_empty() {
        "You said nothing at all, which is fine.".to_owned()
    } else {
        let mut shown: String = text.chars().take(LONGEST_ECHO).collect();
        let rest = text.chars().count() - shown.chars().count();
        if rest > 0 {
            shown.push_str(&format!("…\n({rest} more)"));
        }
        let quoted: Vec<String> = shown.lines().map(|line| format!("> {line}")).collect();
        format!("You said:\n\n{}", quoted.join("\n"))
    };
    if !attachments.is_empty() {
        answer.push_str("\n\nWith it came:\n");
        for attachment in attachments {
            answer.push_str(&format!("\n- {attachment}"));
        }
    }
    answer
}

/// What goes through its mind, in pieces.
pub(super) fn thoughts(prompt: &Prompt, directives: &[Directive]) -> [String; 2] {
    let only_talk = matches!(directives, [Directive::Talk(_), Directive::Help]);
    let what = match directives {
        _ if only_talk => "none of my words, so I say it back and tell what I understand.".to_owned(),
        [_] => "one thing to do.".to_owned(),
        several => format!("{} things to do, one after the other.", several.len()),
    };
    let lines = match prompt.text.lines().count() {
        0 => "Nothing was typed".to_owned(),
        1 => "There is one line".to_owned(),
        lines => format!("There are {lines} lines"),
    };
    [format!("{lines}: "), what]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo_agent::directive::parse;

    #[test]
    fn the_echo_is_a_quotation() {
        assert_eq!(echo("a\nb", &[]), "You said:\n\n> a\n> b");
        assert_eq!(echo("", &[]), "You said nothing at all, which is fine.");
        assert!(echo("a", &["an image".to_owned()]).ends_with("> a\n\nWith it came:\n\n- an image"));
        assert!(echo(&"é".repeat(2_001), &[]).ends_with("é…\n> (1 more)"));
    }

    #[test]
    fn every_word_is_understood() {
        for command in commands() {
            let word = if command.name == "long" { "/long 1".to_owned() } else { format!("/{} x", command.name) };
            let word = if command.name == "stall" { "/stall".to_owned() } else { word };
            assert!(!matches!(parse(&word)[0], Directive::Talk(_)), "{word}");
            assert!(help().contains(&format!("`{}", command.name)));
        }
    }
}
