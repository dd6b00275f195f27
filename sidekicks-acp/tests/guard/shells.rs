//! The script of the guard, under every shell that is there.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::marks::asleep;
use crate::real::{listed, mark, marked, nothing_left};

const SCRIPT: &str = include_str!("../../src/process/guard/guard.sh");

/// How the markers of the program begin that it guards.
const MARK: &str = "999999.123/abc.";

const SHELLS: &[&[&str]] =
    &[&["sh"], &["dash"], &["bash"], &["bash", "--posix"], &["busybox", "sh"], &["ksh"], &["mksh"], &["yash"]];

/// An agent with a child in its group and one in a session of its own, or without its marker.
fn agent(mark: &str, marked: bool) -> Child {
    let script = format!("trap '' TERM; setsid sleep {mark} & sleep {mark}");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
    if marked {
        // One that another program started, which is an agent of ours.
        command.env("SIDEKICKS_AGENT", format!("5.6/d.0/inner {MARK}0/"));
    } else {
        command.env("NOT_SIDEKICKS_AGENT", format!("SIDEKICKS_AGENT={MARK}0/"));
        command.env("SIDEKICKS_AGENT", format!("9{MARK}0/"));
    }
    command.spawn().unwrap()
}

/// When a process started, as proc(5) tells.
fn started(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().to_owned()
}

fn kill(pid: i32) {
    // It may have gone meanwhile.
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shell_ends_what_was_registered_and_nothing_else() {
    for shell in SHELLS {
        let guard = |lines: String| {
            let mut command = Command::new(shell[0]);
            command.args(&shell[1..]).args(["-c", SCRIPT, "sidekicks-guard", MARK, "proc"]);
            command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stderr(Stdio::null());
            let mut process = command.spawn().ok()?;
            process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
            Some(process.wait().unwrap())
        };
        if guard("done\n".to_owned()).is_none() {
            eprintln!("skipped: there is no {}", shell[0]);
            continue;
        }
        let (plain, spared) = (mark(), mark());
        let mut agents = [agent(&plain, true), agent(&plain, true)];
        let mut bystanders = [agent(&spared, false), agent(&spared, false), agent(&spared, false)];
        asleep(&plain, 4).await;
        asleep(&spared, 6).await;
        let mut lines = String::new();
        for agent in agents.iter().chain(&bystanders[..2]) {
            lines += &format!("+ {} {}\n", agent.id(), started(agent.id()));
        }
        for gone in &bystanders[..2] {
            lines += &format!("- {} {}\n", gone.id(), started(gone.id()));
        }
        // Somebody else has the number of this one now.
        lines += &format!("+ {} 1\nnonsense\n+\n", bystanders[2].id());
        let all = marked(&plain).len() + marked(&spared).len();
        guard(format!("{lines}done\n"));
        assert_eq!(marked(&plain).len() + marked(&spared).len(), all, "{shell:?}: all was well");
        guard(lines);
        agents.iter_mut().for_each(|agent| assert!(!agent.wait().unwrap().success()));
        nothing_left(&plain).await;
        asleep(&spared, 6).await;
        listed().iter().filter(|process| process.args.contains(&spared)).for_each(|process| kill(process.pid));
        bystanders.iter_mut().for_each(|bystander| assert!(!bystander.wait().unwrap().success()));
        nothing_left(&spared).await;
    }
}
