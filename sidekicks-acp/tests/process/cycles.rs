//! That nothing piles up over many agents.

use std::process::Command;

use sidekicks_acp::{StopPolicy, StopStep};

use crate::{ISOLATIONS, READY, alone, shell, start_with, until};

/// Its own descriptors and children are counted, so it has a process of its own.
#[test]
fn a_thousand_agents_leave_no_descriptor_no_zombie_and_no_task() {
    if !alone("cycles::a_thousand_agents_leave_no_descriptor_no_zombie_and_no_task", |it| Some(Command::new(it))) {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let metrics = tokio::runtime::Handle::current().metrics();
        let mut before = None;
        for cycle in 0..1_000 {
            let isolation = ISOLATIONS[cycle % 2];
            let (command, policy) = (shell(format!("{READY} read line")), StopPolicy::default());
            let agent = start_with(command.isolation(isolation), &policy).await.unwrap();
            // Some are dropped, as a program does that is in a hurry.
            match cycle % 10 {
                9 => drop(agent),
                _ => assert_eq!(agent.stop().await.step, StopStep::Eof),
            }
            // What is made once for all is made by the first ones.
            if cycle == 20 {
                before = Some(settled().await);
            }
        }
        assert_eq!(Some(settled().await), before, "descriptors");
        assert_eq!(metrics.num_alive_tasks(), 0, "tasks");
    });
}

/// Waits until no task and no child is left, which a dropped agent takes a moment for, and counts descriptors.
async fn settled() -> usize {
    let metrics = tokio::runtime::Handle::current().metrics();
    let us = std::process::id();
    until("", |_| metrics.num_alive_tasks() == 0 && children(us) == 0).await;
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// How many processes have this parent, zombies included.
fn children(parent: u32) -> usize {
    let of = |stat: String| stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats.filter(|stat| of(stat.clone()) == Some(parent)).count()
}
