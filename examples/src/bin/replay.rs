//! Reads the events that `record` wrote, from stdin, and prints the conversation that they make.
//!
//! ```sh
//! cargo run -p examples --bin replay <talk.jsonl
//! ```
//!
//! No agent and no runtime is needed to hold a conversation: whoever applies the events has it.

use std::io::{BufRead, Write, stdin, stdout};

use examples::{Outcome, harmless};
use sidekicks_conversations::{Event, Message, Part, Role, Transcript};

fn main() -> Outcome {
    let mut mirror: Option<Transcript> = None;
    let mut broken = Ok(());
    for (number, line) in (1..).zip(stdin().lock().lines()) {
        match serde_json::from_str::<Event>(&line?) {
            Ok(event) => mirror.get_or_insert_with(|| Transcript::new(event.agent().clone())).apply(&event),
            // What follows is not applied: it builds on what is missing. A reset would be a new beginning, but a record
            // has only one. The last line is cut where the one who wrote it was killed.
            Err(error) => {
                broken = Err(format!("line {number} is no event: {error}"));
                break;
            }
        }
    }
    // A prompt stands where it was typed, so that those that waited come before the answer to the one ahead of them. Here
    // each is followed by its own answer.
    let messages = mirror.map(|mirror| mirror.messages).unwrap_or_default();
    for message in messages.iter().filter(|message| message.reply_to.is_none()) {
        print(message)?;
        let mut answers = messages.iter().filter(|answer| answer.reply_to.as_ref() == Some(&message.id));
        answers.try_for_each(|answer| print(answer))?;
    }
    Ok(broken?)
}

fn print(message: &Message) -> Outcome {
    let mut out = stdout();
    match (message.role, &message.code) {
        (Role::User, _) if message.not_sent => writeln!(out, "> you (not sent)")?,
        (Role::User, _) => writeln!(out, "> you")?,
        (Role::System, Some(code)) => writeln!(out, "> {code}")?,
        _ => writeln!(out, "> agent")?,
    }
    for part in &message.parts {
        match part {
            // What an agent says may hold what a terminal obeys.
            Part::Text { text, .. } => writeln!(out, "{}", harmless(&text.to_string()))?,
            Part::Tool(tool) => writeln!(out, "[{}: {}]", harmless(&tool.title), harmless(&tool.status))?,
            Part::Plan { entries, .. } => {
                entries.iter().try_for_each(|step| writeln!(out, "- {}", harmless(&step.content)))?;
            }
            Part::Thought { .. } => {} // It is no part of the answer.
            // Others may come with later versions; this is why `Part` cannot be matched without this line.
            other => writeln!(out, "[{:?}]", other.kind())?,
        }
    }
    message.error.iter().try_for_each(|error| writeln!(out, "[{}]", harmless(&error.message)))?;
    Ok(())
}
