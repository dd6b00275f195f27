//! What is left when a program with agents is killed, with its guard and without it.

use std::path::Path;

use sidekicks_acp::{AgentProcess, ConnectOptions, Guard, StopStep};

use crate::marks::{BY_MARKER, OBEY, asleep};
use crate::owner::Owner;
use crate::real::{READY, mark, marked, nothing_left, quick, shell, until};

/// What agents do, and how many `sleep`s of them are there then; without those that leave their group where nobody is
/// found by a marker.
fn agents() -> impl Iterator<Item = (&'static str, usize)> {
    AGENTS.iter().copied().filter(|(script, _)| BY_MARKER || !(script.contains("setsid") || script.contains("set -m")))
}

const AGENTS: &[(&str, usize)] = &[
    (OBEY, 0),
    ("exec sleep MARK", 1),
    ("trap '' TERM; while :; do sleep MARK; done", 1),
    ("kill -STOP $$", 0),
    ("sleep MARK & while read line; do :; done", 1),
    ("(trap '' TERM; exec sleep MARK) & exec sleep MARK", 2),
    ("setsid sleep MARK & while read line; do :; done", 1),
    ("setsid sh -c 'trap \"\" TERM HUP; sleep MARK; :' & while read line; do :; done", 1),
    ("set -m; sleep MARK & while read line; do :; done", 1), // A group of its own (POSIX.1-2017, set -m).
    ("(setsid sh -c '(sleep MARK &)' &); while read line; do :; done", 1),
];

/// The scripts of all of them with this mark, and how many `sleep`s there are.
fn scripts(mark: &str) -> (Vec<String>, usize) {
    let scripts = agents().map(|(script, _)| format!("{READY} {}", script.replace("MARK", mark))).collect();
    (scripts, agents().map(|(_, sleeps)| sleeps).sum())
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shell_ends_each_kind_of_agent() {
    for (script, sleeps) in agents() {
        let (state, mark) = (tempfile::tempdir().unwrap(), mark());
        let script = format!("{READY} {}", script.replace("MARK", &mark));
        let mut owner = Owner::start(state.path(), &[script]);
        asleep(&mark, sleeps).await;
        assert_eq!((owner.shells().len(), files(state.path())), (1, 1));
        owner.kill();
        nothing_left(&mark).await;
        owner.no_shell_left();
        // Nothing is left but a file that says nothing any more.
        let next = Guard::start(state.path()).await.unwrap();
        assert_eq!((next.swept().programs, next.swept().processes), (0, 0));
        assert_eq!(files(state.path()), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_start_ends_what_is_left_when_the_shell_was_killed_too() {
    let (state, mark) = (tempfile::tempdir().unwrap(), mark());
    let (scripts, sleeps) = scripts(&mark);
    let mut owner = Owner::start(state.path(), &scripts);
    asleep(&mark, sleeps).await;
    owner.kill_shells();
    owner.kill();
    let guards = tokio::join!(Guard::start(state.path()), Guard::start(state.path()));
    let (one, two) = (guards.0.unwrap(), guards.1.unwrap());
    nothing_left(&mark).await;
    assert!(
        one.swept().processes + two.swept().processes >= if BY_MARKER { 7 } else { 4 },
        "{:?} {:?}",
        one.swept(),
        two.swept()
    );
    assert_eq!(files(state.path()), 2, "those of the two guards");
    drop((one, two));
    assert_eq!(files(state.path()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_that_was_killed_is_replaced_at_the_next_start_of_an_agent() {
    let (state, one, two) = (tempfile::tempdir().unwrap(), mark(), mark());
    let second = format!("{READY} sleep {two} & {OBEY}");
    let mut owner = Owner::start(state.path(), &[format!("{READY} exec sleep {one}")]);
    asleep(&one, 1).await;
    owner.kill_shells();
    let before = owner.shells().len();
    owner.start_another(&second);
    asleep(&two, 1).await;
    assert_eq!((before, owner.shells().len()), (0, 1));
    owner.kill();
    nothing_left(&one).await;
    nothing_left(&two).await;
    owner.no_shell_left();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_becomes_another_loses_its_agents_and_keeps_the_new_ones() {
    let (state, first, second) = (tempfile::tempdir().unwrap(), mark(), mark());
    let script =
        format!("{READY} if [ -e {first} ]; then exec sleep {second}; else touch {first}; exec sleep {first}; fi");
    let mut owner = Owner::start(state.path(), &[format!("cd {}; {script}", state.path().display())]);
    asleep(&first, 1).await;
    owner.start_another("exec"); // It is the same process still, with the same number and start time.
    asleep(&second, 1).await;
    until(&first, |lines| !lines.iter().any(|line| line.starts_with("sleep"))).await;
    until_one(|| owner.shells().len()).await;
    asleep(&second, 1).await; // The shell of the first program spared it.
    owner.kill();
    nothing_left(&second).await;
}

/// Waits until there is one.
async fn until_one(count: impl Fn() -> usize) {
    let begun = std::time::Instant::now();
    while count() != 1 {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agents_of_a_live_program_are_spared() {
    let apart = if BY_MARKER { "setsid" } else { "" };
    let (state, mark) = (tempfile::tempdir().unwrap(), mark());
    let mut owner = Owner::start(state.path(), &[format!("{apart} sleep {mark} & {READY} exec sleep {mark}")]);
    asleep(&mark, 2).await;
    let guard = Guard::start(state.path()).await.unwrap();
    assert_eq!((guard.swept().programs, guard.swept().processes, files(state.path())), (0, 0, 2));
    asleep(&mark, 2).await;
    owner.kill();
    nothing_left(&mark).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_after_an_ordinary_end() {
    let (state, mark) = (tempfile::tempdir().unwrap(), mark());
    let folder = state.path().join("made/for/us");
    let mut owner = Owner::start(&folder, &[format!("{READY} {OBEY}"), format!("{READY} sleep {mark} & {OBEY}")]);
    assert_eq!(owner.shells().len(), 1);
    owner.finish();
    owner.no_shell_left();
    nothing_left(&mark).await;
    assert_eq!(files(&folder), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_agents_at_once() {
    let (state, mark) = (tempfile::tempdir().unwrap(), mark());
    let scripts = vec![format!("{READY} sleep {mark} & {OBEY}"); 20];
    let mut owner = Owner::start(state.path(), &scripts);
    asleep(&mark, 20).await;
    owner.kill();
    nothing_left(&mark).await;
    owner.no_shell_left();
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_hold_the_guard_until_they_are_reaped() {
    let (state, mark) = (tempfile::tempdir().unwrap(), mark());
    let guard = Guard::start(state.path()).await.unwrap();
    let mut options = ConnectOptions::default();
    options.guard = Some(guard);
    let agent = AgentProcess::start(&shell(format!("{READY} exec sleep {mark}")), &options, &quick()).await.unwrap();
    drop(options);
    assert_eq!((files(state.path()), marked(&mark).len()), (1, 1));
    assert_eq!(agent.stop().await.step, StopStep::Term);
    agent.reaped().await;
    assert_eq!(files(state.path()), 0);
}
