//! What holds for every script: whoever follows the events sees what is there.

mod common;

use std::collections::HashMap;
use std::time::Duration;

use common::{chunk, name, options, ready, talk_to, thought, tool_call, tool_update};
use proptest::prelude::*;
use serde_json::{Value, json};
use sidekicks_acp::AgentName;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_conversations::{AgentProfile, Conversations, Event, Message, Part, Subscription, Transcript};

/// What an agent may do next.
#[derive(Debug, Clone)]
enum Act {
    Tell(Value),
    /// Asks, and waits for the answer.
    Ask(String),
    /// Ends the turn, whatever is open, and waits for the next one.
    End(&'static str),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-zé \n]{1,9}", Just("🦀".to_owned())]
}

fn act() -> impl Strategy<Value = Act> {
    let tool = || "[tuv]".boxed();
    let status = prop::sample::select(vec!["pending", "in_progress", "completed", "failed", "simmering"]);
    let more = (status, text()).prop_map(|(status, text)| json!({"status": status, "rawOutput": text})).boxed();
    let tell = prop_oneof![
        4 => text().prop_map(|text| chunk(&text)),
        2 => text().prop_map(|text| thought(&text)),
        1 => (text(), "[12]").prop_map(|(text, id)| { let mut told = chunk(&text); told["messageId"] = json!(id); told }),
        2 => (tool(), more.clone()).prop_map(|(id, more)| tool_call(&id, more)),
        2 => (tool(), more).prop_map(|(id, more)| tool_update(&id, more)),
        2 => (tool(), text()).prop_map(|(id, text)| tool_update(&id, json!({"_meta": {"terminal_output": {"data": text}}}))),
        1 => (tool(), text()).prop_map(|(id, text)| {
            let content = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
            tool_update(&id, json!({ "content": content }))
        }),
        1 => prop::collection::vec(text(), 0..3).prop_map(|steps| {
            let entries: Vec<_> = steps.iter().map(|step| json!({"content": step, "priority": "low", "status": "pending"})).collect();
            json!({"sessionUpdate": "plan", "entries": entries})
        }),
        1 => any::<i32>().prop_map(|depth| json!({"sessionUpdate": "hologram", "depth": depth, "half": f64::from(depth) / 2.0})),
        1 => any::<u32>().prop_map(|used| json!({"sessionUpdate": "usage_update", "used": used, "size": 9, "cost": null})),
        1 => prop::option::of(text()).prop_map(|title| json!({"sessionUpdate": "session_info_update", "title": title})),
        1 => Just(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}})),
        1 => Just(json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"})),
    ];
    prop_oneof![
        12 => tell.prop_map(Act::Tell),
        1 => tool().prop_map(Act::Ask),
        1 => prop::sample::select(vec!["end_turn", "cancelled", "refusal"]).prop_map(Act::End),
    ]
}

/// An agent that does this, and ends the last turn.
fn agent(acts: Vec<Act>) -> sidekicks_acp::SingleAgent {
    testing::agent(async move |mut peer: Peer| {
        ready(&mut peer).await;
        let mut prompt = peer.prompted().await;
        let mut questions = 0;
        for act in acts {
            match act {
                Act::Tell(update) => peer.update("s1", update).await,
                Act::Ask(tool) => {
                    questions += 1;
                    peer.ask(&json!(questions), "s1", json!({"toolCallId": tool, "title": tool}), common::OPTIONS)
                        .await;
                    peer.answer(&json!(questions)).await;
                }
                Act::End(reason) => {
                    peer.end_turn(&prompt, reason).await;
                    prompt = peer.prompted().await;
                }
            }
        }
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    })
}

fn prompts(acts: &[Act]) -> usize {
    1 + acts.iter().filter(|act| matches!(act, Act::End(_))).count()
}

fn run<F: Future>(law: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(law)
}

/// Follows by frames until there is nothing more, and answers what is asked.
async fn framed(mut events: Subscription, with: sidekicks_conversations::Conversation) -> (Transcript, usize) {
    let (mut mirror, mut resets) = (Transcript::new(name()), 0);
    // Longer than the quiet after which late messages are told as a whole.
    while let Ok(Some(batch)) =
        tokio::time::timeout(Duration::from_secs(5), events.next_batch(Duration::from_millis(16))).await
    {
        for event in &batch {
            resets += usize::from(matches!(**event, Event::Reset(_)));
            mirror.apply(event);
        }
        for permission in mirror.permissions.clone() {
            with.answer(&permission.id, "yes").unwrap();
        }
    }
    (mirror, resets)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_events_say_what_the_snapshot_says(acts in prop::collection::vec(act(), 0..60)) {
        run(async {
            let mut talk = talk_to(agent(acts.clone()), options());
            let follower = tokio::spawn(framed(talk.all.subscribe(), talk.with.clone()));
            for _ in 0..prompts(&acts) {
                talk.with.send("Go").unwrap();
                talk.told().await; // At any moment, here: what was told so far is what is there.
            }
            talk.idle().await;
            talk.told().await;
            let (mirror, _) = follower.await.unwrap();
            talk.told().await;
            let snapshot = talk.with.messages();
            assert_eq!(mirror, *snapshot);
            assert_settled(&snapshot);
            let json = serde_json::to_string(&*snapshot).unwrap();
            assert_eq!(serde_json::from_str::<Transcript>(&json).unwrap(), *snapshot);
        });
    }

    #[test]
    fn who_falls_behind_ends_at_the_same(acts in prop::collection::vec(act(), 20..60)) {
        run(async {
            let talk = talk_to(agent(acts.clone()), options().backlog(4));
            let follower = tokio::spawn(framed(talk.all.subscribe(), talk.with.clone()));
            for _ in 0..prompts(&acts) {
                talk.with.send("Go").unwrap();
            }
            talk.idle().await;
            let (mirror, resets) = follower.await.unwrap();
            assert_eq!(mirror, *talk.with.messages());
            assert!(resets > 1, "it did fall behind");
        });
    }

    #[test]
    fn who_follows_misses_nothing(acts in prop::collection::vec(act(), 0..60), pauses in prop::collection::vec(0..9usize, 1..9)) {
        run(async {
            let talk = talk_to(agent(acts.clone()), options());
            let (mut follower, with) = (talk.with.follow(), talk.with.clone());
            let reader = tokio::spawn(async move {
                let (mut mirror, mut read) = (Transcript::new(name()), 0);
                let mut pauses = pauses.into_iter().cycle();
                // Longer than the quiet after which late messages are told as a whole.
                while let Ok(Some(event)) = tokio::time::timeout(Duration::from_secs(5), follower.next()).await {
                    assert_eq!(matches!(*event, Event::Reset(_)), read == 0, "the first, and no other");
                    mirror.apply(&event);
                    read += 1;
                    if let Event::PermissionRequested(permission) = &*event {
                        with.answer(&permission.id, "yes").unwrap();
                    }
                    if read % 10 < pauses.next().unwrap_or_default() {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                }
                mirror
            });
            for _ in 0..prompts(&acts) {
                talk.with.send("Go").unwrap();
            }
            talk.idle().await;
            let mirror = reader.await.unwrap();
            assert_eq!(mirror, *talk.with.messages());
        });
    }

    #[test]
    fn the_size_of_fragments_makes_no_difference(words in prop::collection::vec((any::<bool>(), text()), 0..20)) {
        run(async {
            let told = |split: bool| {
                let words = words.clone();
                async move {
                    let acts = words.iter().flat_map(|(thinks, text)| {
                        let update = if *thinks { thought } else { chunk };
                        let pieces: Vec<String> =
                            if split { text.chars().map(String::from).collect() } else { vec![text.clone()] };
                        pieces.into_iter().map(move |piece| Act::Tell(update(&piece)))
                    });
                    let mut talk = talk_to(agent(acts.collect()), options());
                    talk.with.send("Go").unwrap();
                    talk.idle().await;
                    talk.told().await;
                    talk.answer()
                }
            };
            let (whole, split): (Message, Message) = (told(false).await, told(true).await);
            assert_eq!(whole, split);
        });
    }
}

/// What many agents, a person and those who read do in turn.
#[derive(Debug, Clone)]
enum Deed {
    /// A turn with this agent.
    Talk(usize),
    Forget,
    /// This reader reads so many events, or a frame.
    Read(usize, usize),
    /// This reader begins anew.
    Subscribe(usize),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..5usize).prop_map(Deed::Talk),
        1 => Just(Deed::Forget),
        4 => (0..3usize, 0..9usize).prop_map(|(reader, events)| Deed::Read(reader, events)),
        1 => (0..3usize).prop_map(Deed::Subscribe),
    ]
}

/// An agent that says the same in every turn of every session.
async fn greeter(mut peer: Peer) {
    peer.shake_hands().await;
    let mut sessions = 0;
    while let Some(call) = peer.hear().await {
        match call["method"].as_str() {
            Some("session/new") => {
                sessions += 1;
                peer.reply(&call, json!({"sessionId": format!("s{sessions}")})).await;
            }
            Some("session/prompt") => {
                peer.say(&format!("s{sessions}"), "Hello.").await;
                peer.end_turn(&call, "end_turn").await;
            }
            _ => {}
        }
    }
}

/// One that follows all conversations, and has a mirror of each that it was told of.
struct Reader {
    events: Subscription,
    mirrors: HashMap<AgentName, Transcript>,
}

impl Reader {
    fn new(all: &Conversations) -> Self {
        Self { events: all.subscribe(), mirrors: HashMap::new() }
    }

    /// Whether there was something to read. Of 0 events it reads a frame.
    async fn read(&mut self, events: usize) -> bool {
        let told = async {
            match events {
                0 => self.events.next_batch(Duration::ZERO).await,
                _ => self.events.next().await.map(|event| vec![event]),
            }
        };
        let Ok(Some(told)) = tokio::time::timeout(Duration::ZERO, tokio::task::unconstrained(told)).await else {
            return false;
        };
        for event in told {
            let agent = event.agent();
            self.mirrors.entry(agent.clone()).or_insert_with(|| Transcript::new(agent.clone())).apply(&event);
        }
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn who_falls_behind_hears_what_was_forgotten(deeds in prop::collection::vec(deed(), 0..60)) {
        run(async {
            let names: Vec<AgentName> = (0..5).map(|at| format!("agent {at}").as_str().into()).collect();
            let agents = names.iter().map(|name| (name.clone(), AgentProfile::new(testing::agent(greeter), "/")));
            let all = Conversations::new(agents.collect::<HashMap<_, _>>(), options().backlog(4));
            let talks: Vec<_> = names.iter().map(|name| all.with(name).unwrap()).collect();
            let mut readers: Vec<_> = (0..3).map(|_| Reader::new(&all)).collect();
            for deed in deeds {
                match deed {
                    Deed::Talk(with) => {
                        talks[with].send("Go").unwrap();
                        talks[with].idle().await;
                    }
                    Deed::Forget => all.forget().await,
                    Deed::Read(reader, events) => {
                        for _ in 0..events.max(1) {
                            readers[reader].read(events).await;
                        }
                    }
                    Deed::Subscribe(reader) => readers[reader] = Reader::new(&all),
                }
            }
            for reader in &mut readers {
                while reader.read(1).await {}
                for talk in &talks {
                    let snapshot = talk.messages();
                    match reader.mirrors.get(talk.agent()) {
                        Some(mirror) => assert_eq!(mirror, &*snapshot),
                        None => assert!(snapshot.removed, "{snapshot:?}"),
                    }
                }
            }
        });
    }
}

/// Nothing is left open when nothing runs.
fn assert_settled(transcript: &Transcript) {
    assert!(transcript.permissions.is_empty() && !transcript.turn.busy);
    for message in &transcript.messages {
        assert!(message.is_finished(), "{message:?}");
        for part in &message.parts {
            if let Part::Tool(tool) = part {
                assert!(["completed", "failed", "cancelled", "unfinished"].contains(&&*tool.status), "{tool:?}");
            }
        }
    }
}
