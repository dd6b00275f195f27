//! What may destroy data, told from what an agent asks for.

#[cfg(feature = "dangers")]
mod args;
mod beside;
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

pub(crate) use beside::of_beside;
pub(crate) use files::{of_files, resolved};

use crate::permission::Danger;

/// What is known of a command.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// What may destroy data, in the order in which it stands in the command.
    pub(crate) dangers: Vec<Danger>,
    /// All simple commands of it, the outer ones and those that they run, in the order in which they begin. `None` where
    /// some may be hidden.
    pub(crate) commands: Option<Vec<Simple>>,
}

impl Analysis {
    /// Of a question in which no command is told.
    pub(crate) fn of_no_command() -> Self {
        Self { dangers: Vec::new(), commands: None }
    }

    /// Nothing is known.
    pub(crate) fn unknown(len: usize) -> Self {
        let mut danger = Danger::not_analysed();
        danger.end = len;
        Self { dangers: vec![danger], commands: None }
    }
}

/// A simple command, in several forms for a rule to be matched against. What allows it has to match what is
/// [`written`](Self::written): only that has all of it. What forbids it had better match any, since a shell takes
/// `\git 'push'` for `git push`.
///
/// It may be less than a command: variables that are set (`PATH=/tmp`, and `for PATH` of a loop over a name in capitals or
/// over code), a file that is written by all that stands between brackets (`> log`), a function (`f()`), and a test or a sum
/// in which something is evaluated once more (`[[ $x -eq 0 ]]`, `(( x ))`).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Simple {
    /// As it is written, with its assignments and redirects, with one blank between two of its parts. Of a here-document
    /// there is only the operator, as `<<EOF`. What is only known when it is run, as what `xargs` adds, is `${_}`.
    pub(crate) written: String,
    /// Its words alone, without quotes, with one blank between two; a word that a shell changes in any other way is as it
    /// is written. The program keeps its folder. Empty where there are no words.
    pub(crate) plain: String,
    /// The same with the program's name alone, and of Git without the options before its verb.
    pub(crate) bare: String,
    /// The same with [`UNKNOWN`] for each word that a shell puts something in place of, where there is one.
    pub(crate) guessed: Option<String>,
    /// It appends to a file, which destroys nothing. (Where it writes over one, that is flagged.)
    pub(crate) appends: bool,
}

/// Stands for any text.
pub(crate) const UNKNOWN: char = '\0';

/// Reads `command` as a POSIX shell or bash would.
#[cfg(feature = "dangers")]
pub(crate) fn analyse(command: &str) -> Analysis {
    let walk = walk::Walk::through(command);
    Analysis { dangers: walk.dangers(), commands: walk.commands() }
}

/// Nothing is known without the parser.
#[cfg(not(feature = "dangers"))]
pub(crate) fn analyse(command: &str) -> Analysis {
    Analysis::unknown(command.len())
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

    /// What is written of each command, and what is plain.
    fn commands(command: &str) -> Option<(Vec<String>, Vec<String>)> {
        Some(analyse(command).commands?.into_iter().map(|it| (it.written, it.plain)).unzip())
    }

    #[test]
    fn every_simple_command_is_listed() {
        let expected: &[(&str, &[&str])] = &[
            ("", &[]),
            ("# ls", &[]),
            ("ls -l", &["ls -l"]),
            ("cd a && git  status\t-s | head", &["cd a", "git status -s", "head"]),
            ("sudo -n env A=1 rm 'a b'", &["sudo -n env A=1 rm 'a b'", "env A=1 rm 'a b'", "rm 'a b'"]),
            ("sh -c 'ls; pwd'", &["sh -c 'ls; pwd'", "ls", "pwd"]),
            ("echo \"$(date) `id`\"", &["echo \"$(date) `id`\"", "date", "id"]),
            ("find . -exec wc -l {} +", &["find . -exec wc -l {} +", "wc -l {}"]),
            ("ls | xargs wc -l", &["ls", "xargs wc -l", "wc -l ${_}"]),
            ("parallel wc ::: a b", &["parallel wc ::: a b", "wc ${_}"]),
            ("if a; then b; fi; f() { c; }", &["a", "b", "f()", "c"]),
            ("echo ls | sh", &["echo ls", "ls", "sh"]),
            (
                "[[ -n $(a) ]] && (( $(b) )) && echo ${x:-$(c)} $(( $(d) ))",
                &["a", "(( $(b) ))", "b", "echo ${x:-$(c)} $(( $(d) ))", "c", "d"],
            ),
            ("for x in $(a); do case $(b) in $(c)) d; esac; done", &["a", "b", "c", "d"]),
            ("git -c alias.x='!ls -l' x", &["git -c alias.x='!ls -l' x", "ls -l"]),
            ("git -c core.pager='less -R' log", &["git -c core.pager='less -R' log", "less -R"]),
            // What stands around a command changes what it does.
            ("A=1 ls 2>> e > f", &["A=1 ls 2>> e > f"]),
            ("<f ls >&2 -l", &["<f ls >&2 -l"]),
            ("[ a > b ]", &["[ a > b ]"]),
            ("ls &>> f", &["ls &>> f"]),
            ("ls {fd}> f", &["ls {fd}> f"]),
            ("ls > $(a)", &["ls > $(a)", "a"]),
            ("sh x <<'E' >&2\na\nE", &["sh x <<'E' >&2"]),
            ("cat <<E\n$(a)\nE", &["cat <<E", "a"]),
            ("export PATH=/x A B=$(a)", &["export PATH=/x A B=$(a)", "a"]),
            // So does what stands alone.
            ("PATH=/x; ls", &["PATH=/x", "ls"]),
            ("A=$(a) B=2", &["A=$(a) B=2", "a"]),
            ("A=(b $(a))", &["A=(b $(a))", "a"]),
            ("> f", &["> f"]),
            ("{ ls; } 2>&1 >> f < g", &["ls", ">> f"]),
            ("(ls) > /dev/null 2>&1", &["ls"]),
            ("while a; do b; done > f", &["a", "b", "> f"]),
            ("for PATH in /x; do ls; done", &["for PATH", "ls"]),
            // A number or a variable may have a subscript, and that a command.
            ("[[ 'a[$(b)]' -eq 0 ]]; ls", &["[[ 'a[$(b)]' -eq 0 ]]", "ls"]),
            ("[[ -v 'a[$(b)]' ]]; ls", &["[[ -v 'a[$(b)]' ]]", "ls"]),
            ("((PATH=1)); ls", &["((PATH=1))", "ls"]),
            ("for x in 'a[$(b)]'; do ls $((x)); done", &["for x", "ls $((x))"]),
            ("select x in \\$\\(b\\); do ls ${x@P}; done", &["for x", "ls ${x@P}"]),
            ("ls() { ls $(($1)); }; ls 'a[$(b)]'", &["ls()", "ls $(($1))", "ls 'a[$(b)]'"]),
            ("for f in *; do ls \"$f\"; done", &["ls \"$f\""]),
        ];
        for (command, written) in expected {
            assert_eq!(commands(command).map(|it| it.0).as_deref(), Some(&owned(written)[..]), "{command}");
        }
    }

    #[test]
    fn a_command_is_plain_without_its_quotes() {
        let expected: &[(&str, &[&str])] = &[
            ("\\git push", &["git push"]),
            ("g\"it\" 'push' $'-f'", &["git push -f"]),
            ("g\\\nit  pu\\\nsh", &["git push"]),
            ("A=1 git push > f 2>&1", &["git push"]),
            (">f git push", &["git push"]),
            ("git 'push -f' \"a\\$b\"", &["git push -f a$b"]),
            // What a shell puts in place of a word is not known.
            ("'git' \"push\" \"$x\" 'a'*", &["git push \"$x\" 'a'*"]),
            ("/usr/bin/'git' push", &["/usr/bin/git push"]),
            ("sudo 'git' push", &["sudo git push", "git push"]),
            ("sh -c '\\git \"push\"'", &["sh -c \\git \"push\"", "git push"]),
            ("echo '\\git push' | sh", &["echo \\git push", "git push", "sh"]),
            ("export A='b c'", &["export A='b c'"]),
            ("A=1", &[""]),
        ];
        for (command, plain) in expected {
            assert_eq!(commands(command).map(|it| it.1).as_deref(), Some(&owned(plain)[..]), "{command}");
        }
    }

    #[test]
    fn a_command_is_bare_without_its_folder_and_what_is_not_known_is_a_mark() {
        let expected: &[(&str, &str, Option<&str>)] = &[
            ("/usr/bin/git -C a --no-pager 'push' x", "git push x", None),
            ("git --git-dir a/.git", "git", None),
            ("/bin/'ls' \"$x\" -l *", "ls \"$x\" -l *", Some("ls \0 -l \0")),
            ("git -c a=$x push", "git push", Some("git push")),
            ("A=1", "", None),
        ];
        for (command, bare, guessed) in expected {
            let found = analyse(command).commands.and_then(|it| it.into_iter().next());
            let found = found.as_ref().map(|it| (&*it.bare, it.guessed.as_deref()));
            assert_eq!(found, Some((*bare, *guessed)), "{command}");
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn a_command_that_appends_says_so() {
        let appends = |command: &str| -> Vec<bool> {
            analyse(command).commands.unwrap_or_default().iter().map(|it| it.appends).collect()
        };
        for (command, expected) in [
            ("make 2>&1 | tail >> log", &[false, true][..]),
            ("make >> /dev/null", &[false]),
            ("{ make; } >> log", &[false, true]),
            ("sudo tee -a log", &[false, false]),
            ("make <> log", &[true]),
            ("make 1<> log", &[true]),
            ("make >> /dev/fd/2", &[false]),
            ("make >> /dev/fd/../../../a", &[true]),
        ] {
            assert_eq!(appends(command), expected, "{command}");
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
