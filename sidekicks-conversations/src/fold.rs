//! From what the agent tells to events: plain functions of plain values.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use sidekicks_acp::schema::{ContentBlock, ContentChunk, SessionUpdate};
use sidekicks_acp::{AgentName, Update};

use crate::event::{Event, Offer};
use crate::message::{Message, MessageId};
use crate::part::{Part, PartKind, PlanEntry, ToolPart};
use crate::tool;
use crate::transcript::Transcript;

/// Where in a conversation the next fragment goes.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The message that is being written; after a turn, the one that what comes late belongs to.
    pub(crate) message: Option<MessageId>,
    /// The protocol's id of the message that the last fragment belonged to.
    fragment_of: Option<Arc<str>>,
    /// Where the tools of the session are.
    tools: HashMap<String, (MessageId, usize)>,
}

impl Cursor {
    /// A new message is begun.
    pub(crate) fn begin(&mut self, message: MessageId) {
        self.message = Some(message);
        self.fragment_of = None;
    }

    /// A new session is begun: the agent's ids mean nothing any more.
    pub(crate) fn forget_session(&mut self) {
        self.tools.clear();
        self.fragment_of = None;
    }

    /// The tool part of this id.
    pub(crate) fn tool<'a>(&self, transcript: &'a Transcript, id: &str) -> Option<&'a ToolPart> {
        let (message, index) = self.tools.get(id)?;
        match transcript.message(message)?.parts.get(*index)? {
            Part::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// What `update` changes in the conversation. Nothing where it belongs to no message.
    pub(crate) fn fold(&mut self, transcript: &Transcript, update: &Update) -> Vec<Event> {
        let agent = &transcript.agent;
        let offer = |offer: Offer| vec![Event::AgentChanged { agent: agent.clone(), offer }];
        match &update.typed {
            Ok(SessionUpdate::AgentMessageChunk(chunk)) => self.chunk(transcript, chunk, PartKind::Text),
            Ok(SessionUpdate::AgentThoughtChunk(chunk)) => self.chunk(transcript, chunk, PartKind::Thought),
            // Some agents repeat the prompt in the turn; the person's message is here already.
            Ok(SessionUpdate::UserMessageChunk(_)) => Vec::new(),
            Ok(SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_)) => {
                self.tool_call(transcript, &update.raw.to_value())
            }
            Ok(SessionUpdate::Plan(_)) => self.plan(transcript, &update.raw.to_value()),
            Ok(SessionUpdate::UsageUpdate(usage)) => {
                vec![Event::UsageChanged { agent: agent.clone(), usage: usage.clone() }]
            }
            Ok(SessionUpdate::AvailableCommandsUpdate(update)) => {
                offer(Offer { commands: Some(update.available_commands.clone()), ..Offer::default() })
            }
            Ok(SessionUpdate::ConfigOptionUpdate(update)) => {
                offer(Offer { config_options: Some(update.config_options.clone()), ..Offer::default() })
            }
            Ok(SessionUpdate::CurrentModeUpdate(update)) => {
                let Some(mut modes) = transcript.modes.clone() else { return Vec::new() };
                modes.current_mode_id = update.current_mode_id.clone();
                offer(Offer { modes: Some(modes), ..Offer::default() })
            }
            Ok(SessionUpdate::SessionInfoUpdate(_)) => match update.raw.to_value()["title"].as_str() {
                Some(title) => offer(Offer { title: Some(title.to_owned()), ..Offer::default() }),
                None => Vec::new(),
            },
            Ok(_) | Err(_) => self.other(transcript, update.raw.to_value()),
        }
    }

    fn chunk(&mut self, transcript: &Transcript, chunk: &ContentChunk, kind: PartKind) -> Vec<Event> {
        let Some(message) = self.target(transcript) else { return Vec::new() };
        let fragment_of = chunk.message_id.as_ref().map(|id| Arc::clone(&id.0));
        let same_message = self.fragment_of == fragment_of;
        self.fragment_of = fragment_of;
        let count = message.parts.len();
        match &chunk.content {
            // Carriers of usage and the like.
            ContentBlock::Text(text) if text.text.is_empty() => Vec::new(),
            ContentBlock::Text(text) => {
                let continues = same_message && message.parts.last().is_some_and(|last| last.kind() == kind);
                let index = if continues { count - 1 } else { count };
                vec![delta(&transcript.agent, &message.id, index, kind, Fragment::Text(text.text.clone()))]
            }
            block => {
                let part = Part::of(block);
                vec![delta(&transcript.agent, &message.id, count, part.kind(), Fragment::Part(part))]
            }
        }
    }

    /// Adds or changes a tool part: agents send the update before the call, or no call at all.
    pub(crate) fn tool_call(&mut self, transcript: &Transcript, call: &Value) -> Vec<Event> {
        let id = call["toolCallId"].as_str().unwrap_or_default();
        let (place, mut part) = match (self.tool(transcript, id), self.tools.get(id)) {
            (Some(known), Some(place)) => (place.clone(), known.clone()),
            _ => {
                let Some(message) = self.target(transcript) else { return Vec::new() };
                let place = (message.id.clone(), message.parts.len());
                self.tools.insert(id.to_owned(), place.clone());
                (place, ToolPart::default())
            }
        };
        tool::update(&mut part, call);
        let (message, index) = place;
        vec![delta(&transcript.agent, &message, index, PartKind::Tool, Fragment::Part(Part::Tool(Arc::new(part))))]
    }

    /// A message has one plan, which is replaced wherever it stands.
    fn plan(&mut self, transcript: &Transcript, update: &Value) -> Vec<Event> {
        let Some(message) = self.target(transcript) else { return Vec::new() };
        let index = message.parts.iter().position(|part| part.kind() == PartKind::Plan).unwrap_or(message.parts.len());
        let word = |value: &Value, default: &str| value.as_str().unwrap_or(default).to_owned();
        let entries = update["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
        let entries = entries.iter().map(|entry| PlanEntry {
            content: word(&entry["content"], ""),
            priority: word(&entry["priority"], "medium"),
            status: word(&entry["status"], "pending"),
        });
        let part = Part::Plan { entries: entries.collect() };
        vec![delta(&transcript.agent, &message.id, index, PartKind::Plan, Fragment::Part(part))]
    }

    /// What this version does not know is kept in the message, so that nothing an agent says is lost.
    fn other(&mut self, transcript: &Transcript, raw: Value) -> Vec<Event> {
        let Some(message) = self.target(transcript) else { return Vec::new() };
        let word = raw["sessionUpdate"].as_str().unwrap_or_default().to_owned();
        let part = Part::other(word, raw);
        vec![delta(&transcript.agent, &message.id, message.parts.len(), PartKind::Other, Fragment::Part(part))]
    }

    fn target<'a>(&self, transcript: &'a Transcript) -> Option<&'a Arc<Message>> {
        transcript.message(self.message.as_ref()?)
    }
}

/// What is added to a part, or takes its place.
enum Fragment {
    Text(String),
    Part(Part),
}

fn delta(agent: &AgentName, message: &MessageId, index: usize, kind: PartKind, fragment: Fragment) -> Event {
    let (text, part) = match fragment {
        Fragment::Text(text) => (Some(text), None),
        Fragment::Part(part) => (None, Some(part)),
    };
    Event::MessageDelta { agent: agent.clone(), message_id: message.clone(), index, kind, text, part }
}

/// What an agent left open when its turn ended, closed with `status`, so that no spinner is left.
pub(crate) fn close_tools(message: &mut Message, status: &str) {
    for part in &mut message.parts {
        if let Part::Tool(tool) = part
            && tool::is_open(&tool.status)
        {
            status.clone_into(&mut Arc::make_mut(tool).status);
        }
    }
}
