//! A folder to save in, and other processes that save in it.

mod failures;
mod killed;
mod mounts;
mod table;
mod together;

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::*;

/// Every step of a save, with those in place.
const STEPS: [SaveStep; 12] = [
    SaveStep::Resolve,
    SaveStep::Inspect,
    SaveStep::CreateTemporary,
    SaveStep::Write,
    SaveStep::SetMode,
    SaveStep::Sync,
    SaveStep::Compare,
    SaveStep::Rename,
    SaveStep::SyncDirectory,
    SaveStep::BackUp,
    SaveStep::Truncate,
    SaveStep::WriteInPlace,
];

/// Where another process finds the folder.
const FOLDER: &str = "SIDEKICKS_TEST_FOLDER";

/// A folder with a folder `home`, and in it perhaps the file `config`; and a folder for locks and copies.
struct Stage {
    root: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Stage {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("home")).unwrap();
        Self { root, _folder: Some(folder) }
    }

    /// With a file that holds `old`.
    fn new() -> Self {
        let stage = Self::empty();
        fs::write(stage.config(), "old").unwrap();
        stage
    }

    /// In another process: the stage that [`Stage::process`] told it of.
    fn inherited() -> Option<Self> {
        Some(Self { root: env::var_os(FOLDER)?.into(), _folder: None })
    }

    /// Another process that runs one of the ignored tests here.
    fn process(&self, test: &str) -> Command {
        self.process_in(&[], test)
    }

    /// The same, as arguments of another program.
    fn process_in(&self, program: &[&str], test: &str) -> Command {
        let exe = env::current_exe().unwrap();
        let mut command = match program {
            [] => Command::new(exe),
            [name, arguments @ ..] => {
                let mut command = Command::new(name);
                command.args(arguments).arg(exe);
                command
            }
        };
        command.args(["--exact", "--ignored", "--nocapture", &format!("replace::tests::{test}")]);
        command.env(FOLDER, &self.root).stdin(Stdio::null());
        command
    }

    fn config(&self) -> PathBuf {
        self.home("config")
    }

    fn home(&self, name: &str) -> PathBuf {
        self.root.join("home").join(name)
    }

    fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    fn save(&self, text: &str) -> Result<Replaced, SaveError> {
        self.save_if(Before::Any, text)
    }

    fn save_if(&self, before: Before, text: &str) -> Result<Replaced, SaveError> {
        replace(&self.config(), text.as_bytes(), before, Some(&self.state()))
    }

    /// Saves over a file that cannot be replaced, as far as the save can tell.
    fn save_fixed(
        &self,
        text: &str,
        may: impl Fn(SaveStep) -> io::Result<()>,
        state: Option<&Path>,
    ) -> Result<Replaced, SaveError> {
        let before = Before::Contents(Digest::of(&fs::read(self.config()).unwrap()));
        replace_asking(&self.config(), text.as_bytes(), before, state, &|step| match step {
            SaveStep::Rename => Err(Errno::EBUSY.into()),
            step => may(step),
        })
    }

    fn text(&self) -> String {
        fs::read_to_string(self.config()).unwrap()
    }

    /// The texts of all copies in the state folder.
    fn copies(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.state()) else { return vec![] };
        let copies = entries.map(|entry| entry.unwrap()).filter(|entry| {
            let name = entry.file_name().into_string().unwrap();
            name.starts_with("backup-")
        });
        copies.map(|entry| fs::read_to_string(entry.path()).unwrap()).collect()
    }

    /// What is in `home`, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.join("home")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Runs another process to its end, which must be that its test passed.
fn pass(process: &mut Command) {
    let output = process.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("test result: ok. 1 passed"), "{output:?}");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Whether this program can be run here; if not, says so.
fn can_run(program: &[&str]) -> bool {
    let ran = Command::new(program[0]).args(&program[1..]).stdin(Stdio::null()).output();
    let can = ran.is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: `{}` does not work here", program.join(" "));
    }
    can
}
