//! From what the agent tells to events: plain functions of plain values.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use sidekicks_acp::schema::{ContentBlock, ContentChunk, SessionUpdate};
use sidekicks_acp::{AgentName, Unrecognised, Update};

use crate::event::{Event, Offer};
use crate::id::MessageId;
use crate::message::Message;
use crate::part::{Part, PartKind, PlanEntry, ToolPart};
use crate::tool;
use crate::transcript::Transcript;
use crate::wish::in_mode;

/// Where in a conversation the next fragment goes.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The message that is being written; after a turn, the one that what comes late belongs to.
    message: Option<MessageId>,
    /// The protocol's id of the message that the last fragment belonged to.
    fragment_of: Option<Arc<str>>,
    /// Where in the message those parts are that are replaced, and are no tools.
    places: HashMap<String, usize>,
    /// The tools of the session.
    tools: HashMap<String, Known>,
}

/// A tool that has a part.
#[derive(Debug, Clone)]
struct Known {
    message: MessageId,
    index: usize,
    output: tool::Output,
    /// The agent told of it otherwise than by a question, which may have an id of its own.
    called: bool,
}

/// How a tool is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    /// It is about to be used.
    Call,
    /// It goes on.
    Update,
    /// Somebody is asked whether it may be used.
    Question,
}

impl Cursor {
    /// A new message is begun.
    pub(crate) fn begin(&mut self, message: MessageId) {
        self.message = Some(message);
        self.fragment_of = None;
        self.places.clear();
    }

    /// Whether there is a message that something can be added to.
    pub(crate) fn is_in(&self, transcript: &Transcript) -> bool {
        self.target(transcript).is_some()
    }

    /// The session is over: the agent's ids mean nothing any more, and what a new one says belongs to no message yet.
    pub(crate) fn forget_session(&mut self) {
        *self = Self::default();
    }

    /// The tool part of this id.
    pub(crate) fn tool<'a>(&self, transcript: &'a Transcript, id: &str) -> Option<&'a ToolPart> {
        let known = self.tools.get(id)?;
        match transcript.message(&known.message)?.parts.get(known.index)? {
            Part::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Whether the agent told of a call of this id, and did not only ask about it.
    pub(crate) fn is_called(&self, id: &str) -> bool {
        self.tools.get(id).is_some_and(|known| known.called)
    }

    /// What `update` changes in the conversation. Nothing where it belongs to no message.
    pub(crate) fn fold(&mut self, transcript: &Transcript, update: &Update) -> Vec<Event> {
        let offer = |offer: Offer| vec![Event::AgentChanged { agent: transcript.agent.clone(), offer }];
        match &update.typed {
            Ok(SessionUpdate::AgentMessageChunk(chunk)) => self.chunk(transcript, chunk, PartKind::Text),
            Ok(SessionUpdate::AgentThoughtChunk(chunk)) => self.chunk(transcript, chunk, PartKind::Thought),
            // Some agents repeat the prompt in the turn; the person's message is here already.
            Ok(SessionUpdate::UserMessageChunk(_)) => Vec::new(),
            Ok(SessionUpdate::ToolCall(_)) => self.tool_call(transcript, &update.raw.to_value(), Mention::Call),
            Ok(SessionUpdate::ToolCallUpdate(_)) => self.tool_call(transcript, &update.raw.to_value(), Mention::Update),
            Ok(SessionUpdate::Plan(_)) => self.plan(transcript, &update.raw.to_value()),
            Ok(SessionUpdate::UsageUpdate(usage)) if transcript.usage.as_ref() == Some(usage) => Vec::new(),
            Ok(SessionUpdate::UsageUpdate(usage)) => {
                vec![Event::UsageChanged { agent: transcript.agent.clone(), usage: Some(usage.clone()) }]
            }
            Ok(SessionUpdate::AvailableCommandsUpdate(update)) => {
                offer(Offer { commands: Some(update.available_commands.clone()), ..Offer::default() })
            }
            Ok(SessionUpdate::ConfigOptionUpdate(update)) => {
                offer(Offer { config_options: Some(update.config_options.clone()), ..Offer::default() })
            }
            Ok(SessionUpdate::CurrentModeUpdate(update)) => {
                let modes = in_mode(transcript.modes.as_ref(), update.current_mode_id.clone());
                offer(Offer { modes: Some(Some(modes)), ..Offer::default() })
            }
            Ok(SessionUpdate::SessionInfoUpdate(_)) => match update.raw.to_value().get("title") {
                Some(title) => offer(Offer { title: Some(title.as_str().map(str::to_owned)), ..Offer::default() }),
                None => Vec::new(),
            },
            Ok(_) => self.other(transcript, update.raw.to_value()),
            Err(unrecognised) => self.unrecognised(transcript, unrecognised, update.raw.to_value()),
        }
    }

    /// An update that the schema cannot hold may still be one that can be shown.
    fn unrecognised(&mut self, transcript: &Transcript, unrecognised: &Unrecognised, raw: Value) -> Vec<Event> {
        let content = &raw["content"];
        match (unrecognised.word.as_str(), content["text"].as_str()) {
            ("agent_message_chunk", Some(text)) if content["type"] == "text" => {
                self.text(transcript, raw["messageId"].as_str().map(Arc::from), text, PartKind::Text)
            }
            ("user_message_chunk", _) => Vec::new(),
            ("tool_call", _) => self.tool_call(transcript, &raw, Mention::Call),
            ("tool_call_update", _) => self.tool_call(transcript, &raw, Mention::Update),
            ("plan", _) if raw["entries"].is_array() => self.plan(transcript, &raw),
            _ => self.other(transcript, raw),
        }
    }

    fn chunk(&mut self, transcript: &Transcript, chunk: &ContentChunk, kind: PartKind) -> Vec<Event> {
        let fragment_of = chunk.message_id.as_ref().map(|id| Arc::clone(&id.0));
        if let ContentBlock::Text(text) = &chunk.content {
            return self.text(transcript, fragment_of, &text.text, kind);
        }
        self.fragment_of = fragment_of;
        let Some(message) = self.target(transcript) else { return Vec::new() };
        vec![whole(&transcript.agent, &message.id, message.parts.len(), Part::of(&chunk.content))]
    }

    /// A fragment of the kind of the last part is appended to it, unless it is of another of the agent's messages.
    fn text(&mut self, transcript: &Transcript, of: Option<Arc<str>>, text: &str, kind: PartKind) -> Vec<Event> {
        if text.is_empty() {
            return Vec::new(); // A carrier of usage and the like.
        }
        let same_message = self.fragment_of == of;
        self.fragment_of = of;
        let Some(message) = self.target(transcript) else { return Vec::new() };
        let continues = same_message && message.parts.last().is_some_and(|last| last.kind() == kind);
        let index = message.parts.len() - usize::from(continues);
        vec![delta(&transcript.agent, &message.id, index, kind, Fragment::Text(text.to_owned()))]
    }

    /// What a question tells of the tool that it is about: some agents announce it in no other way. A bare id that
    /// nobody knows announces nothing.
    pub(crate) fn announce(&mut self, transcript: &Transcript, call: &Value) -> Vec<Event> {
        let tells = ["title", "kind", "rawInput", "content"].iter().any(|key| !call[*key].is_null());
        match call["toolCallId"].as_str() {
            Some(id) if !id.is_empty() && tells => self.tool_call(transcript, call, Mention::Question),
            _ => Vec::new(),
        }
    }

    /// Adds or changes a tool part: agents send the update before the call, or no call at all.
    fn tool_call(&mut self, transcript: &Transcript, call: &Value, mention: Mention) -> Vec<Event> {
        let Some(id) = call["toolCallId"].as_str().filter(|id| !id.is_empty()) else {
            return self.other(transcript, call.clone());
        };
        // Ids are the model's, and some repeat: what begins in a later message, of a tool that was done with, is a new call.
        // An update goes on with a call that was only closed here.
        let begins = |part: &ToolPart| match mention {
            Mention::Update => {
                matches!(&*part.status, "completed" | "failed") && call["status"].as_str().is_some_and(tool::is_open)
            }
            Mention::Call | Mention::Question => !tool::is_open(&part.status),
        };
        let here = self.tools.get(id).map(|known| &known.message) == self.message.as_ref();
        let part = self.tool(transcript, id).filter(|part| here || !begins(part));
        let (mut known, part) = match (self.tools.get(id), part) {
            (Some(known), Some(part)) => (known.clone(), Some(part)),
            _ => {
                let Some(message) = self.target(transcript) else { return Vec::new() };
                let (message, index) = (message.id.clone(), message.parts.len());
                (Known { message, index, output: Default::default(), called: false }, None)
            }
        };
        let mut next = part.cloned().unwrap_or_default();
        match mention {
            Mention::Call | Mention::Update => tool::update(&mut next, &mut known.output, call),
            Mention::Question => _ = tool::describe(&mut next, call),
        }
        known.called |= mention != Mention::Question;
        let changed = part != Some(&next);
        let event = whole(&transcript.agent, &known.message, known.index, Part::Tool(Arc::new(next)));
        self.tools.insert(id.to_owned(), known);
        if changed { vec![event] } else { Vec::new() }
    }

    /// A message has one plan, which is replaced wherever it stands.
    fn plan(&mut self, transcript: &Transcript, update: &Value) -> Vec<Event> {
        let Some(message) = self.target(transcript) else { return Vec::new() };
        let index = self.place(message, "plan".to_owned());
        let word = |value: &Value, default: &str| value.as_str().unwrap_or(default).to_owned();
        let entries = update["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
        let entries = entries.iter().map(|entry| PlanEntry {
            content: word(&entry["content"], ""),
            priority: word(&entry["priority"], "medium"),
            status: word(&entry["status"], "pending"),
        });
        let plan = Part::Plan { entries: entries.collect() };
        if message.parts.get(index) == Some(&plan) {
            return Vec::new();
        }
        vec![whole(&transcript.agent, &message.id, index, plan)]
    }

    /// What this version does not know is kept in the message. An update takes the place of the one before it that is of
    /// the same thing; a content that is not known is another piece of the answer.
    fn other(&mut self, transcript: &Transcript, raw: Value) -> Vec<Event> {
        let Some(message) = self.target(transcript) else { return Vec::new() };
        let word = raw["sessionUpdate"].as_str().unwrap_or_default().to_owned();
        let index = match word.ends_with("_chunk") || word.starts_with("tool_call") {
            true => message.parts.len(),
            false => self.place(message, name_of(&word, &raw)),
        };
        vec![whole(&transcript.agent, &message.id, index, Part::other(word, raw))]
    }

    /// Where in the message it is that has this name, or will be.
    fn place(&mut self, message: &Message, name: String) -> usize {
        *self.places.entry(name).or_insert(message.parts.len())
    }

    fn target<'a>(&self, transcript: &'a Transcript) -> Option<&'a Arc<Message>> {
        transcript.message(self.message.as_ref()?)
    }
}

/// Names what an update is of: its kind, and the ids in it.
fn name_of(word: &str, update: &Value) -> String {
    let fields = update.as_object().into_iter().flatten();
    let ids = fields.filter(|(key, _)| *key == "id" || key.ends_with("Id"));
    let mut ids: Vec<String> = ids.map(|(key, id)| format!("\n{key}={id}")).collect();
    ids.sort();
    format!("{word}{}", ids.concat())
}

/// Whether this is something that was said or done, and not what the session offers or has used, nor news of the moment.
pub(crate) fn is_content(update: &Update) -> bool {
    !matches!(
        &update.typed,
        Ok(SessionUpdate::UsageUpdate(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::SessionInfoUpdate(_)
            | SessionUpdate::Notice(_))
    )
}

/// Whether only an agent that remembers the session can say this: a greeting says nothing of that.
pub(crate) fn is_memory(update: &Update) -> bool {
    matches!(
        &update.typed,
        Ok(SessionUpdate::UserMessageChunk(_) | SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_))
    )
}

/// What is added to a part, or takes its place.
enum Fragment {
    Text(String),
    Part(Part),
}

fn whole(agent: &AgentName, message: &MessageId, index: usize, part: Part) -> Event {
    delta(agent, message, index, part.kind(), Fragment::Part(part))
}

fn delta(agent: &AgentName, message: &MessageId, index: usize, kind: PartKind, fragment: Fragment) -> Event {
    let (text, part) = match fragment {
        Fragment::Text(text) => (Some(text), None),
        Fragment::Part(part) => (None, Some(part)),
    };
    Event::MessageDelta { agent: agent.clone(), message_id: message.clone(), index, kind, text, part }
}

/// Closes what an agent left open in a message that is over, so that no spinner is left; the events tell of it.
pub(crate) fn close_tools(agent: &AgentName, message: &mut Message) -> Vec<Event> {
    let status = match (&message.error, message.stop_reason.as_deref()) {
        (Some(_), _) => "failed",
        (None, Some("cancelled")) => "cancelled",
        _ => "unfinished",
    };
    let mut events = Vec::new();
    for (index, part) in message.parts.iter_mut().enumerate() {
        if let Part::Tool(tool) = part
            && tool::is_open(&tool.status)
        {
            status.clone_into(&mut Arc::make_mut(tool).status);
            events.push(whole(agent, &message.id, index, part.clone()));
        }
    }
    events
}
