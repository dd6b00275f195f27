//! What is shown of a conversation: from a transcript to what is new of it.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use sidekicks_conversations::{Message, MessageId, Part, Role, ToolPart, Transcript};

use crate::harmless::{harmless, one_line};
use crate::lang::Lang;
use crate::say::Say;

/// Where a piece of text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// The answer, and nothing else.
    Stdout,
    Stderr,
}

/// What was shown so far.
///
/// It goes by position, not by event: after a reset it shows what is missing, and nothing twice.
pub(super) struct Screen {
    lang: Lang,
    /// Whether a terminal reads stdout; a pipe gets the agent's text to the byte.
    to_terminal: bool,
    /// What was shown of each answer.
    shown: HashMap<MessageId, Shown>,
    /// The system's messages that were shown.
    told: HashSet<MessageId>,
    /// Whether any of the answer was shown, and whether it ended with a line feed.
    answered: bool,
    at_line_start: bool,
    pending: Vec<(Stream, String)>,
}

/// What was shown of one answer.
#[derive(Default)]
struct Shown {
    /// The parts before this one are done with: a long answer is not gone through anew for each frame.
    done: usize,
    /// How much was shown of each part after those: of a text its bytes, of a tool how far it was.
    parts: HashMap<usize, usize>,
    /// Whether a text was begun.
    spoke: bool,
}

/// How far a tool was shown.
const BEGUN: usize = 1;
const ENDED: usize = 2;

impl Screen {
    pub(super) fn new(lang: Lang, to_terminal: bool) -> Self {
        Self {
            lang,
            to_terminal,
            shown: HashMap::new(),
            told: HashSet::new(),
            answered: false,
            at_line_start: true,
            pending: Vec::new(),
        }
    }

    /// Takes what is to be written now.
    pub(super) fn take(&mut self) -> Vec<(Stream, String)> {
        std::mem::take(&mut self.pending)
    }

    /// Adds what is new in `transcript`.
    pub(super) fn draw(&mut self, transcript: &Transcript) {
        for message in &transcript.messages {
            match message.role {
                Role::Agent => self.answer(message),
                Role::System => self.system(transcript.agent.as_str(), message),
                _ => {}
            }
        }
    }

    /// Adds a sentence on stderr.
    pub(super) fn say(&mut self, say: Say<'_>) {
        let text = format!("sidekicks: {}", say.text(self.lang));
        self.note(&text);
    }

    /// Adds lines of an agent on stderr, such as its last words.
    pub(super) fn quote(&mut self, text: &str) {
        for line in harmless(text).lines() {
            self.note(&format!("  {line}"));
        }
    }

    /// Ends a line that somebody else left open on the terminal.
    pub(super) fn break_line(&mut self) {
        self.push(Stream::Stderr, "\n".to_owned());
    }

    /// Ends the answer with a line feed, where it has none.
    pub(super) fn finish(&mut self) {
        if self.answered && !self.at_line_start {
            self.write("\n");
        }
    }

    /// Adds one line of JSON on stdout.
    pub(super) fn event(&mut self, event: &impl Serialize) {
        // Events are made of strings, numbers and lists, which can always be written.
        let line = serde_json::to_string(event).unwrap_or_default();
        self.push(Stream::Stdout, format!("{line}\n"));
    }

    fn answer(&mut self, message: &Message) {
        let mut shown = self.shown.remove(&message.id).unwrap_or_default();
        let last = message.parts.len().saturating_sub(1);
        for (index, part) in message.parts.iter().enumerate().skip(shown.done) {
            let before = shown.parts.get(&index).copied().unwrap_or_default();
            let (now, done) = match part {
                Part::Text { text, .. } => {
                    if text.len() > before {
                        if before == 0 && shown.spoke {
                            self.separate();
                        }
                        shown.spoke = true;
                        self.write(&text.tail(before));
                    }
                    (text.len(), index < last)
                }
                Part::Tool(tool) => {
                    let now = self.tool(tool, before);
                    (now, now == ENDED)
                }
                _ => (0, index < last),
            };
            if done && index == shown.done {
                shown.done += 1;
                shown.parts.remove(&index);
            } else {
                shown.parts.insert(index, now);
            }
        }
        self.shown.insert(message.id.clone(), shown);
    }

    /// One line when a tool begins, one when it ends; gives how far it is shown.
    fn tool(&mut self, tool: &ToolPart, before: usize) -> usize {
        let sign = match tool.status.as_str() {
            "completed" => "✓",
            "failed" => "✗",
            "cancelled" | "unfinished" => "–",
            _ => "•",
        };
        let now = if sign == "•" { BEGUN } else { ENDED };
        if now <= before || tool.title.is_empty() {
            return before;
        }
        self.note(&format!("{sign} {}", one_line(&tool.title, 100)));
        now
    }

    fn system(&mut self, agent: &str, message: &Message) {
        let Some(code) = message.code.as_deref() else { return };
        // Of the first two the failure of the turn says more; how the agent leaves after its answer is no news here.
        let said = matches!(code, "agent-unavailable" | "login-required" | "agent-exited");
        let param = |key: &str| message.params.as_ref()?.get(key)?.as_str();
        let not_yet = code == "context-compacted" && param("status") != Some("completed");
        if !said && !not_yet && self.told.insert(message.id.clone()) {
            self.say(Say::System { agent, code });
            ["text", "description"].into_iter().filter_map(param).for_each(|text| self.quote(text));
        }
    }

    fn write(&mut self, text: &str) {
        let text = if self.to_terminal { harmless(text).into_owned() } else { text.to_owned() };
        self.answered = true;
        self.at_line_start = text.ends_with('\n');
        self.push(Stream::Stdout, text);
    }

    /// A blank line between two pieces of the answer that something else came between.
    fn separate(&mut self) {
        let gap = if self.at_line_start { "\n" } else { "\n\n" };
        self.write(gap);
    }

    fn note(&mut self, text: &str) {
        if self.to_terminal && !self.at_line_start {
            // Both streams are most likely the same screen.
            self.push(Stream::Stderr, "\n".to_owned());
            self.at_line_start = true;
        }
        self.push(Stream::Stderr, format!("{text}\n"));
    }

    fn push(&mut self, stream: Stream, text: String) {
        match self.pending.last_mut() {
            Some((last, pending)) if *last == stream => pending.push_str(&text),
            _ => self.pending.push((stream, text)),
        }
    }
}
