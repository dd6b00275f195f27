//! A person at an interface: acts, looks at what came of it, and is surprised by what cannot be.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use sidekicks_acp::SingleAgent;
use sidekicks_acp::schema::{ContentBlock, ImageContent, TextContent};
use sidekicks_conversations::{
    AnswerError, Event, Message, MessageId, Outcome, Part, Permission, PermissionId, RequestError, ResolvedBy, Role,
    SendError, Transcript, UnqueueError,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::checks::assert_sound;
use crate::common::{Talk, options, within};
use crate::script::Act;
use crate::watch::Watcher;
use crate::world::World;

pub(crate) struct Person {
    pub(crate) talk: Talk,
    world: Arc<World>,
    agent: SingleAgent,
    pub(crate) watchers: Vec<Watcher>,
    /// Everything that was ever said, and something that never was.
    known: Vec<MessageId>,
    texts: HashMap<MessageId, String>,
    /// What was sent since the last time that all was forgotten, in order.
    sent: Vec<MessageId>,
    /// The questions that were told, be it as settled.
    asked: Vec<Arc<Permission>>,
    /// The number of the last one that was asked.
    last_asked: u64,
    /// How each question was resolved.
    resolved: HashMap<PermissionId, (Outcome, Option<String>)>,
    /// What was answered here, and taken.
    answered: HashMap<PermissionId, String>,
    errands: Vec<JoinHandle<Result<(), RequestError>>>,
}

impl Person {
    pub(crate) fn new(talk: Talk, world: Arc<World>, agent: SingleAgent, watchers: Vec<Watcher>) -> Self {
        Self {
            talk,
            world,
            agent,
            watchers,
            known: vec!["m0".into()],
            texts: HashMap::new(),
            sent: Vec::new(),
            asked: Vec::new(),
            last_asked: 0,
            resolved: HashMap::new(),
            answered: HashMap::new(),
            errands: Vec::new(),
        }
    }

    pub(crate) async fn act(&mut self, act: Act) {
        match act {
            Act::Send => drop(self.send(false)),
            Act::SendTwice => [(); 2].into_iter().for_each(|()| drop(self.send(false))),
            Act::SendPicture => drop(self.send(true)),
            Act::Stop => self.talk.with.stop(),
            Act::CancelTurn => self.talk.with.cancel_turn(),
            Act::Resend(which) => self.resend(which),
            Act::Unqueue(which) => self.unqueue(which),
            Act::Forget(to_its_end) => self.forget(to_its_end).await,
            Act::Answer(which, option) => self.answer(which, option),
            Act::SetMode(mode) => {
                let with = self.talk.with.clone();
                self.errands.push(tokio::spawn(async move { with.set_mode(mode).await }));
            }
            Act::SetModel(model) => {
                let with = self.talk.with.clone();
                self.errands.push(tokio::spawn(async move { with.set_model(model).await }));
            }
            Act::Authenticate(method) => {
                let with = self.talk.with.clone();
                self.errands.push(tokio::spawn(async move { with.authenticate(method).await }));
            }
            Act::Configure(profile) => *self.world.profile.lock().unwrap() = profile,
            Act::IdleStop => {
                if self.world.leases() == 0 {
                    self.agent.stop().await;
                }
            }
            Act::StopToTheEnd => {
                self.talk.with.stop();
                // A login sends again what waited for it.
                if self.errands.iter().all(JoinHandle::is_finished) {
                    self.until_stopped().await;
                }
            }
            Act::Follow => self.watchers.push(Watcher::following(&self.talk.with)),
            Act::Watch(events) => {
                for _ in 0..events {
                    let _ = timeout(Duration::from_secs(1), self.talk.until(|_| Some(()))).await;
                }
            }
            Act::Yield(times) => {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                }
            }
            Act::Join => self.watchers.push(Watcher::joining(&self.talk.all, None)),
            Act::Wait(wait) => tokio::time::sleep(Duration::from_millis(wait)).await,
        }
        self.look().await;
    }

    pub(crate) fn now(&self) -> Arc<Transcript> {
        self.talk.with.messages()
    }

    /// What cannot be done changes nothing.
    fn trying<T, E: std::fmt::Debug>(&self, attempt: impl FnOnce() -> Result<T, E>) -> (Arc<Transcript>, Result<T, E>) {
        let before = self.now();
        let result = attempt();
        if let Err(error) = &result {
            assert_eq!(before, self.now(), "{error:?} changes nothing");
        }
        (before, result)
    }

    /// A turn that was stopped ends in time.
    pub(crate) async fn until_stopped(&self) {
        let patience = options().cancel_timeout + Duration::from_secs(1);
        timeout(patience, self.talk.with.idle()).await.expect("a turn that is stopped ends");
    }

    pub(crate) fn send(&mut self, picture: bool) -> Result<MessageId, SendError> {
        let text = format!("u{}", self.known.len());
        let mut content = vec![ContentBlock::Text(TextContent::new(text.as_str()))];
        content.extend(picture.then(|| ContentBlock::Image(ImageContent::new("AA==", "image/png"))));
        let (before, sent) = self.trying(|| self.talk.with.send(content));
        match &sent {
            Ok(id) => {
                let now = self.now();
                let message = now.message(id).expect("it is there at once");
                assert_eq!(message.queued, before.turn.busy, "it waits where a turn runs");
                self.note(id.clone(), text);
            }
            Err(SendError::QueueFull) => assert_eq!(before.turn.queued, crate::QUEUE),
            Err(SendError::NoSuchAgent) => assert!(self.world.profile.lock().unwrap().gone),
            Err(other) => panic!("{other:?}"),
        }
        sent
    }

    fn note(&mut self, id: MessageId, text: String) {
        assert!(!self.known.contains(&id), "{id} is used twice");
        self.texts.insert(id.clone(), text);
        self.known.push(id.clone());
        self.sent.push(id);
    }

    fn resend(&mut self, which: usize) {
        let id = self.known[which % self.known.len()].clone();
        let (before, again) = self.trying(|| self.talk.with.resend(&id));
        let known = before.message(&id);
        let lies_here = known.is_some_and(|message| message.not_sent && message.resent_as.is_none());
        match again {
            Ok(again) => {
                let now = self.now();
                assert_eq!(now.message(&id).unwrap().resent_as.as_ref(), Some(&again));
                assert!(lies_here || wants_login(&before, &id), "{id} was sent");
                self.note(again, self.texts[&id].clone());
            }
            Err(SendError::NoSuchMessage) => assert!(known.is_none(), "{id} is there"),
            Err(SendError::WasSent) => assert!(known.is_some() && !lies_here, "{id} can be sent"),
            Err(SendError::QueueFull) => assert_eq!(before.turn.queued, crate::QUEUE),
            Err(SendError::NoSuchAgent) => assert!(self.world.profile.lock().unwrap().gone),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn unqueue(&mut self, which: usize) {
        let id = self.known[which % self.known.len()].clone();
        let (before, unqueued) = self.trying(|| self.talk.with.unqueue(&id));
        let known = before.message(&id);
        match unqueued {
            Ok(()) => assert!(known.unwrap().queued && self.now().message(&id).unwrap().not_sent),
            Err(UnqueueError::NoSuchMessage) => assert!(known.is_none()),
            Err(UnqueueError::NotQueued) => assert!(!known.unwrap().queued),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, which: usize, option: &str) {
        let nobody = || PermissionId::from("p0");
        // Mostly the newest ones.
        let id = self.asked.iter().rev().nth(which % 4).map_or_else(nobody, |asked| asked.id.clone());
        let (before, answered) = self.trying(|| self.talk.with.answer(&id, option));
        let open = before.permissions.iter().any(|open| open.id == id);
        match answered {
            Ok(()) => {
                assert!(open && option != "wrong");
                assert!(self.answered.insert(id, option.to_owned()).is_none(), "it is answered twice");
            }
            Err(AnswerError::NoSuchOption) => assert!(open && option == "wrong"),
            // An open one may be answered "cancelled" already, which comes as an event.
            Err(AnswerError::AlreadyResolved) => {}
            Err(other) => panic!("{other:?}"),
        }
    }

    pub(crate) async fn forget(&mut self, to_its_end: bool) {
        if to_its_end {
            within(self.talk.all.forget()).await;
        } else {
            let _ = timeout(Duration::ZERO, self.talk.all.forget()).await;
        }
        assert!(self.now().removed && self.now().messages.is_empty());
        self.sent.clear();
    }

    /// Reads everything that was told, which must be what is there.
    pub(crate) async fn look(&mut self) {
        for event in self.talk.told().await {
            match &*event {
                Event::PermissionRequested(permission) => {
                    let number = permission.id.as_str()[1..].parse().expect("a letter and a number");
                    assert!(self.last_asked < number, "p{} was asked before {}", self.last_asked, permission.id);
                    self.last_asked = number;
                    self.asked.push(Arc::clone(permission));
                }
                Event::PermissionResolved { id, outcome, option, by, policy, permission, .. } => {
                    let asked = self.asked.iter().any(|asked| asked.id == *id);
                    assert_eq!(asked, permission.is_none(), "{id} is told once as a whole");
                    self.asked.extend(permission.clone());
                    let before = self.resolved.insert(id.clone(), (*outcome, option.clone()));
                    assert!(before.is_none(), "{id} is resolved twice");
                    assert_eq!(*by == ResolvedBy::User, self.answered.contains_key(id), "{id} is resolved by {by:?}");
                    assert_eq!(*by == ResolvedBy::Policy, policy.is_some(), "{id} is resolved by {by:?}");
                    match by {
                        ResolvedBy::User => {
                            assert_eq!(self.answered.get(id), option.as_ref(), "{id} as it was answered")
                        }
                        ResolvedBy::Policy | ResolvedBy::Decider => {
                            assert!(["yes", "no"].contains(&option.as_deref().unwrap_or_default()), "{id}: {option:?}");
                        }
                        ResolvedBy::Timeout => assert_eq!(option.as_deref(), Some("no"), "{id}"),
                        _ => assert_eq!(*option, None, "{id}"),
                    }
                }
                _ => {}
            }
        }
        assert_sound(&self.now());
        let idle = timeout(Duration::ZERO, self.talk.with.idle()).await.is_ok();
        assert_eq!(idle, !self.now().turn.busy);
    }

    /// Nobody waits for a login or a mode any more.
    pub(crate) async fn give_up_errands(&mut self) {
        for errand in self.errands.drain(..) {
            errand.abort();
            assert!(!errand.await.is_err_and(|error| error.is_panic()));
        }
    }

    /// What was sent is there, in that order; what was sent after a login is among it.
    pub(crate) fn assert_complete(&self) {
        let now = self.now();
        let said: Vec<&MessageId> =
            now.messages.iter().filter(|message| message.role == Role::User).map(|message| &message.id).collect();
        let again: HashSet<&MessageId> = now.messages.iter().filter_map(|message| message.resent_as.as_ref()).collect();
        let sent: HashSet<&MessageId> = self.sent.iter().collect();
        assert!(said.iter().all(|id| sent.contains(id) || again.contains(id)), "{said:?} of {:?}", self.sent);
        let said: Vec<&MessageId> = said.into_iter().filter(|id| sent.contains(id)).collect();
        assert_eq!(said, self.sent.iter().collect::<Vec<_>>(), "in the order in which they were sent");
    }

    /// What is said to be not sent did not reach an agent, and nothing reached one twice.
    pub(crate) fn assert_sent_as_told(&self) {
        let now = self.now();
        let prompts = self.world.prompts.lock().unwrap();
        let mut sent: HashMap<String, usize> = HashMap::new();
        for message in now.messages.iter().filter(|message| message.role == Role::User) {
            *sent.entry(text(message)).or_default() += usize::from(!message.not_sent);
        }
        for (text, sent) in sent {
            let heard = prompts.iter().filter(|prompt| **prompt == text).count();
            assert!(heard <= sent, "{text} was sent {sent} times, and heard {heard} times");
        }
    }

    /// Each question has one answer, and that is what the agent heard.
    pub(crate) fn assert_resolved(&self) {
        let answers = self.world.answers.lock().unwrap();
        for asked in &self.asked {
            let (outcome, option) = self.resolved.get(&asked.id).expect("it is resolved");
            let told = option.as_deref().unwrap_or("cancelled");
            assert_eq!(*outcome == Outcome::Selected, option.is_some());
            // An agent that is gone heard nothing.
            if let Some(heard) = answers.get(asked.tool_call_id.as_deref().unwrap()) {
                assert_eq!(heard, told, "{}", asked.id);
            }
        }
        let unanswered = self.world.unanswered.lock().unwrap();
        assert!(unanswered.is_empty(), "who asked still waits: {unanswered:?}");
    }
}

fn text(message: &Message) -> String {
    match &message.parts[..] {
        [Part::Text { text, .. }, ..] => text.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The agent did not take it for want of a login.
fn wants_login(transcript: &Transcript, id: &MessageId) -> bool {
    let answer = transcript.messages.iter().find(|message| message.reply_to.as_ref() == Some(id));
    answer.and_then(|answer| answer.error.as_ref()).is_some_and(|error| error.methods.is_some())
}
