//! Watching as an embedder does, at the speed it has for one.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sidekicks_config::{Event, Kept, SaveOptions, Watch, load, save, watch, watch_unloaded};

/// A configuration with these agents.
fn text(agents: &[&str]) -> String {
    let agents: Vec<_> = agents.iter().map(|name| format!(r#""{name}": {{ "command": "{name}-acp" }}"#)).collect();
    format!(r#"{{ "version": 1, "agents": {{ {} }} }}"#, agents.join(", "))
}

struct Watched {
    folder: tempfile::TempDir,
    events: Receiver<Event>,
    _watch: Watch,
}

impl Watched {
    fn new(first: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sidekicks.jsonc");
        let (tell, events) = channel();
        let on = move |event| drop(tell.send(event));
        let watch = match first {
            Some(first) => {
                fs::write(&path, first).unwrap();
                watch(load(&path).unwrap(), on)
            }
            None => watch_unloaded(&path, on),
        };
        Self { folder, events, _watch: watch }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("sidekicks.jsonc")
    }

    /// Replaces the file in one step.
    fn put(&self, text: &str) {
        let new = self.folder.path().join("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.path()).unwrap();
    }

    /// The next event: the agents, how much was kept and the first problem; or its name.
    fn next(&self) -> String {
        match self.events.recv_timeout(Duration::from_secs(10)).unwrap() {
            Event::Changed(loaded) => {
                let agents: Vec<&str> = loaded.config.agents.names().collect();
                let kept = match loaded.kept {
                    Kept::All => "all",
                    Kept::LastGood => "last good",
                    _ => "other",
                };
                assert_eq!(loaded.path, self.path());
                let problem = loaded.problems.first().map_or("", |problem| problem.id());
                [&agents.join(" "), kept, problem].join(", ")
            }
            Event::Missing => "missing".to_owned(),
            other => format!("{other:?}"),
        }
    }
}

#[test]
fn what_works_outlives_a_mistake() {
    let watched = Watched::new(Some(&text(&["riker"])));
    watched.put(&text(&["riker", "data"]));
    assert_eq!(watched.next(), "riker data, all, ");
    watched.put(&text(&["riker"])[..20]);
    assert_eq!(watched.next(), "riker data, last good, unclosed-bracket");
    fs::remove_file(watched.path()).unwrap();
    assert_eq!(watched.next(), "missing");
    watched.put(&text(&["data"]));
    assert_eq!(watched.next(), "data, all, ");
}

#[test]
fn a_file_that_is_made_later_is_loaded() {
    let watched = Watched::new(None);
    watched.put(&text(&["riker"]));
    assert_eq!(watched.next(), "riker, all, ");
}

#[test]
fn an_own_save_is_told_once() {
    let watched = Watched::new(Some(&text(&["riker"])));
    for agents in [&["data"][..], &["riker", "data"], &["riker"]] {
        save(&watched.path(), &text(agents), &SaveOptions::default()).unwrap();
        assert_eq!(watched.next(), format!("{}, all, ", agents.join(" ")));
    }
}

#[test]
fn a_watch_goes_to_any_thread() {
    fn check<T: Send + Sync>() {}
    check::<Watch>();
}
