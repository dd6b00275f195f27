//! A conversation with a scripted agent, and everything that is told of it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::HashMap;
use std::future::Future;
#[cfg(feature = "schemars")]
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentName, Borrow, ConnectError, Connector, Lease, SingleAgent};
use sidekicks_conversations::{
    AgentDirectory, AgentProfile, Conversation, Conversations, Event, Message, Options, Part, Permission, Subscription,
    Transcript, TurnPhase,
};
use tokio::sync::Semaphore;

/// More than anything here takes; with the time paused it passes at once where nothing can happen any more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until nothing happens any more by itself; the time is paused, and goes on only then.
pub(crate) async fn settled() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("this comes in time")
}

/// What a test has to do with: one conversation, and its events.
pub(crate) struct Talk {
    pub(crate) all: Conversations,
    pub(crate) with: Conversation,
    events: Subscription,
    told: Vec<Arc<Event>>,
    mirror: Transcript,
}

/// The clock stands still.
pub(crate) fn options() -> Options {
    Options::default().clock(|| 1_000)
}

pub(crate) fn name() -> AgentName {
    "a".into()
}

/// A conversation with an agent that runs this script each time it is started.
pub(crate) fn talk<F, S>(script: F) -> Talk
where
    F: FnOnce(Peer) -> S + Clone + Send + Sync + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    talk_to(testing::agent(script), options())
}

/// A conversation with an agent whose starts are counted, from 0.
pub(crate) fn talk_counting<F, S>(script: F) -> Talk
where
    F: FnOnce(usize, Peer) -> S + Clone + Send + Sync + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let starts = Arc::new(AtomicUsize::new(0));
    talk(move |peer| script(starts.fetch_add(1, Ordering::Relaxed), peer))
}

pub(crate) fn talk_to(agent: SingleAgent, options: Options) -> Talk {
    talk_with(HashMap::from([(name(), AgentProfile::new(agent, "/work"))]), options)
}

pub(crate) fn talk_with(agents: impl AgentDirectory + 'static, options: Options) -> Talk {
    let all = Conversations::new(agents, options);
    let with = all.with(&name()).expect("the agent is there");
    let events = all.subscribe();
    Talk { all, with, events, told: Vec::new(), mirror: Transcript::new(name()) }
}

impl Talk {
    /// Waits for the end of all turns.
    pub(crate) async fn idle(&self) {
        within(self.with.idle()).await;
    }

    /// Waits for an event of this kind.
    pub(crate) async fn until<T>(&mut self, mut is: impl FnMut(&Event) -> Option<T>) -> T {
        loop {
            let event = within(self.events.next()).await.expect("the conversations are there");
            let found = is(&event);
            self.hear(event);
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Waits until this word is told.
    pub(crate) async fn until_told(&mut self, word: &str) {
        self.until(|event| (self::word(event) == word).then_some(())).await;
    }

    /// Waits for a question.
    pub(crate) async fn asked(&mut self) -> Arc<Permission> {
        self.until(|event| match event {
            Event::PermissionRequested(permission) => Some(Arc::clone(permission)),
            _ => None,
        })
        .await
    }

    /// Everything that was told since the last time.
    pub(crate) async fn told(&mut self) -> Vec<Arc<Event>> {
        let nothing = Duration::ZERO;
        while let Ok(Some(event)) = tokio::time::timeout(nothing, tokio::task::unconstrained(self.events.next())).await
        {
            self.hear(event);
        }
        assert_eq!(self.mirror, *self.with.messages(), "the events say what the snapshot says");
        std::mem::take(&mut self.told)
    }

    /// The same in a few words each.
    pub(crate) async fn story(&mut self) -> Vec<String> {
        self.told().await.iter().map(|event| word(event)).collect()
    }

    /// The same as JSON lines.
    pub(crate) async fn json(&mut self) -> String {
        let lines: Vec<String> =
            self.told().await.iter().map(|event| serde_json::to_string(event).expect("an event is JSON")).collect();
        lines.join("\n")
    }

    /// The last message of the agent.
    pub(crate) fn answer(&self) -> Message {
        let transcript = self.with.messages();
        let answer = transcript.messages.iter().rev().find(|message| message.reply_to.is_some());
        Message::clone(answer.expect("there is an answer"))
    }

    fn hear(&mut self, event: Arc<Event>) {
        let json = serde_json::to_value(&event).expect("an event is JSON");
        #[cfg(feature = "schemars")]
        assert_schema(&json);
        let read: Event = serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{error}: {json}"));
        assert_eq!(read, *event, "what is written is read");
        if let Event::MessageUpdated { message, .. } = &*event
            && let Some(known) = self.mirror.message(&message.id)
        {
            assert_eq!(known.parts, message.parts, "a whole message equals the deltas before it");
        }
        self.mirror.apply(&event);
        self.told.push(event);
    }
}

/// What every event is checked against.
#[cfg(feature = "schemars")]
pub(crate) static SCHEMA: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(&Event::schema()).expect("the schema is one"));

#[cfg(feature = "schemars")]
pub(crate) fn assert_schema(json: &Value) {
    if let Err(error) = SCHEMA.validate(json) {
        panic!("the schema does not allow {json}: {error}");
    }
}

/// An event in a few words.
pub(crate) fn word(event: &Event) -> String {
    match event {
        Event::Reset(_) => "reset".to_owned(),
        Event::MessageUpdated { message, .. } => message_word(message),
        Event::MessageDelta { message_id, index, text: Some(text), .. } => format!("{message_id}.{index} +{text}"),
        Event::MessageDelta { message_id, index, part: Some(part), .. } => {
            format!("{message_id}.{index} {}", part_word(part))
        }
        Event::TurnChanged { turn, .. } => {
            assert_eq!(turn.busy, turn.phase != TurnPhase::Idle);
            let phase = json!(turn.phase).as_str().unwrap_or_default().to_owned();
            if turn.queued > 0 { format!("{phase}, {} wait", turn.queued) } else { phase }
        }
        Event::PermissionRequested(permission) => format!("{} asks: {}", permission.id, permission.title),
        Event::PermissionResolved { id, outcome, option, by, .. } => {
            let option = option.as_deref().map(|option| format!(" {option}")).unwrap_or_default();
            format!("{id} {}{option} by {}", json!(outcome).as_str().unwrap(), json!(by).as_str().unwrap())
        }
        Event::UsageChanged { usage: Some(usage), .. } => format!("usage {}/{}", usage.used, usage.size),
        Event::UsageChanged { usage: None, .. } => "usage unknown".to_owned(),
        Event::AgentChanged { offer, .. } => format!("offers {}", json!(offer)),
        other => format!("{other:?}"),
    }
}

pub(crate) fn message_word(message: &Message) -> String {
    let role = json!(message.role).as_str().unwrap_or_default().to_owned();
    let mut word = format!("{} {}", message.id, message.code.as_deref().unwrap_or(&role));
    if message.queued {
        word += " queued";
    }
    if message.not_sent {
        word += " not sent";
    }
    if let Some(reason) = &message.stop_reason {
        word += &format!(" {reason}");
    }
    if let Some(theirs) = &message.agent_stop_reason {
        word += &format!(" ({theirs})");
    }
    if let Some(error) = &message.error {
        assert!(!error.message.is_empty());
        word += &format!(" failed: {}", error.code);
    }
    if message.empty {
        word += " empty";
    }
    word
}

pub(crate) fn part_word(part: &Part) -> String {
    match part {
        Part::Text { text, .. } => format!("text {text}"),
        Part::Thought { text, .. } => format!("thought {text}"),
        Part::Tool(tool) => format!("tool {} {}", tool.id, tool.status),
        Part::Plan { entries, .. } => format!("plan of {}", entries.len()),
        Part::Other(other) => format!("other {}", other.r#type),
        other => json!(other.kind()).as_str().unwrap_or_default().to_owned(),
    }
}

/// Shakes hands and opens session `s1`.
pub(crate) async fn ready(peer: &mut Peer) {
    peer.shake_hands().await;
    peer.open("s1").await;
}

/// A turn that says one thing.
pub(crate) async fn answers(peer: &mut Peer, text: &str) {
    let prompt = peer.prompted().await;
    peer.say("s1", text).await;
    peer.end_turn(&prompt, "end_turn").await;
}

/// A turn of these updates.
pub(crate) async fn updates(peer: &mut Peer, updates: impl IntoIterator<Item = Value>) {
    let prompt = peer.prompted().await;
    for update in updates {
        peer.update("s1", update).await;
    }
    peer.end_turn(&prompt, "end_turn").await;
}

/// A turn in which the agent offers other commands twenty times, of 1 MiB each.
pub(crate) async fn offers_much(mut peer: Peer) {
    ready(&mut peer).await;
    let commands = |at: usize| json!([{"name": format!("c{at}"), "description": "x".repeat(1 << 20)}]);
    let offer = |at| json!({"sessionUpdate": "available_commands_update", "availableCommands": commands(at)});
    updates(&mut peer, (0..20).map(offer)).await;
    peer.farewell().await;
}

pub(crate) fn chunk(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

pub(crate) fn thought(text: &str) -> Value {
    json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}})
}

pub(crate) fn tool_call(id: &str, more: Value) -> Value {
    with(json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": format!("Tool {id}")}), more)
}

pub(crate) fn tool_update(id: &str, more: Value) -> Value {
    with(json!({"sessionUpdate": "tool_call_update", "toolCallId": id}), more)
}

pub(crate) fn with(mut update: Value, more: Value) -> Value {
    let fields = more.as_object().expect("more fields").clone();
    update.as_object_mut().expect("an update").extend(fields);
    update
}

/// The options that most agents offer.
pub(crate) const OPTIONS: &[(&str, &str)] = &[("yes", "allow_once"), ("always", "allow_always"), ("no", "reject_once")];

/// An agent that one can have at a time, which shows whether somebody has it, and in whose names it was borrowed.
pub(crate) struct OneAtATime {
    agent: SingleAgent,
    pub(crate) place: Arc<Semaphore>,
    pub(crate) owners: Arc<Mutex<Vec<Option<String>>>>,
}

impl OneAtATime {
    pub(crate) fn new(agent: SingleAgent) -> Self {
        Self { agent, place: Arc::new(Semaphore::new(1)), owners: Arc::default() }
    }
}

#[async_trait]
impl Connector for OneAtATime {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        self.owners.lock().unwrap().push(request.owner.clone());
        let place = Arc::clone(&self.place).acquire_owned().await.expect("it is open");
        let lease = self.agent.borrow(request).await?;
        let (connection, generation) = (Arc::clone(lease.connection()), lease.generation());
        Ok(Lease::new(connection, generation, Held { _lease: lease, _place: place }))
    }
}

struct Held {
    _lease: Lease,
    _place: tokio::sync::OwnedSemaphorePermit,
}

impl sidekicks_acp::LeaseGuard for Held {
    fn release(self: Box<Self>) {}

    fn condemn(self: Box<Self>) {}
}
