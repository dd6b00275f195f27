//! A program that has a conversation, follows it and decides.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use sidekicks_acp::{AgentName, SingleAgent};
use sidekicks_conversations::{
    AgentProfile, Conversation, Conversations, Event, Follower, Message, Options, Permission, Policy, ResolvedBy, Rule,
    Transcript,
};
use tokio::time::timeout;

use crate::PATIENCE;
use crate::home::Home;

pub(crate) struct Embedder {
    agent: SingleAgent,
    agents: Arc<RwLock<HashMap<AgentName, AgentProfile>>>,
    pub(crate) with: Conversation,
    follower: Follower,
    /// What the events add up to.
    pub(crate) mirror: Transcript,
    /// The questions that were asked.
    pub(crate) asked: Vec<Arc<Permission>>,
    /// By what each question was settled.
    pub(crate) settled_by: Vec<ResolvedBy>,
    /// They keep the conversation.
    _all: Conversations,
}

impl Embedder {
    pub(crate) fn in_home(home: &Home) -> Self {
        let agent = SingleAgent::new(home.command());
        let mut profile = AgentProfile::new(agent.clone(), &home.cwd);
        if let Some(mode) = &home.mode {
            profile = profile.mode(mode);
        }
        let name = AgentName::from("agent");
        let agents = Arc::new(RwLock::new(HashMap::from([(name.clone(), profile)])));
        let all = Conversations::new(Arc::clone(&agents), Options::default());
        let with = all.with(&name).expect("the agent is there");
        let follower = with.follow();
        let mirror = Transcript::new(name);
        Self { agent, agents, with, follower, mirror, asked: Vec::new(), settled_by: Vec::new(), _all: all }
    }

    /// From here on these decide about questions first.
    pub(crate) fn decide_by(&self, policy: Policy, rules: &[Rule]) {
        for profile in self.agents.write().expect("nobody panicked").values_mut() {
            (profile.policy, profile.rules) = (policy, rules.to_vec());
        }
    }

    /// Says this, answers each question with an option of this kind, and gives the answer of the agent.
    pub(crate) async fn turn(&mut self, prompt: &str, decision: &str) -> Arc<Message> {
        let sent = self.with.send(prompt).expect("it is sent");
        loop {
            let event = self.next().await;
            match &*event {
                Event::PermissionRequested(permission) => {
                    let option = permission.options.iter().find(|option| option.kind == decision);
                    let option = option.unwrap_or_else(|| panic!("{decision} is no option: {:?}", permission.options));
                    self.with.answer(&permission.id, &option.id).expect("it is open");
                    self.asked.push(Arc::clone(permission));
                }
                Event::PermissionResolved { by, .. } => self.settled_by.push(*by),
                Event::TurnChanged { turn, .. } if !turn.busy => break,
                _ => {}
            }
        }
        let answer = self.mirror.messages.iter().rfind(|message| message.reply_to.as_ref() == Some(&sent));
        Arc::clone(answer.unwrap_or_else(|| panic!("no answer: {:#?}", self.mirror.messages)))
    }

    /// Stops the agent's process, as an embedder does with one that was idle for long.
    pub(crate) async fn rest(&self) {
        timeout(PATIENCE, self.agent.stop()).await.expect("it stops in time").expect("it runs");
    }

    /// Follows until nothing is unread.
    pub(crate) async fn catch_up(&mut self) {
        while self.mirror != *self.with.messages() {
            self.next().await;
        }
    }

    async fn next(&mut self) -> Arc<Event> {
        let event = timeout(PATIENCE, self.follower.next()).await;
        let event = event.unwrap_or_else(|_| panic!("nothing happens: {:#?}", self.mirror));
        let event = event.expect("the conversation is there");
        self.mirror.apply(&event);
        event
    }
}
