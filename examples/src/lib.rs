//! How an embedder uses the sidekicks crates.
//!
//! The code of the README is compiled here, as a documentation test, so that it stays true:
#![doc = include_str!("../../README.md")]

use std::error::Error;
use std::io::{Write, stdout};

use sidekicks_acp::AgentCommand;
use sidekicks_conversations::{Conversation, Event, Follower, PartKind, Permission};
use tokio::signal::unix::{SignalKind, signal};

/// What the programs end with: whatever goes wrong is printed by `main`.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The command that starts an agent, from a line as a person types it.
///
/// # Errors
/// When it is empty, or a quote is not closed.
pub fn command(line: &str) -> Outcome<AgentCommand> {
    let mut words = shlex::split(line).ok_or("a quote is not closed")?.into_iter();
    let program = words.next().ok_or("an agent's command is empty")?;
    Ok(AgentCommand::new(program).args(words))
}

/// Says no to a question, once.
pub fn say_no(conversation: &Conversation, asked: &Permission) {
    match asked.options.iter().find(|option| option.kind == "reject_once") {
        // It fails where the question was taken back meanwhile.
        Some(no) => drop(conversation.answer(&asked.id, &no.id)),
        None => conversation.cancel_turn(), // Some agents offer no such thing.
    }
}

/// Prints what follows in the conversation, until the end of a turn.
///
/// # Errors
/// When nobody reads what is printed.
pub async fn print_answer(conversation: &Conversation, mut events: Follower) -> Outcome {
    let mut out = stdout(); // Not print, which panics where nobody reads any more: agents would be killed.
    while let Some(event) = events.next().await {
        match &*event {
            Event::MessageDelta { kind: PartKind::Text, text: Some(text), .. } => write!(out, "{}", harmless(text))?,
            Event::MessageUpdated { message, .. } => {
                message.error.iter().try_for_each(|error| write!(out, "[{}]", harmless(&error.message)))?;
            }
            Event::PermissionRequested(asked) => say_no(conversation, asked),
            Event::TurnChanged { turn, .. } if !turn.busy => break,
            _ => {}
        }
    }
    Ok(writeln!(out)?)
}

/// `text` of an agent without what a terminal would obey.
pub fn harmless(text: &str) -> String {
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.chars().map(|c| if harmful(c) { '\u{FFFD}' } else { c }).collect()
}

/// What comes of `talk`, unless a signal that ends programs comes first. The agents are to be stopped after it: they do
/// not hear a Ctrl-C, since each is in a process group of its own.
///
/// # Errors
/// Those of `talk`, and that it was interrupted.
pub async fn unless_interrupted(talk: impl Future<Output = Outcome>) -> Outcome {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (mut hangup, mut quit) = (signal(SignalKind::hangup())?, signal(SignalKind::quit())?);
    tokio::select! {
        outcome = talk => outcome,
        _ = interrupt.recv() => Err("interrupted".into()),
        _ = terminate.recv() => Err("terminated".into()),
        _ = hangup.recv() => Err("hung up".into()),
        _ = quit.recv() => Err("quit".into()),
    }
}
