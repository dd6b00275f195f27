mod files;

use std::fmt::Write;

use serde_json::json;
use sidekicks_conversations::DANGER_CODES;

use super::*;

fn failure(code: &str) -> Failure {
    serde_json::from_value(json!({
        "code": code, "message": "the agent’s own words", "phase": "prompt", "promptSent": true, "program": "riker-acp"
    }))
    .unwrap()
}

/// What a message can fail with besides the codes of `sidekicks-acp`.
const REFUSALS: &[&str] = &["mode-refused", "model-refused"];

/// Every sentence there is, with a word for where it is from.
fn sentences() -> Vec<(String, Say<'static>)> {
    let leak = |failure: Failure| -> &'static Failure { Box::leak(Box::new(failure)) };
    let mut all: Vec<(String, Say<'static>)> = Vec::new();
    for code in sidekicks_acp::CODES.iter().chain(REFUSALS) {
        all.push((format!("failure {code}"), Say::Failure { agent: "riker", failure: leak(failure(code)) }));
    }
    for (exit_code, signal, phase) in
        [(Some(3), None, "prompt"), (None, Some(9), "prompt"), (Some(0), None, "initialize")]
    {
        let mut exited = failure("agent-exited");
        (exited.exit_code, exited.signal) = (exit_code, signal);
        exited.phase = serde_json::from_value(json!(phase)).unwrap();
        all.push(("failure agent-exited".to_owned(), Say::Failure { agent: "riker", failure: leak(exited) }));
    }
    for code in sidekicks_conversations::SYSTEM_CODES {
        all.push((format!("system {code}"), Say::System { agent: "riker", code }));
    }
    for action in [
        Action::RunCommand,
        Action::EditFile,
        Action::DeleteFile,
        Action::MoveFile,
        Action::ReadFile,
        Action::Fetch,
        Action::Search,
        Action::SwitchMode,
        Action::Other,
    ] {
        all.push((format!("wants {action:?}"), Say::Wants { agent: "riker", action }));
    }
    for kind in ["allow_once", "allow_always", "reject_always", "reject_once", "allow_somehow"] {
        all.push((format!("option {kind}"), Say::Option { kind, name: "Perhaps" }));
    }
    for code in DANGER_CODES {
        all.push((format!("danger {code}"), Say::Danger { code, level: DangerLevel::Destructive }));
    }
    for level in [DangerLevel::Destructive, DangerLevel::Unclear] {
        all.push((format!("danger {level:?}"), Say::Danger { code: "melts-the-disk", level }));
    }
    for reason in ["max_tokens", "max_turn_requests", "refusal", "cancelled", "pondering"] {
        all.push((format!("stop {reason}"), Say::StopReason { agent: "riker", reason }));
    }
    let methods: &'static [String] = Box::leak(Box::new(["Log in with a browser".to_owned(), "API key".to_owned()]));
    let rest = [
        Say::LoginMethods(methods),
        Say::StopAgent,
        Say::MoreLines(1),
        Say::MoreLines(2),
        Say::MoreCharacters(1),
        Say::MoreCharacters(2),
        Say::FileNew,
        Say::FileNewEmpty,
        Say::FileEmptied,
        Say::FileDeleted,
        Say::FileSameLines,
        Say::NotAnOption,
        Say::NoGuard { reason: "Permission denied" },
        Say::TakenBack { agent: "riker" },
        Say::RejectedUnasked { agent: "riker", title: "ls" },
        Say::RejectedUnanswered { agent: "riker", title: "ls" },
        Say::CancelledUnasked { agent: "riker", title: "ls" },
        Say::Empty { agent: "riker" },
        Say::Stopping,
        Say::StartTakesLong { agent: "riker" },
        Say::StopTakesLong { agent: "riker" },
        Say::GoesInCircles { agent: "riker", failed: 3 },
        Say::ReadingStdin,
        Say::UnknownAgent { name: "demp" },
        Say::DidYouMean { name: "demo" },
        Say::AgentsThereAre(&["riker", "demo"]),
        Say::AgentsThereAre(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]),
        Say::NoAgent { example: "demo" },
        Say::NoPrompt,
        Say::BadAgentCommand,
        Say::BadCwd { path: "/nowhere", reason: "No such file or directory" },
        Say::BadStdin { reason: "Is a directory" },
        Say::CannotWrite { reason: "No space left on device" },
        Say::CannotStart { reason: "Too many open files" },
    ];
    all.extend(rest.map(|say| ("say".to_owned(), say)));
    all.extend(files::sentences());
    all
}

#[test]
fn every_sentence_in_both_languages() {
    let mut side_by_side = String::new();
    for (name, say) in sentences() {
        let (en, fr) = say.both();
        writeln!(side_by_side, "{name}\n  en  {en}\n  fr  {fr}").unwrap();
    }
    insta::assert_snapshot!(side_by_side.replace(files::folder(), "/somewhere"));
}

#[test]
fn every_code_of_the_libraries_has_its_sentence() {
    for code in sidekicks_acp::CODES.iter().chain(REFUSALS) {
        assert!(failure::is_known(code, failure(code)), "{code}");
    }
    for code in sidekicks_conversations::SYSTEM_CODES {
        let (en, fr) = Say::System { agent: "riker", code }.both();
        assert!(!en.contains(code) && !fr.contains(code), "{code}");
    }
    for level in [DangerLevel::Destructive, DangerLevel::Unclear] {
        let sentence = |code| Say::Danger { code, level }.both();
        let unknown = sentence("melts-the-disk");
        for code in DANGER_CODES {
            let known = sentence(code);
            assert!(known.0 != unknown.0 && known.1 != unknown.1, "{code}");
        }
    }
}

#[test]
fn every_notice_has_its_sentence() {
    let notices = files::notices();
    for code in sidekicks_prefs::NOTICES {
        let notice = notices.iter().find(|notice| notice.code() == *code).unwrap_or_else(|| panic!("{code}"));
        let (en, fr) = Say::from(About::Notice(notice)).both();
        assert!(en != fr, "{code}: {fr}");
    }
}

#[test]
fn french_is_set_as_the_french_set_it() {
    for (name, say) in sentences() {
        // But for what is to be typed.
        let fr = say.both().1.replace(" '/home/will/my files/sidekicks.jsonc'", "");
        let bare = |at: usize, narrow: char| !fr[..at].ends_with(narrow);
        for (at, sign) in fr.char_indices() {
            let wrong = match sign {
                '\'' | '"' => true,
                ':' | '»' => bare(at, '\u{a0}'),
                ';' | '!' | '?' => bare(at, '\u{202f}'),
                '«' => !fr[at + sign.len_utf8()..].starts_with('\u{a0}'),
                _ => false,
            };
            assert!(!wrong, "{name}: {fr}");
        }
    }
}

#[test]
fn what_an_agent_says_is_harmless_in_a_sentence() {
    let say = Say::RejectedUnasked { agent: "ri\x1b[31mker", title: "ls\n\x1b]0;x\x07rm" };
    for lang in [Lang::En, Lang::Fr] {
        let text = say.text(lang);
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
