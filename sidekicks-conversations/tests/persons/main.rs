//! What holds whatever a person does while an agent does whatever it likes.

mod agent;
#[path = "../common/mod.rs"]
mod common;
mod person;
mod script;
mod watch;
mod world;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{options, talk_with, within};
use person::{Person, assert_mirrored, assert_settled};
use proptest::prelude::*;
use script::{Act, Lends, Profile, Start};
use tokio::time::timeout;
use watch::Watcher;
use world::World;

/// How many messages may wait.
const QUEUE: usize = 4;
const FRAME: Duration = Duration::from_millis(16);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_left_open(acts in script::acts(), starts in script::starts(), lends in script::lends()) {
        run(law(acts, starts, lends));
    }
}

fn run<F: Future>(law: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(law)
}

async fn law(acts: Vec<Act>, starts: Vec<Start>, lends: Vec<Lends>) {
    let world = World::new(starts, lends);
    let agent = world.agent();
    let talk = talk_with(world.directory(agent.clone()), options().backlog(1 << 20).queue(QUEUE));
    let watchers = vec![
        Watcher::joining(&talk.all, None),
        Watcher::joining(&talk.all, Some(FRAME)),
        Watcher::following(&talk.with),
    ];
    let mut person = Person::new(talk, world.clone(), agent, watchers);
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
