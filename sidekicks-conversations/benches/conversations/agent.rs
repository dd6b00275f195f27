//! An agent that says what it is told to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde_json::{Value, json};
use sidekicks_acp::schema::{ContentBlock, SessionId};
use sidekicks_acp::{
    AgentConnection, AgentInfo, AgentName, Borrow, CallError, ConnectError, Connector, End, Generation, Lease,
    LeaseGuard, OpenSession, OpenedSession, PromptId, SessionEvent, SessionEventSender, SessionEvents, StopReason,
    TurnEnd, Update,
};
use sidekicks_conversations::{AgentProfile, Conversation, Conversations, Options};
use tokio::sync::mpsc;

#[derive(Clone)]
struct Agent(Arc<Calls>);

struct Calls {
    opened: mpsc::UnboundedSender<SessionEventSender>,
    prompted: mpsc::UnboundedSender<PromptId>,
    prompts: AtomicU64,
}

/// A conversation with it.
pub(crate) struct Talk {
    pub(crate) all: Conversations,
    pub(crate) with: Conversation,
    opened: mpsc::UnboundedReceiver<SessionEventSender>,
    prompted: mpsc::UnboundedReceiver<PromptId>,
    session: Option<SessionEventSender>,
}

impl Talk {
    pub(crate) fn new() -> Self {
        let ((opened, is_opened), (prompted, is_prompted)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let agent = Agent(Arc::new(Calls { opened, prompted, prompts: AtomicU64::new(1) }));
        let name = AgentName::from("a");
        let all =
            Conversations::new(HashMap::from([(name.clone(), AgentProfile::new(agent, "/"))]), Options::default());
        let with = all.with(&name).expect("it is there");
        Self { all, with, opened: is_opened, prompted: is_prompted, session: None }
    }

    /// Begins a turn.
    pub(crate) async fn prompt(&mut self) -> PromptId {
        self.with.send("Go").expect("it can be sent");
        if self.session.is_none() {
            let session = self.opened.recv().await.expect("a session is opened");
            session.send(SessionEvent::Opened(Ok(OpenedSession::new("s1".into()))));
            self.session = Some(session);
        }
        self.prompted.recv().await.expect("the agent is there")
    }

    pub(crate) async fn end(&self, prompt: PromptId) {
        self.tell(SessionEvent::TurnEnded { prompt, end: Ok(TurnEnd::new(StopReason::EndTurn)) });
        self.with.idle().await;
    }

    pub(crate) fn tell(&self, event: SessionEvent) {
        self.session.as_ref().expect("a session is open").send(event);
    }
}

/// That the agent says this.
pub(crate) fn update(update: &Value) -> SessionEvent {
    SessionEvent::Update(Update::new(serde_json::from_str(&update.to_string()).expect("it is JSON")))
}

pub(crate) fn chunk(text: &str) -> SessionEvent {
    update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
}

#[async_trait]
impl Connector for Agent {
    async fn borrow(&self, _: Borrow) -> Result<Lease, ConnectError> {
        Ok(Lease::new(Arc::new(self.clone()), Generation(1), self.clone()))
    }
}

impl LeaseGuard for Agent {
    fn release(self: Box<Self>) {}

    fn condemn(self: Box<Self>) {}
}

#[async_trait]
impl AgentConnection for Agent {
    fn agent(&self) -> &AgentInfo {
        static INFO: LazyLock<AgentInfo> = LazyLock::new(AgentInfo::default);
        &INFO
    }

    fn open(&self, _: OpenSession) -> Result<SessionEvents, CallError> {
        let (sender, events) = SessionEvents::channel();
        let _ = self.0.opened.send(sender);
        Ok(events)
    }

    fn prompt(&self, _: &SessionId, _: Vec<ContentBlock>) -> Result<PromptId, CallError> {
        let id = PromptId::new(self.0.prompts.fetch_add(1, Ordering::Relaxed));
        let _ = self.0.prompted.send(id);
        Ok(id)
    }

    fn cancel(&self, _: &SessionId) -> Result<(), CallError> {
        Ok(())
    }

    async fn call_raw(&self, _: &str, _: Value) -> Result<Value, CallError> {
        Ok(Value::Null)
    }

    async fn closed(&self) -> End {
        std::future::pending().await
    }
}
