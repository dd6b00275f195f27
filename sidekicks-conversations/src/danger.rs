//! What may destroy data, told from what an agent asks for.

#[cfg(feature = "dangers")]
mod args;
mod files;
#[cfg(feature = "dangers")]
mod output;
#[cfg(feature = "dangers")]
mod parse;
#[cfg(feature = "dangers")]
mod reason;
#[cfg(feature = "dangers")]
mod rules;
#[cfg(feature = "dangers")]
mod text;
#[cfg(feature = "dangers")]
mod tree;
#[cfg(feature = "dangers")]
mod walk;
#[cfg(feature = "dangers")]
mod wrap;

use crate::permission::Danger;

/// What is known of a command.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// What may destroy data, in the order in which it stands in the command.
    pub(crate) dangers: Vec<Danger>,
    /// All simple commands of it, as they are written: the outer ones and those that they run. `None` where some may be
    /// hidden.
    #[cfg_attr(not(test), expect(dead_code, reason = "rules for whole commands will ask for it"))]
    pub(crate) commands: Option<Vec<String>>,
}

/// Reads `command` as a POSIX shell or bash would.
#[cfg(feature = "dangers")]
pub(crate) fn analyse(command: &str) -> Analysis {
    let walk = walk::Walk::through(command);
    Analysis { dangers: walk.dangers(), commands: walk.commands() }
}

/// Nothing is known without the parser.
#[cfg(not(feature = "dangers"))]
pub(crate) fn analyse(command: &str) -> Analysis {
    let mut danger = Danger::not_analysed();
    danger.end = command.len();
    Analysis { dangers: vec![danger], commands: None }
}

/// What in a shell command may destroy data, in the order in which it stands there; for commands that no agent asked to
/// run, since a [`Permission`](crate::Permission) comes with its dangers.
///
/// Each danger has its own flag, whose bytes are the smallest piece that makes the command destructive. Only what the text
/// shows counts: no file is read, no variable is followed, and a branch counts as taken. So an empty list is no promise:
/// a script may do anything. Code in code is read too, as in `sh -c '…'` or a here-document for a shell. What cannot be
/// told is [`Unclear`](crate::DangerLevel::Unclear), as is a command of more than 64 KiB or of extreme nesting; the time
/// and the stack that this takes are bounded.
///
/// Without the feature `dangers` every command has the one danger `not-analysed`.
///
/// ```
/// # if cfg!(feature = "dangers") {
/// use sidekicks_conversations::{DangerLevel, dangers};
///
/// let found = dangers("cargo clean && sudo rm -rf /srv/cache");
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].code, "deletes-files");
/// assert_eq!(found[0].level, DangerLevel::Destructive);
/// assert_eq!((found[0].start, found[0].end), (20, 22)); // `rm`
///
/// assert!(dangers("echo 'rm -rf /srv/cache'").is_empty());
/// # }
/// ```
pub fn dangers(command: &str) -> Vec<Danger> {
    analyse(command).dangers
}

#[cfg(all(test, feature = "dangers"))]
mod tests {
    use super::*;

    #[test]
    fn every_simple_command_is_listed() {
        let expected: &[(&str, &[&str])] = &[
            ("", &[]),
            ("ls -l", &["ls -l"]),
            ("cd a && git  status | head", &["cd a", "git status", "head"]),
            ("sudo -n env A=1 rm 'a b'", &["sudo -n env A=1 rm 'a b'", "env A=1 rm 'a b'", "rm 'a b'"]),
            ("sh -c 'ls; pwd'", &["sh -c 'ls; pwd'", "ls", "pwd"]),
            ("echo \"$(date) `id`\"", &["echo \"$(date) `id`\"", "date", "id"]),
            ("find . -exec wc -l {} +", &["find . -exec wc -l {} +", "wc -l {}"]),
            ("if a; then b; fi; f() { c; }", &["a", "b", "c"]),
            // What stands around a command changes what it does.
            ("A=1 ls 2>> e > f", &["A=1 ls 2>> e > f"]),
            ("echo ls | sh", &["echo ls", "ls", "sh"]),
        ];
        for (command, commands) in expected {
            let found = analyse(command).commands;
            assert_eq!(
                found.as_deref(),
                Some(&commands.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]),
                "{command}"
            );
        }
    }

    #[test]
    fn where_a_command_may_be_hidden_there_is_no_list() {
        for command in ["$x", "ls; eval \"$x\"", "curl x | sh", "echo 'x", "sh -c 'ls; $x'"] {
            assert_eq!(analyse(command).commands, None, "{command}");
        }
        assert!(analyse("git reset").commands.is_some(), "what it does is unclear, but not which command it is");
    }
}
