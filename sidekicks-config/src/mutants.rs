//! Damaged files: what holds whatever stands in them.

use std::fmt::Write;
use std::path::Path;

use crate::model::Agent;
use crate::validate::Checked;
use crate::{Config, Kept, Language, Loaded, Permission, Severity, check_environment, validate};

/// A word that stands for a secret, and in no name.
const CANARY: &str = "Zq7canaryZq7";

/// Numbers that look as if by chance, and are the same each time (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end.max(1)
    }

    /// A place in the text where a character begins, or its end.
    fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap()
    }

    /// The text with one to three changes.
    fn mutant(&mut self, text: &str) -> String {
        const PIECES: [&str; 32] = [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "'",
            "\\",
            "/",
            "//",
            "/*",
            "*/",
            "#",
            "\n",
            "\r",
            "\t",
            "\0",
            "é",
            "🦀",
            "\u{feff}",
            "\u{a0}",
            "null",
            "true",
            "-1",
            "1e9",
            "\"agents\": {},",
            "\"x\": ",
            "\"version\": 2,",
            "${X}",
            "\"command\": 1,",
            "\"never\"",
        ];
        let mut text = text.to_owned();
        for _ in 0..=self.below(3) {
            let (a, b) = (self.place(&text), self.place(&text));
            let (from, to) = (a.min(b), a.max(b));
            let near =
                (from..=text.len().min(from + 1 + self.below(12))).rfind(|at| text.is_char_boundary(*at)).unwrap();
            match self.below(8) {
                0 | 1 => text.replace_range(from..near, ""),
                2 | 3 => text.insert_str(from, PIECES[self.below(PIECES.len())]),
                4 => text.replace_range(from..near, PIECES[self.below(PIECES.len())]),
                5 => {
                    let piece = text[from..near].to_owned();
                    let at = self.place(&text);
                    text.insert_str(at, &piece);
                }
                6 if self.below(4) == 0 => text.truncate(from),
                _ => {
                    // A line is taken away, or stands twice.
                    let line = text[..from].rfind('\n').map_or(0, |at| at + 1);
                    let end = text[line..].find('\n').map_or(text.len(), |at| line + at + 1);
                    let copy = text[line..end].repeat(2 * self.below(2));
                    text.replace_range(line..end, &copy);
                }
            }
            if to % 97 == 0 {
                text = text.replace('\n', "\r\n");
            }
        }
        text
    }
}

/// A good file; of 12 KB with 40 agents.
fn good(agents: usize) -> String {
    let mut text = String::from(
        "\u{feff}// équipe 🦀\n{\n\"version\": 1,\n\"limits\": { \"max_running\": 4, \"max_memory\": \"16GiB\" },\n\
         \"defaults\": { \"memory_limit\": \"4GiB\", \"env\": { \"LEVEL\": \"Zq7canaryZq7\" } },\n\
         \"workspaces\": { \"api\": { \"path\": \"~/Zq7canaryZq7\" }, \"web\": { \"path\": \"web\" } },\n\
         \"mcp_servers\": {\n\"fs\": { \"command\": \"Zq7canaryZq7\", \"args\": [\"Zq7canaryZq7\"] },\n\
         \"bugs\": { \"type\": \"http\", \"url\": \"https://Zq7canaryZq7\", \"headers\": { \"K\": \"Zq7canaryZq7\" } } },\n\
         \"agents\": {\n",
    );
    for n in 0..agents {
        let place = ["\"workspace\": \"api\"", "\"workspace\": \"web\"", "\"cwd\": \"/Zq7canaryZq7\""][n % 3];
        writeln!(
            text,
            "\"agent{n:02}\": {{ \"display_name\": \"🦀 {n} Zq7canaryZq7\", \"command\": \"Zq7canaryZq7\", \"args\": \
             [\"--acp\", \"Zq7canaryZq7\"], \"permission\": \"ask\", \"idle_timeout\": \"10min\", \"env\": {{ \"API_KEY\": \
             \"Zq7canaryZq7\" }}, \"model\": \"Zq7canaryZq7\", \"mcp_servers\": [\"fs\", \"bugs\"], {place} }},"
        )
        .unwrap();
    }
    text.push_str("},\n\"channels\": { \"review\": { \"members\": [\"agent01\", \"agent02\"] } },\n}\n");
    text
}

fn loaded(text: &str, last: Option<&Loaded>) -> Loaded {
    Loaded::of(Path::new("/nowhere/sidekicks.jsonc"), text.as_bytes(), last)
}

fn is_closed(config: &Config) -> bool {
    config.agents.iter().all(|(_, agent)| {
        agent.workspace.iter().all(|name| config.workspaces.contains(name))
            && agent.mcp_servers.iter().all(|name| config.mcp_servers.contains(name))
    }) && config.channels.iter().all(|(_, channel)| channel.members.iter().all(|name| config.agents.contains(name)))
}

fn spans_fit(text: &str) {
    for problem in validate(text) {
        assert!(problem.start <= problem.end && text.get(problem.span.clone()).is_some(), "{problem:?}\n{text}");
    }
}

/// What is valid is read; what is loaded fits together; what ran goes on.
fn check(text: &str, before: &Loaded) {
    spans_fit(text);
    let checked = Checked::of(text);
    let first = loaded(text, None);
    assert!(is_closed(&first.config), "{text}");
    if first.has_errors() {
        assert!(checked.problems.iter().any(|problem| problem.severity() == Severity::Error));
    } else {
        assert_eq!(first.kept, Kept::All, "{text}");
        assert_eq!(serde_json::from_value::<Config>(checked.value.clone()).expect(text), *first.config);
    }

    let after = loaded(text, Some(before));
    assert!(is_closed(&after.config), "{text}");
    if checked.uncertain {
        assert_eq!((&after.config, &after.kept), (&before.config, &Kept::LastGood), "{text}");
        return;
    }
    let written = checked.document.root.get("agents");
    for (name, agent) in before.config.agents.iter() {
        let node = written.and_then(|agents| agents.get(name));
        let now = node.and_then(|node| serde_json::from_value::<Agent>(node.to_value()).ok());
        match after.config.agents.get(name) {
            Some(kept) => {
                assert!(as_it_was(kept, agent) || now.as_ref() == Some(kept), "{name} is another one: {text}");
            }
            None => assert!(written.is_some() && node.is_none(), "{name} was taken away: {text}"),
        }
    }
}

/// Whether an agent is as it was, perhaps with what were the defaults then, or permits less.
fn as_it_was(kept: &Agent, before: &Agent) -> bool {
    let mut kept = kept.clone();
    kept.memory_limit = kept.memory_limit.filter(|_| before.memory_limit.is_some());
    kept.env = kept.env.iter().filter(|(name, _)| before.env.contains(name)).collect();
    if kept.permission == Some(Permission::DenyAll) {
        kept.permission = before.permission;
    }
    kept == *before
}

fn check_mutants(seed: u64, agents: usize, times: usize) {
    let good = good(agents);
    let before = loaded(&good, None);
    assert!(before.problems.is_empty() && before.config.agents.len() == agents, "{:?}", before.problems);
    let mut chance = Chance(seed);
    for _ in 0..times {
        check(&chance.mutant(&good), &before);
    }
}

#[test]
fn mutants() {
    check_mutants(0x5eed, 40, 200);
}

#[test]
fn mutants_of_a_small_file() {
    check_mutants(0x5a11, 4, 3000);
}

#[test]
#[ignore = "takes minutes"]
fn many_mutants() {
    check_mutants(0x0dd5eed, 40, 100_000);
}

/// Everything that is said of the text, in both languages.
fn said(text: &str) -> String {
    let problems = validate(text);
    let environment = check_environment(text, Path::new("/nowhere/sidekicks.jsonc"), &|_| None);
    // Of a program that is not found the name is told.
    let environment = environment.into_iter().filter(|problem| problem.id() != "command-not-found");
    let line = |problem: crate::Problem| {
        let (english, french) = (problem.message(Language::En), problem.message(Language::Fr));
        format!("{english}\n{french}\n{:?}\n{}\n{:?}\n", problem.hint(), problem.path, problem)
    };
    problems.into_iter().chain(environment).map(line).collect()
}

fn assert_silent(text: &str) {
    let said = said(text);
    let told = said.lines().filter(|line| line.contains(CANARY));
    assert!(!said.contains(CANARY), "{}\n{text}", told.collect::<Vec<_>>().join("\n"));
}

/// Whether the word stands where a name or a key may be meant. Also where a quote is one too many or too few: then what is
/// in quotes and what is between them have changed places.
fn may_be_a_name(text: &str) -> bool {
    let is_odd = |line: &str| line.matches(['"', '\'', '`']).count() % 2 == 1 || line.contains('\\');
    if text.split(['\n', '\r']).any(|line| line.contains(CANARY) && is_odd(line)) {
        return true;
    }
    text.match_indices(CANARY).any(|(at, _)| {
        let after =
            text[at + CANARY.len()..].trim_start_matches(|c: char| !matches!(c, ',' | '}' | ']' | '\n' | ':' | '='));
        after.starts_with([':', '=', '\n']) || text[..at].ends_with("${")
    })
}

#[test]
fn nothing_that_is_said_has_a_value_in_it() {
    let good = good(12);
    assert_eq!(said(&good).matches(CANARY).count(), 0);
    let mut chance = Chance(0xca4a);
    let mut checked = 0;
    for _ in 0..1_000 {
        let mutant = chance.mutant(&good);
        if !may_be_a_name(&mutant) {
            checked += 1;
            assert_silent(&mutant);
        }
    }
    assert!(checked > 500, "{checked}");
}

#[test]
fn no_value_is_said_wherever_it_stands() {
    // Every text of a full file in turn, and a word of every other kind of value.
    let full = include_str!("../tests/cases/valid-full.jsonc");
    let canaries = [format!("\"{CANARY}\""), CANARY.to_owned(), format!("'{CANARY}'"), format!("[\"{CANARY}\"]")];
    let mut values = Vec::new();
    fn collect(node: &crate::syntax::Node, values: &mut Vec<std::ops::Range<usize>>) {
        values.push(node.span.clone());
        node.members().for_each(|member| collect(&member.value, values));
        node.items().iter().for_each(|item| collect(item, values));
    }
    collect(&Checked::of(full).document.root, &mut values);
    assert!(values.len() > 80);
    for span in values {
        for canary in &canaries {
            let mut text = full.to_owned();
            text.replace_range(span.clone(), canary);
            assert_silent(&text);
        }
    }
}
