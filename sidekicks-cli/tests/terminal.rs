//! `sidekicks ask` on a terminal: the permission card and Ctrl-C.

mod common;

use common::{Mark, Terminal, shell_agent};

#[test]
fn a_command_runs_when_it_is_allowed() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let mut terminal =
        Terminal::run(&mark, &["ask", "demo", "run: echo made-by-tool > out.txt; cat out.txt"], dir.path());
    let card = terminal.expect("└ ? ").replace('\r', "");
    insta::assert_snapshot!(card);
    terminal.type_keys("1\n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(std::fs::read_to_string(dir.path().join("out.txt")).unwrap(), "made-by-tool\n");
    assert!(shown.contains("✓ echo made-by-tool"), "{shown}");
    mark.nothing_left();
}

#[test]
fn a_command_does_not_run_when_it_is_rejected() {
    for (lang, head, key) in [
        ("en", "demo wants to run a command on your computer", "4\n"),
        ("fr", "demo veut exécuter une commande sur votre ordinateur", "3\n"),
    ] {
        let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
        let mut terminal = Terminal::run(&mark, &["--lang", lang, "ask", "demo", "run: touch made"], dir.path());
        terminal.expect(head);
        terminal.expect("└ ? ");
        terminal.type_keys(key);
        let (code, shown) = terminal.finish();
        assert_eq!(code, 0, "{shown}");
        assert!(!dir.path().join("made").exists());
        mark.nothing_left();
    }
}

#[test]
fn a_file_is_shown_before_it_is_written() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    std::fs::write(dir.path().join("notes.txt"), "one\ntwo\n").unwrap();
    let mut terminal = Terminal::run(&mark, &["ask", "demo", "write: notes.txt\none\n2\n"], dir.path());
    let card = terminal.expect("└ ? ");
    assert!(card.contains("demo wants to change a file") && card.contains("-two") && card.contains("+2"), "{card}");
    assert_eq!(std::fs::read_to_string(dir.path().join("notes.txt")).unwrap(), "one\ntwo\n");
    terminal.type_keys("1\n");
    assert_eq!(terminal.finish().0, 0);
    assert_eq!(std::fs::read_to_string(dir.path().join("notes.txt")).unwrap().trim_end(), "one\n2");
}

#[test]
fn only_an_answer_is_an_answer() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    // The pause lets what is typed before the card arrive before the card.
    let mut terminal = Terminal::run(&mark, &["ask", "demo", "long: 3000\nrun: touch made"], dir.path());
    terminal.expect("line 1\r\n");
    terminal.type_keys("1\n"); // Typed before the question: no answer to it.
    terminal.expect("└ ? ");
    for wrong in ["yes\n", "9\n", "\n"] {
        terminal.type_keys(wrong);
        terminal.expect("Please type one of the signs in brackets.");
        terminal.expect("└ ? ");
    }
    assert!(!dir.path().join("made").exists());
    terminal.type_keys("s\n");
    assert_eq!(terminal.expect_or_end("└ ? "), None, "what was answered is not asked again");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 5, "{shown}");
    assert!(!shown.contains("took the question back"), "{shown}");
    assert!(!dir.path().join("made").exists());
    mark.nothing_left();
}

#[test]
fn what_is_dangerous_is_marked() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    std::fs::create_dir(dir.path().join("kept")).unwrap();
    let mut terminal = Terminal::run(&mark, &["ask", "demo", "run: ls; rm -rf kept"], dir.path());
    let card = terminal.expect("└ ? ").replace('\r', "");
    insta::assert_snapshot!(card);
    terminal.type_keys("4\n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(dir.path().join("kept").exists());
    mark.nothing_left();
}

#[test]
fn what_is_dangerous_is_marked_in_french_and_in_colour() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let args = ["--lang", "fr", "--color", "always", "ask", "demo", "run: eval \"$x\" > made"];
    let mut terminal = Terminal::run(&mark, &args, dir.path());
    let card = terminal.expect("└ ? ").replace('\r', "").replace('\x1b', "\\e");
    insta::assert_snapshot!(card);
    terminal.type_keys("4\n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert!(!dir.path().join("made").exists());
    mark.nothing_left();
}

#[test]
fn an_agent_that_goes_in_circles_is_told_of_once() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let prompt = "run: false\nrun: false\nrun: false\nrun: false";
    let mut terminal = Terminal::run(&mark, &["ask", "demo", prompt], dir.path());
    terminal.expect("└ ? ");
    terminal.type_keys("2\n");
    terminal.expect("demo is going in circles: 3 tools failed in a row (Ctrl-C to stop it)");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown.matches("in circles").count(), 1, "{shown}");
    mark.nothing_left();
}

#[test]
fn interrupting_the_card_stops_the_agent() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let mut terminal = Terminal::run(&mark, &["ask", "demo", "run: touch made"], dir.path());
    terminal.expect("└ ? ");
    terminal.type_keys("\x03");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 130, "{shown}");
    assert!(!dir.path().join("made").exists());
    mark.nothing_left();
}

#[test]
fn the_end_of_input_at_the_card_is_a_no() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let mut terminal = Terminal::run(&mark, &["ask", "demo", "run: touch made"], dir.path());
    terminal.expect("└ ? ");
    terminal.type_keys("\x04");
    assert_eq!(terminal.finish().0, 0);
    assert!(!dir.path().join("made").exists());
}

#[test]
fn interrupting_a_running_command_leaves_nothing() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let mut terminal = Terminal::run(&mark, &["ask", "demo", "run: echo begun; sleep 1000; echo over"], dir.path());
    terminal.expect("└ ? ");
    terminal.type_keys("1\n");
    mark.until(|lines| lines.iter().any(|line| line.starts_with("sleep 1000")));
    terminal.type_keys("\x03");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 130, "{shown}");
    mark.nothing_left();
}

#[test]
fn a_question_that_is_taken_back_is_asked_no_more() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let ask = r#"printf '{"id":"q","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","title":"Look\u001b[2Jaround"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}\n'"#;
    let agent = shell_agent(
        dir.path(),
        &format!(
            r#"{ask}; touch asked; while [ ! -e seen ]; do sleep 0.05; done; printf '{{"method":"$/cancel_request","params":{{"requestId":"q"}}}}\n'; read -r line; say done; reply '{{"stopReason":"end_turn"}}'; cat >/dev/null"#
        ),
    );
    let mut terminal = Terminal::run(&mark, &["ask", "--agent-command", &agent, "hi"], dir.path());
    let card = terminal.expect("└ ? ");
    assert!(card.contains("Look␛[2Jaround"), "{card}");
    std::fs::write(dir.path().join("seen"), "").unwrap();
    terminal.expect("took the question back");
    terminal.expect("done");
    assert_eq!(terminal.finish().0, 0);
    mark.nothing_left();
}

#[test]
fn what_an_agent_says_is_harmless_on_a_terminal() {
    let (dir, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    let agent = shell_agent(dir.path(), r#"say 'a\u001b[2Jb'; reply '{"stopReason":"end_turn"}'; cat >/dev/null"#);
    let mut terminal = Terminal::run(&mark, &["ask", "--agent-command", &agent, "hi"], dir.path());
    terminal.expect("a␛[2Jb");
    assert_eq!(terminal.finish().0, 0);
    let (_, piped, _) = common::run(common::sidekicks(&mark).args(["ask", "--agent-command", &agent, "hi"]));
    assert_eq!(piped, "a\x1b[2Jb\n", "a pipe gets it to the byte");
}
