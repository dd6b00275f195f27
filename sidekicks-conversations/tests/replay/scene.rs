//! What of a recording is played to one conversation.

use std::collections::BTreeSet;

use serde_json::Value;

/// What is played in one conversation: one session of one start of an agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scene {
    /// The scenario, and which part of it where it has several.
    pub(crate) name: String,
    /// The session of an earlier start of the agent, if this one is asked for it.
    pub(crate) recalled: Option<Recalled>,
    /// What is said first; that starts the agent.
    pub(crate) opening: Value,
    pub(crate) steps: Vec<Step>,
    /// Whether the agent leaves at the end, as one does that is killed in a turn.
    pub(crate) leaves: bool,
    pub(crate) left_out: BTreeSet<LeftOut>,
}

/// A session in which something was said before the agent was started again.
#[derive(Debug, Clone)]
pub(crate) struct Recalled {
    pub(crate) session: String,
    /// Whether the agent still knows what was said.
    pub(crate) remembered: bool,
}

impl Scene {
    /// What the agent sends before it answers the request for the session that is recalled.
    pub(crate) fn replayed(&self) -> Vec<&Value> {
        let asked = |step: &Step| matches!(step, Step::Expect("session/load" | "session/resume", _));
        let told =
            self.steps.iter().skip_while(|step| !asked(step)).take_while(|step| !matches!(step, Step::Reply(..)));
        told.filter_map(|step| if let Step::Send(message) = step { Some(message) } else { None }).collect()
    }

    /// The texts with which the agent asks for permission, each as one.
    pub(crate) fn questions(&self) -> Vec<String> {
        let asked = |step: &Step| match step {
            Step::Send(message) => message["params"]["toolCall"]["content"].as_array().cloned(),
            _ => None,
        };
        let text = |content: Vec<Value>| {
            content.iter().filter_map(|item| item["content"]["text"].as_str()).collect::<Vec<_>>().join("\n")
        };
        self.steps.iter().filter_map(asked).map(text).filter(|text| !text.is_empty()).collect()
    }
}

/// What comes next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// The agent waits for a message of this method. The recorded client's had this id.
    Expect(&'static str, Value),
    /// The agent answers the message that the recorded client sent with this id.
    Reply(Value, Value),
    /// The agent sends this.
    Send(Value),
    /// The agent writes a line that is no message.
    Noise(String),
    /// The agent waits for the answer to its request of this id.
    Answered(Value),
    /// The person does something.
    Person(Act),
}

/// What a person does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Say(Value),
    Stop,
    /// Answers the open question at this place with this option.
    Answer(usize, String),
}

/// What of a recording has no counterpart, and so is not replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    /// A second prompt in a session whose turn runs, and its reply: conversations queue it. What the agent told of it is
    /// played, since nothing marks it.
    SecondPrompt,
    /// Calls that a conversation does not make: modes, options, lists, `session/close`, `authenticate`, mistakes.
    Calls,
    /// Files and terminals, which a conversation does not offer; neither the agent's requests nor their answers.
    ClientMethods,
    /// The offer to resume, of an agent whose session was loaded: a conversation would rather resume it.
    Resume,
    /// An empty prompt, which a conversation refuses, with what came of it; or one for a session that was never opened.
    Mistake,
    /// A cancel while no prompt is pending, which a conversation does not send.
    IdleCancel,
    /// Lines that the recorder itself left out, because there were many like them.
    Unrecorded,
    /// No prompt reached a session: the person here says something of ours, to see how the opening fails. Where the agent
    /// is to go on in a new session, that and the answer are ours too.
    OurPrompt,
}

impl LeftOut {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::SecondPrompt => "second prompt",
            Self::Calls => "other calls",
            Self::ClientMethods => "client methods",
            Self::Resume => "the offer to resume",
            Self::Mistake => "mistaken prompts",
            Self::IdleCancel => "idle cancel",
            Self::Unrecorded => "unrecorded lines",
            Self::OurPrompt => "recorded prompt",
        }
    }
}
