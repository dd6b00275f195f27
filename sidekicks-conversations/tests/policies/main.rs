//! Questions that are settled without a person: by rules, a policy, a decider, and by time.

#[path = "../common/mod.rs"]
mod common;
mod deciders;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use common::{OPTIONS, Talk, name, options, ready, settled, talk_to, talk_with, word};
use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{
    Action, AgentProfile, AnswerError, Conversations, Decide, Decider, Decision, Event, Options, Permission, Policy,
    ResolvedBy, Rule, TurnPhase,
};
use tokio::sync::Notify;

fn run(id: &str, command: &str) -> Value {
    json!({"toolCallId": id, "title": command, "kind": "execute", "rawInput": {"command": command}})
}

fn read(id: &str) -> Value {
    json!({"toolCallId": id, "title": "Read a", "kind": "read", "rawInput": {"path": "a"}})
}

/// An agent that asks all these at once and says what it was answered, in the order in which it asked.
async fn asks(mut peer: Peer, questions: Vec<Value>, options: &[(&str, &str)]) {
    ready(&mut peer).await;
    let prompt = peer.prompted().await;
    for (id, question) in questions.iter().enumerate() {
        peer.ask(&json!(id), "s1", question.clone(), options).await;
    }
    let mut answers = HashMap::new();
    while answers.len() < questions.len() {
        let heard = peer.hear().await.expect("an answer");
        answers.insert(heard["id"].as_u64().expect("no more than answers"), heard["result"]["outcome"].clone());
    }
    for id in 0..questions.len() as u64 {
        let answer = &answers[&id];
        peer.say("s1", answer["optionId"].as_str().or(answer["outcome"].as_str()).unwrap()).await;
        peer.say("s1", " ").await;
    }
    peer.end_turn(&prompt, "end_turn").await;
    peer.farewell().await;
}

/// A conversation in which these are asked at once.
fn talk(
    questions: Vec<Value>,
    offered: &'static [(&str, &str)],
    profile: impl FnOnce(AgentProfile) -> AgentProfile,
    options: Options,
) -> Talk {
    let agent = testing::agent(move |peer| asks(peer, questions, offered));
    talk_with(HashMap::from([(name(), profile(AgentProfile::new(agent, "/work")))]), options)
}

/// What is told of questions.
async fn told(talk: &mut Talk) -> Vec<String> {
    let story = talk.story().await;
    story.into_iter().filter(|word| word.starts_with('p')).collect()
}

fn said(talk: &Talk) -> String {
    let answer = talk.answer();
    answer
        .parts
        .iter()
        .map(common::part_word)
        .filter_map(|word| Some(word.strip_prefix("text ")?.trim().to_owned()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn what_decided_is_told_with_the_question_and_nobody_is_asked() {
    let rules = [Rule::new(Decide::Deny).command("git push *"), Rule::new(Decide::Ask).command("make")];
    let profile = |profile: AgentProfile| profile.policy(Policy::AllowAll).rules(rules.clone());
    let mut talk = talk(vec![run("t", "git push -f"), read("u")], OPTIONS, profile, options());
    talk.with.send("Go").unwrap();
    talk.idle().await;
    let events = talk.told().await;
    let resolved: Vec<&Event> =
        events.iter().map(|event| &**event).filter(|event| json!(event)["event"] == "permission:resolved").collect();
    let [
        Event::PermissionResolved { option: Some(no), by: ResolvedBy::Rule, rule, policy: None, permission, .. },
        Event::PermissionResolved {
            option: Some(yes), by: ResolvedBy::Policy, rule: None, policy: Some(policy), ..
        },
    ] = resolved[..]
    else {
        panic!("a rule, then the policy: {resolved:?}");
    };
    assert_eq!((no.as_str(), rule.as_ref()), ("no", Some(&rules[0])));
    assert_eq!((yes.as_str(), *policy), ("yes", Policy::AllowAll));
    assert_eq!(permission.as_ref().and_then(|it| it.command.as_deref()), Some("git push -f"));
    if cfg!(feature = "dangers") {
        assert_eq!(permission.as_ref().map(|it| it.dangers.len()), Some(1), "it was looked into");
    }
    let words: Vec<String> = events.iter().map(|event| word(event)).collect();
    assert!(!words.iter().any(|word| word.contains("asks") || word == "asking"), "{words:?}");
    assert_eq!(said(&talk), "no yes");
}

#[tokio::test(start_paused = true)]
async fn a_policy_picks_once_and_never_one_of_two() {
    type Offered = &'static [(&'static str, &'static str)];
    let both: Offered =
        &[("once", "allow_once"), ("risk", "allow_once"), ("no", "reject_once"), ("skip", "reject_once")];
    let always: Offered = &[("always", "allow_always"), ("never", "reject_always")];
    let first: Offered =
        &[("always", "allow_always"), ("yes", "allow_once"), ("never", "reject_always"), ("no", "reject_once")];
    // By each policy what is told; then what a person answers where one is asked.
    let table: [(Policy, Offered, &[&str], &str); 6] = [
        (Policy::AllowAll, first, &["p3 selected yes by policy"], ""),
        (Policy::DenyAll, first, &["p3 selected no by policy"], ""),
        (Policy::AllowAll, both, &["p3 asks: T", "p3 selected once by user"], "once"),
        (Policy::DenyAll, both, &["p3 asks: T", "p3 selected no by user"], "no"),
        (Policy::AllowAll, always, &["p3 asks: T", "p3 selected always by user"], "always"),
        (Policy::DenyAll, always, &["p3 cancelled by policy"], ""),
    ];
    for (policy, offered, expected, answer) in table {
        let question = json!({"toolCallId": "t", "title": "T", "kind": "edit"});
        let mut talk = talk(vec![question], offered, |profile| profile.policy(policy), options());
        talk.with.send("Go").unwrap();
        if !answer.is_empty() {
            let permission = talk.asked().await;
            talk.with.answer(&permission.id, answer).unwrap();
        }
        talk.idle().await;
        assert_eq!(told(&mut talk).await, expected, "{policy:?} {offered:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_policy_takes_effect_at_the_next_question() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        for _ in 0..2 {
            let prompt = peer.prompted().await;
            for id in 0..2 {
                peer.ask(&json!(id), "s1", read("t"), OPTIONS).await;
                peer.answer(&json!(id)).await;
                peer.say("s1", "Well.").await;
            }
            peer.end_turn(&prompt, "end_turn").await;
        }
        peer.farewell().await;
    });
    let profile = AgentProfile::new(agent, "/work");
    let agents = Arc::new(RwLock::new(HashMap::from([(name(), profile.clone())])));
    let mut talk = talk_with(Arc::clone(&agents), options());
    talk.with.send("Go").unwrap();
    let first = talk.asked().await;
    agents.write().unwrap().insert(name(), profile.clone().policy(Policy::AllowReads));
    talk.with.answer(&first.id, "no").unwrap();
    talk.idle().await;
    assert_eq!(told(&mut talk).await, ["p3 asks: Read a", "p3 selected no by user", "p4 selected yes by policy"]);
    // Of an agent that is in no directory any more, what its turn began with decides.
    agents.write().unwrap().insert(name(), profile.policy(Policy::DenyAll));
    talk.with.send("Go on").unwrap();
    agents.write().unwrap().clear();
    talk.idle().await;
    assert_eq!(told(&mut talk).await, ["p7 selected no by policy", "p8 selected no by policy"]);
}

#[cfg_attr(not(feature = "dangers"), ignore = "rules are in doubt about a command that is not read")]
#[tokio::test(start_paused = true)]
async fn code_does_not_go_past_what_a_rule_says() {
    let decider = |_| async { Decision::Allow };
    let rules = [
        Rule::new(Decide::Ask).command("make *"),
        Rule::new(Decide::Deny).path("secret"),
        Rule::new(Decide::Allow).action(Action::DeleteFile),
    ];
    let delete = json!({"toolCallId": "v", "title": "Delete a", "kind": "delete", "rawInput": {"path": "a"}});
    let unknown = json!({"toolCallId": "w", "title": "Read it", "kind": "read"});
    let questions = vec![run("t", "make"), run("u", "ls"), delete, unknown];
    let profile = |profile: AgentProfile| profile.rules(rules);
    let mut talk = talk(questions, OPTIONS, profile, options().decider(decider));
    talk.with.send("Go").unwrap();
    settled().await;
    let mut told = told(&mut talk).await;
    told.sort();
    // What is flagged is not allowed by a rule; and which file is read nobody knows.
    assert_eq!(told, ["p3 asks: make", "p4 selected yes by decider", "p5 asks: Delete a", "p6 asks: Read it"]);
    talk.with.stop();
    talk.idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_run_elsewhere_or_otherwise_is_not_what_a_rule_allows() {
    let beside = |more: Value| {
        let mut call = run("t", "make");
        call["rawInput"] = common::with(json!({"command": "make"}), more);
        call
    };
    let cases = [
        (json!({"cwd": "/work/sub", "env": {}}), "p3 selected yes by rule"),
        (json!({"cwd": "/work/../tmp"}), "p3 asks: make"),
        (json!({"env": {"PATH": "/tmp"}}), "p3 asks: make"),
        (json!({"cmd": "ls"}), "p3 asks: make"),
    ];
    for (more, expected) in cases {
        let rules = [Rule::new(Decide::Allow).command("make")];
        let mut talk = talk(vec![beside(more.clone())], OPTIONS, |profile| profile.rules(rules), options());
        talk.with.send("Go").unwrap();
        settled().await;
        // Without its parser no command is known.
        let expected = if cfg!(feature = "dangers") { expected } else { "p3 asks: make" };
        assert_eq!(told(&mut talk).await[0], expected, "{more}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_command_is_looked_into_beside_and_asked_in_its_turn() {
    let long = "echo a\n".repeat(2_000) + "rm b";
    let questions = vec![run("t", &long), run("u", "ls")];
    let mut talk = talk(questions, OPTIONS, |profile| profile, options());
    talk.with.send("Go").unwrap();
    let first = talk.asked().await;
    let second = talk.asked().await;
    assert_eq!((first.command.as_deref(), second.command.as_deref()), (Some(&*long), Some("ls")));
    let danger = first.dangers.last().expect("it deletes a file");
    if cfg!(feature = "dangers") {
        assert_eq!(&long[danger.start..danger.end], "rm");
    }
    talk.with.answer(&second.id, "yes").unwrap();
    talk.with.answer(&first.id, "no").unwrap();
    talk.idle().await;
    assert_eq!(said(&talk), "no yes");
}

#[tokio::test(start_paused = true)]
async fn what_a_rule_refuses_no_code_allows() {
    let offered: &[(&str, &str)] = &[("yes", "allow_once"), ("no", "reject_once"), ("skip", "reject_once")];
    let rules = [Rule::new(Decide::Deny).path("a")];
    let options = options().decider(|_: Arc<Permission>| async { Decision::Allow });
    let mut talk = talk(vec![read("t")], offered, |profile| profile.rules(rules), options);
    talk.with.send("Go").unwrap();
    let permission = talk.asked().await;
    talk.with.answer(&permission.id, "no").unwrap();
    talk.idle().await;
    assert_eq!(told(&mut talk).await, ["p3 asks: Read a", "p3 selected no by user"]);
}

#[tokio::test(start_paused = true)]
async fn an_id_that_two_options_share_is_no_answer() {
    type Offered = &'static [(&'static str, &'static str)];
    let table: [(Policy, Offered); 2] = [
        (Policy::AllowAll, &[("x", "allow_once"), ("x", "allow_always"), ("no", "reject_once")]),
        (Policy::DenyAll, &[("x", "allow_always"), ("x", "reject_once"), ("no", "reject_always")]),
    ];
    for (policy, offered) in table {
        let mut talk = talk(vec![run("t", "ls")], offered, |profile| profile.policy(policy), options());
        talk.with.send("Go").unwrap();
        let permission = talk.asked().await;
        talk.with.answer(&permission.id, "no").unwrap();
        talk.idle().await;
        assert_eq!(told(&mut talk).await, ["p3 asks: ls", "p3 selected no by user"], "{policy:?}");
    }
}

#[test]
fn a_rule_that_is_null_is_none() {
    let event = json!({"event": "permission:resolved", "payload":
        {"id": "p1", "agent": "a", "outcome": "cancelled", "by": "stop", "rule": null, "policy": null, "option": null}});
    assert!(serde_json::from_value::<Event>(event).is_ok());
}
