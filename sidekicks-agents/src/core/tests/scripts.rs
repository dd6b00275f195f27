//! What happens in which order, each rule by itself.

use std::sync::Arc;
use std::time::Duration;

use sidekicks_acp::{AgentName, End, Generation, StartFailure};

use super::world::{MIB, World, agents, spec};
use crate::core::{Input, LeaseId, Returned};

const DONE: Returned = Returned::Done;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

impl World {
    fn ask(&mut self, agent: &str, owner: &str) {
        self.borrow(agent, Some(owner), None);
    }

    /// Borrows an agent that is not running, and lets it start.
    fn run(&mut self, agent: &str, owner: &str) {
        self.ask(agent, owner);
        self.ready(agent);
    }

    /// The same, and gives it back.
    fn use_once(&mut self, agent: &str) {
        self.run(agent, "once");
        self.give_back(agent, DONE);
    }

    /// What happened since the last call.
    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }
}

#[test]
fn an_agent_starts_once_serves_in_order_and_stops_when_it_was_idle() {
    let mut world = World::new(agents(&["a"], 4));
    for owner in ["x", "y", "z"] {
        world.ask("a", owner);
    }
    world.ready("a");
    world.wait(seconds(3600)); // A turn may take long.
    world.give_back("a", DONE);
    world.give_back("a", DONE);
    world.wait(seconds(5));
    world.give_back("a", DONE);
    world.wait(seconds(599));
    world.wait(seconds(1));
    let told =
        ["0s start a#1", "0s lend a#1 to x", "3600s lend a#1 to y", "3600s lend a#1 to z", "4205s stop a#1 Idle"];
    assert_eq!(world.told(), told);
    world.ask("a", "x");
    assert_eq!(world.told(), [""; 0], "it is not gone yet");
    world.gone("a");
    assert_eq!(world.told(), ["4205s start a#2"]);
}

#[test]
fn the_least_recently_used_idle_agent_makes_room() {
    let mut world = World::new(agents(&["a", "b", "c", "d"], 3));
    world.use_once("b");
    world.use_once("a");
    world.run("c", "x");
    world.told();
    world.ask("d", "y");
    world.ask("d", "z");
    assert_eq!(world.told(), ["0s stop b#1 Room"], "one for both, and not the one that sorts first");
    world.gone("b");
    assert_eq!(world.told(), ["0s start d#1"]);
}

#[test]
fn nobody_makes_room_who_starts_is_busy_or_is_pinned() {
    let mut world = World::new(agents(&["a", "b", "c", "d"], 3));
    world.ask("a", "x");
    world.run("b", "y");
    world.use_once("c");
    world.pin("c", true);
    world.told();
    world.borrow("d", Some("z"), Some(seconds(9)));
    world.wait(seconds(9));
    assert_eq!(world.told(), ["9s refuse d to z: agent-room a,y"]);
    world.ask("d", "z");
    world.abandon(world.waiting[0].ticket);
    world.ready("a");
    assert_eq!(world.told(), ["9s stop a#1 Room"], "a start is not cancelled, but its agent is idle now");
}

#[test]
fn a_stopping_agent_keeps_its_room_until_it_is_gone() {
    let mut world = World::new(agents(&["a", "b", "c"], 1));
    world.use_once("a");
    world.ask("b", "x");
    world.ask("c", "y");
    assert_eq!(world.told()[2..], ["0s stop a#1 Room"]);
    world.gone("a");
    world.ready("b");
    world.give_back("b", DONE);
    world.gone("b");
    assert_eq!(world.told(), ["0s start b#1", "0s lend b#1 to x", "0s stop b#1 Room", "0s start c#1"]);
}

#[test]
fn others_go_first_for_a_while_and_then_stay_behind() {
    let mut world = World::new(agents(&["a", "b"], 1));
    world.run("a", "x");
    world.wait(seconds(1));
    world.ask("b", "slow");
    for turn in 0..4 {
        world.wait(seconds(3));
        world.ask("a", &format!("quick {turn}"));
        world.give_back("a", DONE);
    }
    world.gone("a");
    world.ready("b");
    world.give_back("b", DONE);
    world.gone("b");
    let told = [
        "0s start a#1",
        "0s lend a#1 to x",
        "4s lend a#1 to quick 0",
        "7s lend a#1 to quick 1",
        "10s lend a#1 to quick 2",
        "13s stop a#1 Room",
        "13s start b#1",
        "13s lend b#1 to slow",
        "13s stop b#1 Room",
        "13s start a#2",
    ];
    assert_eq!(world.told(), told);
}

#[test]
fn an_idle_agent_is_kept_from_those_who_came_later_than_who_waits_for_room() {
    let mut specs = agents(&["a", "b", "big"], 3);
    specs.max_memory = Some(3 * 512 * MIB);
    specs.agents.get_mut(&"big".into()).unwrap().memory_estimate = Some(2 * 512 * MIB + 1);
    let mut world = World::new(specs);
    world.use_once("a");
    world.run("b", "x");
    world.told();
    world.ask("big", "z");
    assert_eq!(world.told(), [""; 0], "to stop `a` alone would not do");
    world.wait(seconds(10));
    world.ask("a", "y");
    assert_eq!(world.told(), [""; 0]);
    world.give_back("b", DONE);
    assert_eq!(world.told(), ["10s stop a#1 Room", "10s stop b#1 Room"]);
}

#[test]
fn a_deadline_is_absolute_and_names_who_is_in_the_way() {
    let mut world = World::new(agents(&["a", "b"], 1));
    world.run("a", "x");
    world.borrow("a", Some("y"), Some(seconds(2)));
    world.borrow("b", None, Some(seconds(3)));
    world.wait(seconds(10));
    world.give_back("a", DONE);
    world.borrow("b", None, Some(seconds(4)));
    world.wait(seconds(10));
    let told = [
        "2s refuse a to y: agent-room x",
        "3s refuse b to somebody: agent-room x",
        "10s stop a#1 Room",
        "14s refuse b to somebody: agent-room a",
    ];
    assert_eq!(world.told()[2..], told);
    world.gone("a");
    world.borrow("b", Some("y"), Some(seconds(1)));
    world.wait(seconds(1));
    assert_eq!(world.told(), ["20s start b#1", "21s refuse b to y: start-timeout"]);
}

#[test]
fn those_who_wait_for_one_another_are_told_and_the_youngest_gives_way() {
    let mut world = World::new(agents(&["a", "b"], 2));
    world.run("a", "x");
    world.run("b", "y");
    world.ask("b", "x");
    assert_eq!(world.told().len(), 4, "`y` may let go of it");
    world.ask("a", "y");
    assert_eq!(world.told(), ["0s refuse a to y: would-deadlock"]);
    world.give_back("b", DONE);
    assert_eq!(world.told(), ["0s lend b#1 to x"]);
    world.ask("a", "x");
    assert_eq!(world.told(), ["0s refuse a to x: would-deadlock"], "of oneself too");
}

#[test]
fn who_holds_all_the_room_and_wants_more_is_told() {
    let mut world = World::new(agents(&["a", "b", "c"], 2));
    world.run("a", "x");
    world.run("b", "y");
    world.ask("c", "x");
    world.ask("c", "z");
    assert_eq!(world.told().len(), 4);
    world.ask("c", "y");
    assert_eq!(world.told(), ["0s refuse c to y: would-deadlock"]);
    world.give_back("b", DONE);
    assert_eq!(world.told(), ["0s stop b#1 Room"]);
}

#[test]
fn who_holds_a_pinned_agent_gives_no_room_by_letting_go() {
    let mut world = World::new(agents(&["a", "b", "c"], 2));
    world.pin("a", true);
    world.run("a", "x");
    world.run("b", "y");
    world.told();
    world.ask("c", "y");
    assert_eq!(world.told(), ["0s refuse c to y: would-deadlock"]);
}

#[test]
fn who_is_not_known_may_let_go_although_somebody_else_who_is_not_known_waits() {
    let mut world = World::new(agents(&["a", "b"], 2));
    world.run("a", "x");
    world.borrow("b", None, None);
    world.ready("b");
    world.borrow("a", None, None);
    world.ask("b", "x");
    world.give_back("b", DONE);
    assert_eq!(world.told()[4..], ["0s lend b#1 to x"]);
}

#[test]
fn a_borrower_without_a_name_may_let_go_at_any_time() {
    let mut world = World::new(agents(&["a", "b"], 1));
    world.borrow("a", None, None);
    world.ready("a");
    world.borrow("b", None, None);
    assert_eq!(world.told(), ["0s start a#1", "0s lend a#1 to somebody"]);
}

#[test]
fn three_failures_make_it_wait_until_it_is_reset_or_works() {
    let mut world = World::new(agents(&["a"], 1));
    for _ in 0..2 {
        world.ask("a", "x");
        world.fail("a");
    }
    world.ask("a", "x");
    world.ask("a", "y");
    world.ready("a");
    world.crash("a");
    assert_eq!(world.told()[5..], ["0s lend a#3 to x", "0s refuse a to y: backoff"], "although it is not gone yet");
    world.gone("a");
    world.ask("a", "z");
    world.wait(seconds(60));
    world.ask("a", "x");
    world.fail("a");
    world.reset("a");
    world.ask("a", "x");
    let told = ["0s refuse a to z: backoff", "60s start a#4", "60s refuse a to x: start-timeout", "60s start a#5"];
    assert_eq!(world.told(), told);
}

#[test]
fn a_turn_that_ended_makes_failures_forgotten() {
    let mut world = World::new(agents(&["a"], 1));
    for _ in 0..2 {
        world.ask("a", "x");
        world.fail("a");
    }
    world.use_once("a");
    world.crash("a");
    world.gone("a");
    world.told();
    world.ask("a", "x");
    assert_eq!(world.told(), ["0s start a#4"]);
}

#[test]
fn what_comes_from_an_earlier_process_is_no_news() {
    let mut world = World::new(agents(&["a"], 1));
    world.use_once("a");
    world.feed(Input::Stop("a".into()));
    world.gone("a");
    world.run("a", "x");
    world.ask("a", "y");
    world.told();
    let (agent, generation) = (AgentName::from("a"), Generation(1));
    let of_the_first = [
        Input::Ready { agent: agent.clone(), generation },
        Input::Returned { agent: agent.clone(), generation, lease: LeaseId(2), how: DONE },
        Input::Measured { agent: agent.clone(), generation, bytes: 1 },
        Input::Lost { agent: agent.clone(), generation, end: End::OutputClosed },
        Input::Stopped { agent: agent.clone(), generation, report: None },
        Input::Gone { agent: agent.clone(), generation },
        Input::Failed { agent, generation, error: Arc::new(StartFailure::GivenUp.into()) },
    ];
    for input in of_the_first {
        world.feed(input);
    }
    assert_eq!(world.told(), [""; 0]);
    assert_eq!(world.core.state(&"a".into()).unwrap().memory, None);
}

#[test]
fn a_crash_ends_the_leases_and_who_waits_gets_the_next_one() {
    let mut world = World::new(agents(&["a"], 1));
    world.run("a", "x");
    world.ask("a", "y");
    world.crash("a");
    world.give_back("a", DONE);
    world.gone("a");
    world.ready("a");
    let told = ["0s start a#1", "0s lend a#1 to x", "0s start a#2", "0s lend a#2 to y"];
    assert_eq!(world.told(), told);
}

#[test]
fn a_condemned_process_is_replaced() {
    let mut world = World::new(agents(&["a"], 1));
    world.run("a", "x");
    world.ask("a", "y");
    world.give_back("a", Returned::Condemned);
    world.gone("a");
    let told = ["0s start a#1", "0s lend a#1 to x", "0s stop a#1 Condemned", "0s start a#2"];
    assert_eq!(world.told(), told);
}

#[test]
fn a_reload_replaces_what_changed_and_only_when_it_is_idle() {
    let mut world = World::new(agents(&["busy", "idle", "same", "starting", "removed"], 9));
    world.run("busy", "x");
    world.use_once("idle");
    world.use_once("same");
    world.run("removed", "x");
    world.ask("starting", "y");
    world.told();
    let mut specs = agents(&["same"], 9);
    for name in ["busy", "idle", "starting"] {
        specs = specs.agent(name, spec("another program"));
    }
    world.apply(specs);
    assert_eq!(world.told(), ["0s stop idle#1 Reload", "0s stop starting#1 Reload"]);
    world.ask("busy", "z");
    world.ask("removed", "z");
    assert_eq!(world.told(), ["0s refuse removed to z: unknown-agent"]);
    world.give_back("busy", DONE);
    world.give_back("removed", DONE);
    world.gone("busy");
    world.gone("starting");
    world.gone("removed");
    let told = ["0s stop busy#1 Reload", "0s stop removed#1 Reload", "0s start busy#2", "0s start starting#2"];
    assert_eq!(world.told(), told);
    world.apply(agents(&["removed"], 9));
    world.ask("removed", "x");
    assert_eq!(world.told().last().unwrap(), "0s start removed#2", "its numbers go on");
}

#[test]
fn what_a_reload_changes_in_place_needs_no_new_process() {
    let mut world = World::new(agents(&["a"], 1));
    world.run("a", "x");
    world.ask("a", "y");
    let mut specs = agents(&["a"], 1);
    let a = specs.agents.get_mut(&"a".into()).unwrap();
    a.turns = 2.try_into().unwrap();
    a.idle_timeout = Some(seconds(1));
    world.apply(specs);
    world.give_back("a", DONE);
    world.give_back("a", DONE);
    world.wait(seconds(1));
    let told = ["0s start a#1", "0s lend a#1 to x", "0s lend a#1 to y", "1s stop a#1 Idle"];
    assert_eq!(world.told(), told);
}

#[test]
fn memory_is_estimated_until_it_is_measured() {
    let mut specs = agents(&["a", "b", "c"], 9);
    specs.max_memory = Some(1100 * MIB);
    let mut world = World::new(specs);
    world.use_once("a");
    world.use_once("b");
    world.told();
    world.ask("c", "x");
    assert_eq!(world.told(), ["0s stop a#1 Room"], "three times 512 MiB are too much");
    world.measured("b", 100 * MIB);
    world.measured("a", 300 * MIB);
    assert_eq!(world.told(), ["0s start c#1"]);
    world.ready("c");
    world.give_back("c", DONE);
    world.told();
    world.gone("a");
    world.measured("c", 1050 * MIB);
    assert_eq!(world.told(), ["0s stop b#1 Room"], "too much already");
    world.gone("b");
    world.measured("c", 5000 * MIB);
    assert_eq!(world.told(), [""; 0], "one may always run");
}

#[test]
fn an_agent_above_its_own_limit_is_stopped_when_it_is_idle() {
    let mut specs = agents(&["a"], 9);
    specs.agents.get_mut(&"a".into()).unwrap().memory_limit = Some(100);
    let mut world = World::new(specs);
    world.run("a", "x");
    world.ask("a", "y");
    world.measured("a", 101);
    assert!(world.core.state(&"a".into()).unwrap().above_limit);
    world.told();
    world.give_back("a", DONE);
    world.gone("a");
    assert_eq!(world.told(), ["0s stop a#1 Memory", "0s start a#2"]);
}

#[test]
fn a_pinned_agent_stays_and_others_that_never_fit_beside_it_are_told() {
    let mut world = World::new(agents(&["a", "b"], 1));
    world.pin("a", true);
    world.use_once("a");
    world.wait(seconds(10_000));
    world.told();
    world.ask("b", "x");
    assert_eq!(world.told(), ["10000s refuse b to x: too-large"]);
    world.pin("a", false);
    assert_eq!(world.told(), ["10000s stop a#1 Idle"]);
}

#[test]
fn a_stop_takes_everything_and_leaves_the_agents_usable() {
    let mut world = World::new(agents(&["a", "b", "c"], 2));
    world.run("a", "x");
    world.ask("b", "y");
    world.ask("c", "z");
    world.told();
    world.feed(Input::StopAll);
    let told = [
        "0s refuse b to y: agent-stopped",
        "0s refuse c to z: agent-stopped",
        "0s stop a#1 Asked",
        "0s stop b#1 Asked",
    ];
    assert_eq!(world.told(), told);
    world.ask("a", "x");
    world.gone("a");
    assert_eq!(world.told(), ["0s start a#2"]);
    world.feed(Input::Close);
    world.ask("a", "x");
    assert_eq!(world.told()[..], ["0s refuse a to x: closed", "0s stop a#2 Asked", "0s refuse a to x: closed"]);
}

#[test]
fn a_start_that_was_given_up_and_succeeds_all_the_same_is_stopped() {
    let mut world = World::new(agents(&["a"], 1));
    world.ask("a", "x");
    world.feed(Input::Stop("a".into()));
    world.ready("a");
    world.gone("a");
    assert!(world.core.is_still());
    let told = ["0s start a#1", "0s refuse a to x: agent-stopped", "0s stop a#1 Asked", "0s stop a#1 Asked"];
    assert_eq!(world.told(), told);
}
