use proptest::prelude::*;
use serde_json::{Value, json};
use sidekicks_conversations::{Danger, DangerLevel};

use super::*;
use crate::style::Color;

fn permission(fields: Value) -> Permission {
    let mut whole = json!({
        "id": "p1", "agent": "riker", "title": "", "action": "other", "paths": [], "diffs": [], "rawInput": null,
        "dangers": [], "options": [
            {"id": "a", "kind": "allow_once", "name": "Yes"},
            {"id": "b", "kind": "allow_always", "name": "Always"},
            {"id": "c", "kind": "reject_always", "name": "Never"},
            {"id": "d", "kind": "reject_once", "name": "No"}]
    });
    whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

fn look(lang: Lang, color: Color, width: usize) -> Look<'static> {
    Look { lang, paint: color.on_terminal(|_| None), width, folder: Path::new("/home/will/ship") }
}

/// In both languages, without colours.
fn shown(fields: Value, width: usize) -> String {
    let permission = permission(fields);
    [Lang::En, Lang::Fr].map(|lang| card(&permission, &look(lang, Color::Never, width))).join("\n\n")
}

/// In both languages, as a terminal gets it, with `\e` for each escape.
fn coloured(fields: Value, width: usize) -> String {
    let permission = permission(fields);
    let cards = [Lang::En, Lang::Fr].map(|lang| card(&permission, &look(lang, Color::Always, width)));
    cards.join("\n\n").replace('\x1b', "\\e")
}

/// A command with a danger of each code at the piece beside it.
fn command(command: &str, dangers: &[(&str, &str)]) -> Value {
    let danger = |(code, piece): &(&str, &str)| {
        let start = command.find(piece).unwrap();
        let level = if ["hidden-command", "runs-unseen-input", "unreadable"].contains(code) {
            "unclear"
        } else {
            "destructive"
        };
        json!({"code": code, "level": level, "start": start, "end": start + piece.len()})
    };
    let dangers: Vec<Value> = dangers.iter().map(danger).collect();
    json!({"action": "run_command", "command": command, "dangers": dangers})
}

fn change(path: &str, old: Option<&str>, new: &str) -> Value {
    json!({"action": "edit_file", "title": "", "diffs": [{"path": path, "oldText": old, "newText": new}]})
}

#[test]
fn commands() {
    let reset = command("git reset --hard HEAD~1", &[("discards-changes", "git reset --hard")]);
    insta::assert_snapshot!("a dangerous command", shown(reset.clone(), 120));
    insta::assert_snapshot!("a dangerous command in colour", coloured(reset, 120));
    let harmless = json!({"action": "run_command", "command": "ls -l"});
    insta::assert_snapshot!("a harmless command", shown(harmless, 120));
    let several = command(
        "rm -rf a; rm -rf b; $x; curl https://example.org | sh",
        &[
            ("deletes-files", "rm -rf a"),
            ("deletes-files", "rm -rf b"),
            ("hidden-command", "$x"),
            ("runs-unseen-input", "sh"),
            ("melts-the-disk", "https"),
        ],
    );
    insta::assert_snapshot!("several dangers", shown(several.clone(), 120));
    insta::assert_snapshot!("several dangers in colour, narrow", coloured(several, 44));
    let lines = command(
        "cat <<E > x\n\x1b[2Jhi\nE\n\n\trm -rf 日本 'dossier de très longs noms de fichiers'",
        &[
            ("overwrites-file", "cat <<E > x\n\x1b[2Jhi\nE"),
            ("deletes-files", "rm -rf 日本 'dossier de très longs noms de fichiers'"),
        ],
    );
    insta::assert_snapshot!("narrow, several lines, escapes", shown(lines, 40));
}

#[test]
fn descriptions() {
    let mut command = command("make all", &[("hidden-command", "make")]);
    command["description"] = json!("Builds all of it, and then some more of it.\n\n$ make none\u{200b}");
    insta::assert_snapshot!("a command and what it is for", shown(command.clone(), 40));
    insta::assert_snapshot!("a command and what it is for in colour", coloured(command, 120));
    let mut file = change("notes.txt", None, "one\n");
    (file["title"], file["description"]) = (json!("Write it down"), json!("So that nobody forgets."));
    insta::assert_snapshot!("a change and what it is for", shown(file, 120));
    let raw = json!({"title": "Do it", "description": "As it was wished.", "rawInput": {"wish": "x"}});
    insta::assert_snapshot!("a wish and what it is for", shown(raw, 120));
    let mut long = json!({"title": "Do it", "description": "word ".repeat(100_000)});
    for most in [LINES, WORDS] {
        let card = card(&permission(long.clone()), &look(Lang::En, Color::Never, 80));
        assert!((most..most + 10).contains(&card.lines().count()) && card.contains("more lines"), "{card}");
        (long["action"], long["command"]) = (json!("run_command"), json!("ls"));
    }
}

#[test]
fn what_changes_a_command_stands_below_it() {
    let below = |input: Value| {
        let asked = json!({"action": "run_command", "command": "make", "rawInput": input, "options": []});
        let card = card(&permission(asked), &look(Lang::En, Color::Never, 80));
        let lines: Vec<&str> = card.lines().filter_map(|line| line.strip_prefix("│     ")).collect();
        lines.join("\n")
    };
    assert_eq!(below(json!({"command": "make", "cwd": "/home/will/ship", "stdin": "", "env": {}, "timeout": 3})), "");
    assert_eq!(below(json!({"command": "make", "workingDirectory": "/home/will/ship/", "call_id": "x"})), "");
    assert_eq!(below(json!({"command": "make", "cwd": "/tmp"})), r#""cwd": "/tmp""#);
    assert_eq!(below(json!({"command": "make", "work_dir": "sub"})), r#""work_dir": "sub""#);
    assert_eq!(below(json!({"arguments": {"cmd": "make", "stdin": "x"}})), r#""stdin": "x""#);
    assert_eq!(below(json!({"cmd": "make", "env": ["PATH=/tmp"]})), "\"env\": [\n  \"PATH=/tmp\"\n]");
}

#[test]
fn dangers_without_a_place() {
    let dangers = json!([
        {"code": "not-analysed", "level": "unclear", "start": 0, "end": 0},
        {"code": "deletes-files", "level": "destructive", "start": 9, "end": 4},
        {"code": "deletes-files", "level": "destructive", "start": 999, "end": 1999}]);
    let command = json!({"action": "run_command", "command": "ls | wc", "dangers": dangers});
    insta::assert_snapshot!("dangers without a place", shown(command, 120));
    let file = json!({"action": "delete_file", "title": "Delete", "paths": ["/home/will/ship/.git/HEAD", "/etc/passwd"], "dangers": [
        {"code": "deletes-files", "level": "destructive", "start": 0, "end": 0},
        {"code": "outside-workspace", "level": "unclear", "start": 0, "end": 0},
        {"code": "touches-git", "level": "unclear", "start": 0, "end": 0}]});
    insta::assert_snapshot!("dangers of files", shown(file.clone(), 120));
    insta::assert_snapshot!("dangers of files in colour", coloured(file, 60));
}

/// The lines with marks, each below what it marks, without the border.
fn marked(command: &str, (start, end): (usize, usize), width: usize) -> Vec<String> {
    let mut danger = Danger::new("x", DangerLevel::Destructive);
    (danger.start, danger.end) = (start, end);
    let look = look(Lang::En, Color::Never, width);
    let lines = block::command(command, &[danger], &look);
    lines.iter().map(|line| look.paint.line(line)).filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn marks_stand_under_what_they_mark() {
    /// A command, which of its bytes are dangerous, how wide the terminal is, and what is shown.
    type Case = (&'static str, (usize, usize), usize, &'static [&'static str]);
    let cases: [Case; 12] = [
        ("rm x", (0, 2), 40, &["  rm x", "  ~~ may destroy data"]),
        ("echo é; rm x", (9, 13), 40, &["  echo é; rm x", "          ~~~~ may destroy data"]),
        ("a 日本 b", (2, 5), 40, &["  a 日本 b", "    ~~ may destroy data"]),
        ("a 日本 b", (3, 4), 40, &["  a 日本 b", "    ~~ may destroy data"]),
        ("a\tb c", (2, 3), 40, &["  a       b c", "          ~ may destroy data"]),
        ("\x1b[31m rm", (0, 5), 40, &["  ␛[31m rm", "  ~~~~~ may destroy data"]),
        ("\u{200b}rm", (3, 5), 40, &["  <U+200B>rm", "          ~~ may destroy data"]),
        ("a b\nc d", (2, 5), 40, &["  a b", "    ~", "  c d", "  ~ may destroy data"]),
        ("a\nb", (1, 2), 40, &["  a", "  b", "  ! may destroy data"]),
        ("rm", (7, usize::MAX), 40, &["  rm", "  ! may destroy data"]),
        ("rm", (0, usize::MAX), 40, &["  rm", "  ~~ may destroy data"]),
        (
            "abcdefghijklmnopqrstuvwxyz",
            (14, 18),
            20,
            &["  abcdefghijklmnop", "                ~~", "↳ qrstuvwxyz", "  ~~", "  may destroy data"],
        ),
    ];
    for (command, span, width, expected) in cases {
        assert_eq!(marked(command, span, width), expected, "{command:?} {span:?} in {width}");
    }
}

#[test]
fn changes() {
    let change_of = |n: usize| {
        (0..20).map(|at| if at == n { "changed\n".to_owned() } else { format!("line {at}\n") }).collect::<String>()
    };
    let (old, new) = (change_of(99), change_of(10));
    let one = change("/home/will/ship/notes.txt", Some(&old), &new);
    insta::assert_snapshot!("a change", shown(one.clone(), 120));
    insta::assert_snapshot!("a change in colour", coloured(one, 120));
    let files = json!({"action": "edit_file", "title": "Several", "paths": ["new.txt", "/tmp/else"], "diffs": [
        {"path": "new.txt", "newText": "one\n\ttwo\u{1b}[2J\u{202e}\n"},
        {"path": "empty.txt", "newText": ""},
        {"path": "emptied.txt", "oldText": "one\ntwo\n", "newText": ""},
        {"path": "same.txt", "oldText": "one\n", "newText": "one"},
        {"path": "dos.txt", "oldText": "one\r\ntwo\r\n", "newText": "one\r\n2\r\n"},
        {"path": "undos.txt", "oldText": "one\r\n", "newText": "one\n"}]});
    insta::assert_snapshot!("several files", shown(files, 120));
    let mut deleted = change("old.txt", Some("one\n"), "");
    deleted["action"] = json!("delete_file");
    insta::assert_snapshot!("a deleted file", shown(deleted, 120));
    let long: String = (0..300).map(|n| format!("line {n}\n")).collect();
    insta::assert_snapshot!("a long new file", shown(change("new.txt", None, &long), 120));
    let wide = change("wide.txt", Some("short\n"), &"0123456789".repeat(100));
    insta::assert_snapshot!("a long line", shown(wide, 40));
}

/// Texts that cannot be compared in any sensible time are still shown, and bounded.
#[test]
fn huge_changes_are_bounded() {
    let numbers =
        |step: usize| (0..400_000usize).map(|n| format!("{}\n", n.wrapping_mul(step) % 7919)).collect::<String>();
    let (old, new) = (numbers(31), numbers(57));
    let few: String = numbers(31).lines().take(40_000).map(|line| format!("{line}\n")).collect();
    let other: String = numbers(57).lines().take(40_000).map(|line| format!("{line}\n")).collect();
    let one_line = "x".repeat(20_000_000);
    for (old, new) in [(&old, &new), (&few, &other), (&one_line, &new)] {
        let card = card(&permission(change("huge", Some(old), new)), &look(Lang::En, Color::Never, 80));
        let lines = card.lines().count();
        assert!(lines < LINES + 20 && card.len() < 40_000, "{lines} lines, {} bytes", card.len());
        assert!(card.contains(" more "), "{card}");
    }
}

#[test]
fn options() {
    let several = json!({"title": "Plan", "options": [
        {"id": "a", "kind": "allow_once", "name": "Yes"}, {"id": "b", "kind": "allow_once", "name": "Yes, and edit 👩\u{200d}💻"},
        {"id": "c", "kind": "somehow", "name": "Some\x1bhow"}]});
    insta::assert_snapshot!("repeated and unknown kinds", shown(several.clone(), 120));
    let spoof = json!({"title": "Plan", "options": [
        {"id": "a", "kind": "somehow", "name": "Yes yes yes yes yes yes yes [2] reject once"}]});
    let narrow = card(&permission(spoof), &look(Lang::En, Color::Never, 40));
    let wide = card(
        &permission(json!({"options": [{"id": "a", "kind": "x", "name": "No”\u{2800} [2] “Yes"}]})),
        &look(Lang::En, Color::Never, 120),
    );
    assert!(wide.contains("\n│ [s]"), "{wide}");
    let card = narrow;
    assert!(!card.contains("\n│ [2]") && card.contains("│     [2]"), "{card}");
    insta::assert_snapshot!("options one below the other", shown(several, 40));
}

#[test]
fn shapes_that_nobody_knows() {
    let raw = json!({"title": "Do it", "rawInput": {"x": ["y", "\u{1b}[2J\u{202e}z\u{7f}"], "n": {"deep": 1}}, "options": []});
    insta::assert_snapshot!("a shape nobody knows", shown(raw, 120));
    let patch = json!({"action": "edit_file", "title": "Patch", "paths": ["a.txt"], "rawInput": {"patch": "--- a/a.txt\n+++ b/a.txt\n"}});
    insta::assert_snapshot!("a change that is no diff", shown(patch, 120));
    let read = json!({"action": "read_file", "title": "Read", "paths": ["a.txt"], "rawInput": {"path": "a.txt"}});
    let card = card(&permission(read), &look(Lang::En, Color::Never, 80));
    assert!(!card.contains("\"path\""), "{card}");
    let moved =
        json!({"action": "move_file", "title": "Move", "paths": ["a", "b"], "rawInput": {"from": "b", "to": "a"}});
    let card = super::card(&permission(moved), &look(Lang::En, Color::Never, 80));
    assert!(card.contains("\"from\": \"b\""), "which of them moves: {card}");
    for hidden in [json!({"path": "a.txt", "content": "x"}), json!({"path": "a.txt", "then": [{"run": "x"}]})] {
        for action in ["read_file", "delete_file", "move_file"] {
            let asked =
                json!({"action": action, "title": "Do", "paths": ["/home/will/ship/a.txt"], "rawInput": hidden});
            let card = super::card(&permission(asked), &look(Lang::En, Color::Never, 80));
            assert!(card.contains("\"path\"") && card.contains("\"x\""), "{card}");
        }
    }
    let lines = json!({"title": "Do", "paths": ["a\nb"], "diffs": [{"path": "c\n+d", "newText": "e"}]});
    let card = super::card(&permission(lines), &look(Lang::En, Color::Never, 80));
    assert!(card.contains("  a␊b\n") && card.contains("  c␊+d"), "{card}");
    let many: Vec<String> = (0..100_000).map(|n| format!("é{n}")).collect();
    let card = super::card(&permission(json!({"title": "", "rawInput": many})), &look(Lang::En, Color::Never, 80));
    assert!(card.lines().count() < LINES + 10 && card.contains("more lines"), "{card}");
    let long_title = json!({"title": "word ".repeat(10_000), "rawInput": {}});
    let card = super::card(&permission(long_title), &look(Lang::En, Color::Never, 80));
    assert!(card.lines().count() < LINES + 10 && card.contains("more lines"), "{card}");
}

/// Everything that an agent sends, at its worst.
#[test]
fn hostile_text_is_harmless_and_visible() {
    let worst = "\x1b[2J\x1b]52;c;x\x07\u{9b}31m\u{202e}a\u{200b}b\u{200d}\u{2060}\u{feff}\u{e0041}\u{2028}\u{2029}c\u{ad}\r\x08\x7f";
    let flood = format!("z{}", "\u{335}".repeat(500));
    let text = format!("{worst}{flood}");
    let options =
        json!([{"id": "a", "kind": "allow_once", "name": worst}, {"id": "b", "kind": "\x1bkind", "name": worst}]);
    let cases = [
        json!({"action": "run_command", "command": text, "description": text, "options": options}),
        json!({"title": text, "paths": [worst], "rawInput": {worst: worst}, "options": options}),
        json!({"diffs": [{"path": worst, "oldText": worst, "newText": text}], "options": options}),
    ];
    for fields in cases {
        let mut asked = permission(fields);
        asked.dangers = vec![Danger::new(worst, DangerLevel::Unclear)];
        asked.dangers[0].end = 9;
        let plain = card(&asked, &look(Lang::En, Color::Never, 80));
        let (above, _) = plain.split_once("│ [1]").unwrap();
        assert!(!plain.chars().any(|c| c.is_control() && c != '\n'), "{plain:?}");
        let hidden = ['\u{202e}', '\u{2028}', '\u{2029}', '\u{200b}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{e0041}'];
        assert!(!above.contains(hidden), "{above:?}");
        assert!(!plain.contains(&"\u{335}".repeat(5)), "a flood is painted over the lines above");
        // Without our own colours, it is the same text.
        let painted = card(&asked, &look(Lang::En, Color::Always, 80));
        let without = ["\x1b[1m", "\x1b[36m", "\x1b[32m", "\x1b[31m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[m"];
        let bare = without.iter().fold(painted, |text, code| text.replace(code, ""));
        assert_eq!(bare, plain);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_card_fits(
        command in "(\\PC|[ \\t\\n\\r\\x1b\\u{200b}\\u{202e}\\u{301}日é]){0,120}",
        description in "(\\PC|[ \\t\\n\\r\\x1b\\u{200b}\\u{202e}\\u{301}日é]){0,60}",
        spans in prop::collection::vec((0usize..200, 0usize..200, any::<bool>()), 0..6),
        width in 0usize..120,
    ) {
        let danger = |(start, end, sure)| {
            let mut danger = Danger::new("x", if sure { DangerLevel::Destructive } else { DangerLevel::Unclear });
            (danger.start, danger.end) = (start, end);
            danger
        };
        let mut asked = permission(json!({"action": "run_command", "command": &command, "description": description}));
        asked.dangers = spans.into_iter().map(danger).collect();
        let card = card(&asked, &look(Lang::Fr, Color::Never, width));
        for line in card.lines() {
            prop_assert!(columns(line) <= width.max(NARROWEST), "{line:?}");
        }
        // Each danger is told, by a mark or by a line of its own.
        prop_assert!(asked.dangers.is_empty() || card.contains('~') || card.contains("! "), "{card}");
        // Nothing of the command is left out.
        let all: usize = crate::columns::rows(&command, 40, crate::harmless::Reading::Exact).map(|row| row.bytes.len()).sum();
        prop_assert_eq!(all, command.len() - command.matches('\n').count());
    }
}

#[test]
fn answers() {
    let permission = permission(json!({}));
    let word = |line: &str| match reply(&permission, line) {
        Reply::Option(option) => option.id.clone(),
        Reply::StopAgent => "stop".to_owned(),
        Reply::Unknown => "unknown".to_owned(),
    };
    let answers = ["1", " [4] ", "s", "S", "0", "5", "", "yes", "-1", "99999999999999999999"].map(word);
    let unknown = "unknown";
    assert_eq!(answers, ["a", "d", "stop", "stop", unknown, unknown, unknown, unknown, unknown, unknown]);
}

#[test]
fn the_mildest_no() {
    let id = |options: Value| rejection(&permission(json!({ "options": options }))).map(|option| option.id.clone());
    let always = json!({"id": "n", "kind": "reject_always", "name": ""});
    let once = json!({"id": "o", "kind": "reject_once", "name": ""});
    assert_eq!(id(json!([always, once])).as_deref(), Some("o"));
    assert_eq!(id(json!([always])).as_deref(), Some("n"));
    assert_eq!(id(json!([{"id": "y", "kind": "allow_once", "name": ""}])), None);
}
