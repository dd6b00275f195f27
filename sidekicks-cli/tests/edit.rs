//! `sidekicks config edit`, with a script for an editor.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::{Mark, Terminal};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const GOOD: &str = "// mine\n{ \"version\": 1, \"agents\": { \"riker\": { \"command\": \"sh\" } } }\n";

/// A test's folder, with what is edited and what edits it.
struct Desk {
    mark: Mark,
    dir: tempfile::TempDir,
    config: PathBuf,
}

impl Desk {
    fn new(text: Option<&str>) -> Self {
        let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
        let config = dir.path().join("sidekicks.jsonc");
        text.into_iter().for_each(|text| std::fs::write(&config, text).unwrap());
        std::fs::create_dir(dir.path().join("temporary")).unwrap();
        Self { mark, dir, config }
    }

    /// Edits with this script, which gets the copy as `$1`.
    fn edit(&self, args: &[&str], script: &str) -> Terminal {
        let editor = self.dir.path().join("editor.sh");
        std::fs::write(&editor, script).unwrap();
        let temporary = self.dir.path().join("temporary");
        let variables = [
            ("VISUAL", &*format!("sh '{}'", editor.display())),
            ("EDITOR", "no-such-editor"),
            ("TMPDIR", temporary.to_str().unwrap()),
        ];
        let config = format!("--config={}", self.config.display());
        let args: Vec<&str> = [&*config, "config", "edit"].iter().chain(args).copied().collect();
        Terminal::run_with(&self.mark, &args, self.dir.path(), &variables)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.config).unwrap()
    }

    /// The copies that were left.
    fn copies(&self) -> Vec<PathBuf> {
        let folders = std::fs::read_dir(self.dir.path().join("temporary")).unwrap();
        folders.map(|folder| folder.unwrap().path().join("sidekicks.jsonc")).collect()
    }

    /// The one copy that was left, of which the program told.
    fn kept(&self, shown: &str) -> String {
        let [copy] = &self.copies()[..] else { panic!("one copy: {:?}: {shown}", self.copies()) };
        assert!(shown.replace("\r\n", "\n").contains(&format!("your text is in {}", copy.display())), "{shown}");
        assert_eq!(mode(copy), 0o600);
        assert_eq!(mode(copy.parent().unwrap()), 0o700);
        std::fs::read_to_string(copy).unwrap()
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_right_is_saved() {
    let desk = Desk::new(Some(GOOD));
    let script = "ls -la \"$(dirname \"$1\")\" > listing; sed -i s/mine/ours/ \"$1\"";
    let (code, shown) = desk.edit(&[], script).finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(desk.text(), GOOD.replace("mine", "ours"));
    assert!(shown.contains("sidekicks.jsonc is saved"), "{shown}");
    assert!(desk.copies().is_empty());
    let listing = std::fs::read_to_string(desk.dir.path().join("listing")).unwrap();
    assert!(listing.contains("drwx------") && listing.contains("-rw-------"), "{listing}");
    desk.mark.nothing_left();
}

#[test]
fn what_is_unchanged_is_not_saved() {
    for text in [Some(GOOD), None] {
        let desk = Desk::new(text);
        let (code, shown) = desk.edit(&[], "touch \"$1\"").finish();
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("nothing was changed in"), "{shown}");
        assert_eq!(desk.config.exists(), text.is_some());
        assert!(desk.copies().is_empty());
    }
}

#[test]
fn errors_are_shown_until_there_are_none() {
    let desk = Desk::new(Some(GOOD));
    // Wrong at first, and right the second time.
    let script = "if grep -q comand \"$1\"; then sed -i s/comand/command/ \"$1\"; else sed -i s/command/comand/ \"$1\"; fi; sed -i s/mine/ours/ \"$1\"";
    let mut terminal = desk.edit(&[], script);
    let shown = terminal.expect("[1] go on editing   [2] do not save ? ");
    insta::assert_snapshot!(shown.replace(desk.dir.path().to_str().unwrap(), "/somewhere").replace('\r', ""));
    assert_eq!(desk.text(), GOOD);
    terminal.type_keys("yes\n");
    terminal.expect("Please type one of the signs in brackets.");
    terminal.expect("do not save ? ");
    terminal.type_keys("1\n");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(desk.text(), GOOD.replace("mine", "ours"));
    assert!(desk.copies().is_empty());
}

#[test]
fn what_is_discarded_is_kept_aside() {
    for (keys, expected) in [("2\n", 3), ("\x04", 3), ("\x03", 130)] {
        let desk = Desk::new(Some(GOOD));
        let mut terminal = desk.edit(&[], "echo '{' > \"$1\"");
        terminal.expect("do not save ? ");
        terminal.type_keys(keys);
        let (code, shown) = terminal.finish();
        assert_eq!(code, expected, "{shown}");
        assert_eq!(desk.kept(&shown), "{\n");
        assert_eq!(desk.text(), GOOD);
        desk.mark.nothing_left();
    }
}

#[test]
fn the_question_is_asked_in_french_too() {
    let desk = Desk::new(Some(GOOD));
    let mut terminal = desk.edit(&["--lang", "fr"], "echo '{' > \"$1\"");
    let shown = terminal.expect("[2] ne pas enregistrer ? ");
    insta::assert_snapshot!(shown.replace(desk.dir.path().to_str().unwrap(), "/somewhere").replace('\r', ""));
    terminal.type_keys("2\n");
    assert!(terminal.finish().1.contains("votre texte est dans"));
}

#[test]
fn a_file_that_changed_meanwhile_is_left_alone() {
    let desk = Desk::new(Some(GOOD));
    let (code, shown) = desk.edit(&[], "sed -i s/mine/ours/ \"$1\"; echo theirs > sidekicks.jsonc").finish();
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("was changed by somebody else"), "{shown}");
    assert_eq!(desk.text(), "theirs\n");
    assert_eq!(desk.kept(&shown), GOOD.replace("mine", "ours"));
}

#[test]
fn a_file_that_was_made_meanwhile_is_left_alone() {
    let desk = Desk::new(None);
    let script = "sed -i s/opencode/theirs/ \"$1\"; cp \"$1\" sidekicks.jsonc; sed -i s/theirs/ours/ \"$1\"";
    let (code, shown) = desk.edit(&[], script).finish();
    assert_eq!(code, 1, "{shown}");
    assert!(desk.text().contains("theirs"));
    assert!(desk.kept(&shown).contains("ours"));
}

#[test]
fn a_new_file_begins_with_a_text_that_works() {
    let (mark, dir) = (Mark::new(), tempfile::tempdir().unwrap());
    let variables = [("EDITOR", "sed -i s/opencode/sh/")];
    let (code, shown) = Terminal::run_with(&mark, &["config", "edit"], dir.path(), &variables).finish();
    assert_eq!(code, 0, "{shown}");
    let made = mark.home().join("config/sidekicks/sidekicks.jsonc");
    assert!(std::fs::read_to_string(&made).unwrap().contains("\"sh\""));
    assert_eq!((mode(&made), mode(made.parent().unwrap())), (0o600, 0o700));
    let (code, stdout, _) = common::run(common::sidekicks(&mark).args(["config", "check"]));
    assert_eq!(code, 0, "{stdout}");
    std::fs::remove_dir_all(mark.home()).unwrap();
}

/// Before anything is written, and without an editor.
#[test]
fn what_could_not_be_saved_is_not_edited() {
    for (config, said) in [("gone/sidekicks.jsonc", "could not be saved: No such file"), (".", "is not a file")] {
        let mut desk = Desk::new(None);
        desk.config = desk.dir.path().join(config);
        let (code, shown) = desk.edit(&[], "touch edited").finish();
        assert!(matches!(code, 1 | 2) && shown.contains(said), "{code}: {shown}");
        assert!(!desk.dir.path().join("edited").exists());
    }
}

#[test]
fn an_editor_that_fails_saves_nothing() {
    let desk = Desk::new(Some(GOOD));
    let (code, shown) = desk.edit(&[], "sed -i s/mine/ours/ \"$1\"; exit 3").finish();
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("ended with an error, so nothing was saved"), "{shown}");
    assert_eq!(desk.kept(&shown), GOOD.replace("mine", "ours"));
    assert_eq!(desk.text(), GOOD);

    let desk = Desk::new(Some(GOOD));
    let (code, shown) = desk.edit(&[], "exit 1").finish();
    assert_eq!((code, desk.copies().len()), (1, 0), "{shown}");

    for (editor, said) in [("no-such-editor", "cannot be run"), ("vi 'unclosed", "EDITOR holds no command")] {
        let desk = Desk::new(Some(GOOD));
        let args = ["--config", desk.config.to_str().unwrap(), "config", "edit"];
        let (code, shown) = Terminal::run_with(&desk.mark, &args, desk.dir.path(), &[("EDITOR", editor)]).finish();
        assert_eq!(code, 1, "{shown}");
        assert!(shown.contains(said), "{shown}");
    }
}

#[test]
fn an_interrupt_is_the_editors_own_business() {
    let desk = Desk::new(Some(GOOD));
    let script = "trap 'sed -i s/mine/ours/ \"$1\"; exit 0' INT; echo ready; while :; do sleep 0.1; done";
    let mut terminal = desk.edit(&[], script);
    terminal.expect("ready");
    terminal.type_keys("\x03");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(desk.text(), GOOD.replace("mine", "ours"));

    // An editor that it ends loses nothing either.
    let desk = Desk::new(Some(GOOD));
    let mut terminal = desk.edit(&[], "sed -i s/mine/ours/ \"$1\"; echo ready; sleep 1000");
    terminal.expect("ready");
    desk.mark.until(|lines| lines.iter().any(|line| line.starts_with("sleep")));
    terminal.type_keys("\x03");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 1, "{shown}");
    assert_eq!(desk.kept(&shown), GOOD.replace("mine", "ours"));
    desk.mark.nothing_left();
}

#[test]
fn who_is_terminated_keeps_the_text_and_ends_the_editor() {
    let desk = Desk::new(Some(GOOD));
    let mut terminal = desk.edit(&[], "sed -i s/mine/ours/ \"$1\"; echo ready; exec sleep 1000");
    terminal.expect("ready");
    desk.mark.until(|lines| lines.iter().any(|line| line.starts_with("sleep")));
    kill(Pid::from_raw(terminal.program()), Signal::SIGTERM).unwrap();
    let (code, shown) = terminal.finish();
    assert_eq!(code, 143, "{shown}");
    assert_eq!(desk.kept(&shown), GOOD.replace("mine", "ours"));
    desk.mark.nothing_left();
}
