//! What single commands destroy.

mod cloud;
mod containers;
mod files;
mod git;
mod sql;

pub(super) use git::verb as git_verb;

use super::reason::Found;
use super::tree::Word;
use super::walk::Stdin;
use super::wrap;

/// Adds what `words` destroy by themselves to what is `found`.
pub(super) fn look(words: &[Word], stdin: &Stdin, found: &mut Found) {
    if shows_help(words) {
        return;
    }
    let name = wrap::name(words);
    match name {
        "git" => git::look(words, found),
        "docker" | "podman" | "nerdctl" => containers::docker(words, found),
        "docker-compose" | "podman-compose" => containers::compose(words, 1, found),
        "psql" | "mysql" | "mariadb" | "sqlite3" | "duckdb" => sql::look(name, words, stdin, found),
        _ => {
            files::look(name, words, found);
            cloud::look(name, words, found);
        }
    }
}

/// A closing `--help`, or `--version` alone. After `--` they are names of files.
fn shows_help(words: &[Word]) -> bool {
    let last = words.last().map(Word::text);
    let closed = words.iter().any(|word| word.text() == "--");
    (last == Some("--help") && words.len() > 1 && !closed) || (last == Some("--version") && words.len() == 2)
}
