//! Over a transport that is not `sidekicks-acp`'s own, which also shows how a process ended.

mod common;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use common::{chunk, name, options, settled, within, word};
use serde_json::{Value, json};
use sidekicks_acp::schema::{ContentBlock, SessionId};
use sidekicks_acp::{
    AgentConnection, AgentInfo, Borrow, CallError, ConnectError, Connector, End, Exit, ExitStatus, Generation, Lease,
    LeaseGuard, OpenSession, OpenedSession, PromptId, SessionEvent, SessionEventSender, SessionEvents, StopCause,
    StopReason, TurnEnd, Update,
};
use sidekicks_conversations::{AgentProfile, Conversation, Conversations, Message, Subscription, TurnPhase};

/// An agent that does what a test says, call by call.
#[derive(Clone, Default)]
struct Puppet(Arc<Mutex<Strings>>);

#[derive(Default)]
struct Strings {
    generation: u64,
    calls: Vec<String>,
    /// It can resume sessions.
    resumes: bool,
    panics: bool,
    session: Option<SessionEventSender>,
}

impl Puppet {
    fn tell(&self, event: SessionEvent) {
        self.0.lock().unwrap().session.as_ref().expect("a session is open").send(event);
    }

    fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    fn called(&self, call: impl Into<String>) {
        self.0.lock().unwrap().calls.push(call.into());
    }

    fn restart(&self) {
        let mut strings = self.0.lock().unwrap();
        strings.generation += 1;
        strings.session = None;
    }
}

#[async_trait]
impl Connector for Puppet {
    async fn borrow(&self, _: Borrow) -> Result<Lease, ConnectError> {
        self.called("borrow");
        let generation = Generation(self.0.lock().unwrap().generation);
        Ok(Lease::new(Arc::new(self.clone()), generation, self.clone()))
    }
}

impl LeaseGuard for Puppet {
    fn release(self: Box<Self>) {
        self.called("release");
    }

    fn condemn(self: Box<Self>) {
        self.called("condemn");
    }
}

#[async_trait]
impl AgentConnection for Puppet {
    fn agent(&self) -> &AgentInfo {
        static INFO: LazyLock<AgentInfo> = LazyLock::new(AgentInfo::default);
        static RESUMES: LazyLock<AgentInfo> = LazyLock::new(|| {
            let mut info = AgentInfo::default();
            info.capabilities = serde_json::from_value(json!({"sessionCapabilities": {"resume": {}}})).unwrap();
            info
        });
        if self.0.lock().unwrap().resumes { &RESUMES } else { &INFO }
    }

    fn open(&self, _: OpenSession) -> Result<SessionEvents, CallError> {
        self.called("open");
        let (sender, events) = SessionEvents::channel();
        self.0.lock().unwrap().session = Some(sender);
        Ok(events)
    }

    fn prompt(&self, _: &SessionId, _: Vec<ContentBlock>) -> Result<PromptId, CallError> {
        self.called("prompt");
        Ok(PromptId::new(1))
    }

    fn cancel(&self, _: &SessionId) -> Result<(), CallError> {
        self.called("cancel");
        let panics = self.0.lock().unwrap().panics;
        assert!(!panics, "this panics on purpose");
        Ok(())
    }

    async fn call_raw(&self, method: &str, params: Value) -> Result<Value, CallError> {
        self.called(format!("{method} {}", params["modeId"].as_str().unwrap_or_default()));
        Ok(Value::Null)
    }

    async fn closed(&self) -> End {
        std::future::pending().await
    }
}

/// A conversation with such an agent, and the words of its events.
struct Talk {
    agent: Puppet,
    with: Conversation,
    events: Subscription,
}

impl Talk {
    fn new() -> Self {
        Self::with(|profile| profile)
    }

    fn with(profile: impl FnOnce(AgentProfile) -> AgentProfile) -> Self {
        let agent = Puppet::default();
        let agents = HashMap::from([(name(), profile(AgentProfile::new(agent.clone(), "/")))]);
        let all = Conversations::new(agents, options());
        Self { agent, with: all.with(&name()).unwrap(), events: all.subscribe() }
    }

    /// A turn that was prompted.
    async fn prompted() -> Self {
        let mut talk = Self::new();
        talk.with.send("Go").unwrap();
        talk.until("starting").await;
        settled().await;
        assert_eq!(talk.agent.calls(), ["borrow", "open"]);
        talk.agent.tell(SessionEvent::Opened(Ok(OpenedSession::new("s1".into()))));
        talk.until("answering").await;
        assert_eq!(talk.agent.calls(), ["prompt"]);
        talk
    }

    /// What is told up to this word.
    async fn until(&mut self, last: &str) -> Vec<String> {
        let mut told = Vec::new();
        while told.last().is_none_or(|word| word != last) {
            told.push(word(&within(self.events.next()).await.unwrap()));
        }
        told
    }

    fn says(&self, text: &str) {
        self.tells(&chunk(text));
    }

    fn tells(&self, update: &Value) {
        let raw = serde_json::from_str(&update.to_string()).unwrap();
        self.agent.tell(SessionEvent::Update(Update::new(raw)));
    }

    fn ends(&self, end: Result<TurnEnd, CallError>) {
        self.agent.tell(SessionEvent::TurnEnded { prompt: PromptId::new(1), end });
    }

    fn last(&self) -> Arc<Message> {
        Arc::clone(self.with.messages().messages.last().unwrap())
    }
}

fn killed() -> End {
    End::Exited(Exit::new(ExitStatus::Signal(9), "out of memory"))
}

#[tokio::test(start_paused = true)]
async fn a_crash_says_how_the_process_ended_and_is_told_once() {
    let mut talk = Talk::prompted().await;
    talk.says("Wor");
    talk.ends(Err(CallError::Ended { end: killed(), sent: true }));
    talk.agent.tell(SessionEvent::Ended(killed()));
    assert_eq!(talk.until("idle").await, ["m2.0 +Wor", "m2 agent failed: agent-exited", "idle"]);
    let error = talk.last().error.clone().unwrap();
    assert_eq!((error.exit_code, error.signal, error.stderr.as_deref()), (None, Some(9), Some("out of memory")));
    assert!(error.prompt_sent);
    assert_eq!(talk.agent.calls(), ["release"]);
    // The same is said of one that forgets to end the turn.
    let mut talk = Talk::prompted().await;
    talk.agent.tell(SessionEvent::Ended(killed()));
    assert_eq!(talk.until("idle").await, ["m2 agent failed: agent-exited", "idle"]);
    let mut talk = Talk::prompted().await;
    talk.agent.restart(); // The events just stop.
    assert_eq!(talk.until("idle").await, ["m2 agent failed: closed", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn between_turns_an_exit_is_told_and_a_stop_is_not() {
    let told = async |end: End| {
        let mut talk = Talk::prompted().await;
        talk.ends(Ok(TurnEnd::new(StopReason::EndTurn)));
        talk.until("idle").await;
        talk.agent.tell(SessionEvent::Ended(end));
        talk.agent.restart();
        settled().await;
        talk.agent.calls();
        talk.with.send("Again").unwrap();
        let story = talk.until("starting").await;
        settled().await;
        assert_eq!(talk.agent.calls(), ["borrow", "open"], "the session went with the process");
        story
    };
    let exited = told(killed()).await;
    assert!(exited.iter().any(|word| word.ends_with("agent-exited")), "{exited:?}");
    let silent = [
        End::Stopped(StopCause::Idle),
        End::Stopped(StopCause::Room),
        End::Closed,
        End::SessionClosed,
        End::ReaderStalled,
    ];
    for end in silent {
        assert_eq!(told(end).await, ["m3 user", "starting"]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_exit_is_told_with_its_particulars() {
    let mut talk = Talk::prompted().await;
    talk.ends(Ok(TurnEnd::new(StopReason::EndTurn)));
    talk.agent.tell(SessionEvent::Ended(End::Exited(Exit::new(ExitStatus::Code(3), ""))));
    talk.until("m3 agent-exited").await;
    assert_eq!(talk.last().params, json!({"exitCode": 3}).as_object().cloned());
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_not_written_is_taken_back() {
    let mut talk = Talk::prompted().await;
    talk.with.stop();
    assert_eq!(talk.agent.calls(), ["cancel"]);
    let mut end = TurnEnd::new(StopReason::Cancelled);
    end.prompt_sent = false;
    talk.ends(Ok(end));
    assert_eq!(talk.until("idle").await, ["stopping", "m1 user not sent", "m2 agent cancelled", "idle"]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_lost_before_it_was_written_is_sent_once_more() {
    let mut talk = Talk::prompted().await;
    talk.ends(Err(CallError::Ended { end: killed(), sent: false }));
    talk.agent.tell(SessionEvent::Ended(killed()));
    talk.agent.0.lock().unwrap().generation += 1;
    talk.until("starting").await;
    settled().await;
    assert_eq!(talk.agent.calls(), ["release", "borrow", "open"]);
    talk.agent.tell(SessionEvent::Opened(Ok(OpenedSession::new("s1".into()))));
    talk.until("answering").await;
    talk.says("Here.");
    talk.ends(Ok(TurnEnd::new(StopReason::EndTurn)));
    assert_eq!(talk.until("idle").await, ["m2.0 +Here.", "m2 agent end_turn", "idle"], "in the answer that was begun");
}

#[tokio::test(start_paused = true)]
async fn what_a_turn_was_about_to_set_does_not_overtake_a_choice() {
    let talk = Talk::with(|profile| profile.mode("yolo"));
    let mut follower = talk.with.follow();
    talk.with.send("Go").unwrap();
    settled().await;
    talk.agent.tell(SessionEvent::Opened(Ok(OpenedSession::new("s1".into()))));
    // So much that its pause is not waited for, and then so much news that those who follow have to read first.
    (0..1_000).for_each(|_| talk.tells(&json!({"sessionUpdate": "usage_update", "used": 1, "size": 2})));
    (0..2_000).for_each(|at| talk.tells(&json!({"sessionUpdate": "usage_update", "used": at, "size": 4_000})));
    settled().await;
    assert_eq!(talk.agent.calls(), ["borrow", "open"], "it is to be asked next");
    let with = talk.with.clone();
    let choosing = tokio::spawn(async move { with.set_mode("ask").await });
    settled().await;
    assert_eq!(talk.agent.calls(), ["session/set_mode ask"]);
    tokio::spawn(async move { while follower.next().await.is_some() {} });
    within(choosing).await.unwrap().unwrap();
    settled().await;
    assert_eq!(talk.agent.calls(), ["prompt"]);
}

#[tokio::test(start_paused = true)]
async fn that_the_agent_remembers_is_told_once_in_a_turn() {
    let mut talk = Talk::prompted().await;
    talk.ends(Ok(TurnEnd::new(StopReason::EndTurn)));
    talk.until("idle").await;
    talk.agent.0.lock().unwrap().resumes = true;
    talk.agent.tell(SessionEvent::Ended(End::Stopped(StopCause::Idle)));
    talk.agent.restart();
    talk.with.send("Again").unwrap();
    let mut story = Vec::new();
    for last in ["answering", "idle"] {
        settled().await;
        talk.agent.tell(SessionEvent::Opened(Ok(OpenedSession::new("s1".into()))));
        story.extend(talk.until("answering").await);
        if last == "answering" {
            talk.ends(Err(CallError::Ended { end: killed(), sent: false }));
            talk.agent.restart();
        }
    }
    talk.ends(Ok(TurnEnd::new(StopReason::EndTurn)));
    story.extend(talk.until("idle").await);
    assert_eq!(
        story,
        [
            "m3 user",
            "starting",
            "m4 session-resumed",
            "m5 agent",
            "answering",
            "starting",
            "answering",
            "m5 agent end_turn empty",
            "idle"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_panics_when_all_handles_are_dropped_ends_nothing_else() {
    let Talk { agent, with, mut events } = Talk::prompted().await;
    agent.0.lock().unwrap().panics = true;
    drop(with);
    let mut told = Vec::new();
    while let Some(event) = within(events.next()).await {
        told.push(word(&event));
    }
    assert_eq!(told.last().map(String::as_str), Some("idle"), "{told:?}");
    assert_eq!(agent.calls(), ["cancel", "release"]);
}

#[tokio::test(start_paused = true)]
async fn the_lease_of_an_agent_that_does_not_obey_is_condemned() {
    let mut talk = Talk::prompted().await;
    talk.with.cancel_turn();
    assert_eq!(talk.until("idle").await, ["stopping", "m2 agent cancelled", "m3 agent-unresponsive", "idle"]);
    assert_eq!(talk.agent.calls(), ["cancel", "condemn"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_all_handles_cancels_the_turn_and_ends_the_events() {
    let Talk { agent, with, mut events } = Talk::prompted().await;
    drop(with);
    let mut told = Vec::new();
    while let Some(event) = within(events.next()).await {
        told.push(word(&event));
    }
    assert_eq!(told, ["stopping", "m2 agent cancelled", "idle"]);
    settled().await;
    assert_eq!(agent.calls(), ["cancel"], "it is the agent's turn until it is over");
    agent.tell(SessionEvent::TurnEnded { prompt: PromptId::new(1), end: Ok(TurnEnd::new(StopReason::Cancelled)) });
    settled().await;
    assert_eq!(agent.calls(), ["release"]);
    // Nobody listens to the session any more: the task is gone.
    assert!(Arc::strong_count(&agent.0) <= 1, "{}", Arc::strong_count(&agent.0));
}

#[tokio::test(start_paused = true)]
async fn what_a_person_does_is_heard_while_one_who_follows_has_too_much_to_read() {
    let talk = Talk::prompted().await;
    let mut follower = talk.with.follow();
    (0..5_000).for_each(|at| talk.says(&at.to_string()));
    talk.ends(Ok(TurnEnd::new(StopReason::Cancelled)));
    settled().await;
    assert_eq!(talk.with.messages().turn.phase, TurnPhase::Answering, "the end is behind what is not heard");
    let queued = talk.with.send("More").unwrap();
    talk.with.stop();
    assert_eq!(talk.agent.calls(), ["cancel"]);
    assert!(talk.with.messages().message(&queued).unwrap().not_sent);
    let mut told = Vec::new();
    while told.last().is_none_or(|word| word != "idle") {
        told.push(word(&within(follower.next()).await.unwrap()));
    }
    let at = told.iter().position(|word| word == "stopping").unwrap();
    assert!((1_000..1_100).contains(&at), "after {at}, before all that the agent said");
    assert_eq!(told.iter().filter(|word| word.starts_with("m2.0 +")).count(), 5_000);
}
