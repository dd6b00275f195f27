//! A folder with a file that is watched.

mod links;
mod programs;
mod scarce;
mod trouble;

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::Watch;
use super::look::Change;
use super::timing::Timing;
use super::watcher::Watcher;
use crate::contents;
use crate::digest::Digest;

/// For what comes at once on an idle machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Never, for a test.
const NEVER: Duration = Duration::from_secs(3600);

/// Only hints wake the watch, and a part of a text has long to become whole, since the machine may be slow.
const BY_HINTS: Timing = Timing {
    quiet: Duration::from_millis(50),
    busy: Duration::from_secs(1),
    doubt: PATIENCE,
    timer: NEVER,
    blind_timer: NEVER,
    contents: NEVER,
};

/// The same, where what is gone or broken is to be told soon.
const HASTY: Timing = Timing { doubt: Duration::from_millis(50), ..BY_HINTS };

/// A folder with the folder `home`, in which `config` is watched. A whole text is in braces.
struct Room {
    root: PathBuf,
    told: Receiver<String>,
    reads: Receiver<String>,
    watch: Option<Watch>,
    _folder: tempfile::TempDir,
}

impl Room {
    /// Watches a file that holds `{0}`.
    fn new(timing: Timing) -> Self {
        Self::prepared(timing, |root| fs::write(root.join("home/config"), "{0}").unwrap())
    }

    /// Prepares the folder, then watches what is there, once it was read for the first time.
    fn prepared(timing: Timing, prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("home")).unwrap();
        prepare(&root);
        let path = root.join("home/config");
        let last = Digest::of(&fs::read(&path).unwrap_or_default());
        let (tell, told) = channel();
        let (reading, reads) = channel();
        let mut watcher = watcher(&path, last, timing);
        watcher.read = Box::new(move |path| {
            let read = contents::read(path);
            let _ = reading.send(read.as_ref().map_or_else(|error| format!("{:?}", error.kind()), |bytes| text(bytes)));
            read
        });
        let watch = watcher.start(move |change| {
            let _ = tell.send(words(&change));
        });
        let room = Self { root, told, reads, watch: Some(watch), _folder: folder };
        room.reads.recv_timeout(PATIENCE).unwrap();
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn config(&self) -> PathBuf {
        self.path("home/config")
    }

    fn write(&self, text: &str) {
        fs::write(self.config(), text).unwrap();
    }

    /// The next thing that is told.
    fn next(&self) -> String {
        self.told.recv_timeout(PATIENCE).expect("nothing was told")
    }

    /// Waits until the watch has read this.
    fn has_read(&self, expected: &str) {
        while self.reads.recv_timeout(PATIENCE).expect("it was not read") != expected {}
    }

    /// Runs a program in `home`. What it needs of the environment is given, so that nobody's settings matter.
    fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path("home")).stdin(Stdio::null()).stdout(Stdio::null());
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", &self.root).env("GIT_CONFIG_NOSYSTEM", "1").env("TERM", "dumb");
        assert!(command.status().unwrap().success(), "{program} {arguments:?}");
    }
}

/// Each of three saves is told once, with its text, by hints alone.
fn each_save_is_told_once(prepare: impl FnOnce(&Path), save: impl Fn(&Room, &str)) {
    let room = Room::prepared(BY_HINTS, prepare);
    for text in ["{1}", "{2}", "{3}"] {
        save(&room, text);
        assert_eq!(room.next(), text);
    }
}

fn watcher(path: &Path, last: Digest, timing: Timing) -> Watcher {
    let mut watcher = Watcher::new(path, Some(last), |bytes| !text(bytes).ends_with('}'));
    watcher.timing = timing;
    watcher
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

fn words(change: &Change) -> String {
    match change {
        Change::Contents(bytes, digest) => {
            assert_eq!(*digest, Digest::of(bytes));
            text(bytes)
        }
        Change::Missing => "missing".to_owned(),
        Change::Unreadable(error) => format!("unreadable: {:?}", error.kind()),
        Change::Degraded(warning) => format!("degraded: {warning}"),
    }
}

/// Whether this program is there; if not, says so.
fn has(program: &str) -> bool {
    let ran = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let has = ran.is_ok_and(|output| output.status.success());
    if !has {
        println!("skipped: no `{program}` here");
    }
    has
}
