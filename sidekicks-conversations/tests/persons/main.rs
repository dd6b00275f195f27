//! What holds whatever a person does while an agent does whatever it likes.

mod agent;
mod checks;
#[path = "../common/mod.rs"]
mod common;
mod person;
mod script;
mod watch;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use checks::{assert_mirrored, assert_settled};
use common::{options, ready, talk, talk_with, within};
use person::Person;
use proptest::prelude::*;
use script::{Act, Lends, Profile, Start};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentName, Connector};
use sidekicks_conversations::AgentProfile;
use tokio::time::timeout;
use watch::Watcher;
use world::World;

/// How many messages may wait.
const QUEUE: usize = 4;
/// How long a question may be open.
const OPEN: Duration = Duration::from_secs(100);
const FRAME: Duration = Duration::from_millis(16);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_left_open(acts in script::acts(), starts in script::starts(), lends in script::lends()) {
        run(law(acts, starts, lends));
    }

    #[test]
    fn what_is_dropped_is_given_back(acts in script::acts(), starts in script::starts(), lends in script::lends()) {
        run(async {
            let (world, mut person) = begin(starts, lends);
            for act in acts {
                person.act(act).await;
            }
            person.give_up_errands().await;
            drop(person);
            // An agent that was forgotten, and does not obey, has its time; so has one that does not close a session.
            tokio::time::sleep(Duration::from_secs(80)).await;
            assert_eq!(world.leases(), 0, "everything is given back");
            world.assert_no_fault();
            let unanswered = world.unanswered.lock().unwrap();
            assert!(unanswered.is_empty(), "who asked still waits: {unanswered:?}");
        });
    }
}

/// A person and all who watch, with an agent of these starts.
fn begin(starts: Vec<Start>, lends: Vec<Lends>) -> (Arc<World>, Person) {
    let world = World::new(starts, lends);
    let agent = world.agent();
    let options = options().backlog(1 << 20).queue(QUEUE).permission_timeout(OPEN).decider(script::decide);
    let talk = talk_with(world.directory(agent.clone()), options);
    let watchers = vec![
        Watcher::joining(&talk.all, None),
        Watcher::joining(&talk.all, Some(FRAME)),
        Watcher::following(&talk.with),
    ];
    let person = Person::new(talk, Arc::clone(&world), agent, watchers);
    (world, person)
}

fn run<F: Future>(law: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(law)
}

async fn law(acts: Vec<Act>, starts: Vec<Start>, lends: Vec<Lends>) {
    let (world, mut person) = begin(starts, lends);
    for act in acts {
        person.act(act).await;
    }

    // It comes to an end by itself, or once it is stopped.
    if timeout(Duration::from_secs(600), person.talk.with.idle()).await.is_err() {
        person.talk.with.stop();
        person.until_stopped().await;
    }
    // Logins and late words have come by then.
    tokio::time::sleep(Duration::from_secs(3600)).await;
    person.give_up_errands().await;
    // Each question between turns may be followed by another one.
    for _ in 0..10 {
        person.talk.with.stop();
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
    person.look().await;
    let now = person.now();
    assert_settled(&now);
    assert_mirrored(&now, &person.watchers);
    person.assert_complete();
    person.assert_sent_as_told();
    person.assert_resolved();
    assert_eq!(world.leases(), 0, "everything is given back");
    world.assert_no_fault();

    // It goes on from here.
    world.good.store(true, Ordering::Relaxed);
    *world.profile.lock().unwrap() = Profile::default();
    let mut answered = false;
    // A mode and a model that the agent does not have are refused, each once.
    for _ in 0..3 {
        let sent = person.send(false).expect("it can be sent");
        within(person.talk.with.idle()).await;
        person.look().await;
        let message = person.now().message(&sent).cloned().expect("it is there");
        if let Some(error) = &message.error {
            assert!(["mode-refused", "model-refused"].contains(&&*error.code), "{error:?}");
            continue;
        }
        let answer = person.talk.answer();
        assert_eq!((answer.reply_to, answer.stop_reason.as_deref()), (Some(sent), Some("end_turn")));
        answered = true;
        break;
    }
    assert!(answered, "it is answered");
    person.forget(true).await;
    person.look().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_mirrored(&person.now(), &person.watchers);
    assert_eq!(world.leases(), 0, "nothing is kept of what is forgotten");
    world.assert_no_fault();
}

#[tokio::test(start_paused = true)]
async fn forgetting_again_waits_for_what_is_being_forgotten() {
    let mut talk = talk(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.say("s1", "Work").await;
        peer.expect("session/cancel").await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        peer.end_turn(&prompt, "cancelled").await;
        peer.farewell().await;
    });
    talk.with.send("1").unwrap();
    talk.until_told("m2.0 +Work").await;
    let begun = tokio::time::Instant::now();
    // Begun, and given up: forgetting goes on.
    timeout(Duration::ZERO, talk.all.forget()).await.unwrap_err();
    within(talk.all.forget()).await;
    assert_eq!(begun.elapsed().as_secs(), 5, "until then an agent works for what is forgotten");
}

#[tokio::test(start_paused = true)]
async fn another_connector_is_another_agent() {
    let agent = |text: &'static str| -> Arc<dyn Connector> {
        Arc::new(testing::agent(async move |mut peer: Peer| {
            peer.shake_hands().await;
            peer.open(text).await;
            let prompt = peer.prompted().await;
            peer.say(text, text).await;
            peer.end_turn(&prompt, "end_turn").await;
            peer.farewell().await;
        }))
    };
    let (agents, which) = ([agent("One."), agent("Two.")], Arc::new(AtomicUsize::new(0)));
    let chosen = Arc::clone(&which);
    let find = move |_: &AgentName| {
        let connector = Arc::clone(&agents[chosen.load(Ordering::Relaxed)]);
        Some(AgentProfile::new(connector, "/work"))
    };
    let talk = talk_with(find, options());
    talk.with.send("1").unwrap();
    talk.idle().await;
    which.store(1, Ordering::Relaxed);
    talk.with.send("2").unwrap();
    talk.idle().await;
    let words: Vec<String> =
        talk.with.messages().messages.iter().map(|message| common::message_word(message)).collect();
    assert_eq!(words, ["m1 user", "m2 agent end_turn", "m3 user", "m4 agent-restarted", "m5 agent end_turn"]);
}
