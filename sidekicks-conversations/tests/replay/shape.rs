//! What of a conversation can be told without what was said in it.

use serde_json::json;
use sidekicks_conversations::{Message, Part, Role};

/// What a message is made of, and how it ended.
pub(crate) fn message_word(message: &Message, questions: &[String]) -> String {
    let parts = counted(
        message.parts.iter().map(|part| match part {
            Part::Tool(tool) if questions.iter().any(|question| tool.output == question.as_str()) => {
                format!("tool:{} with its question as output", tool.status)
            }
            Part::Tool(tool) => format!("tool:{}", tool.status),
            Part::Plan { entries, .. } => format!("plan:{}", entries.len()),
            other => word(&other.kind()),
        }),
        " ",
    );
    let role = match message.role {
        Role::Agent if message.reply_to.is_none() => "late".to_owned(),
        role => word(&role),
    };
    let mut word = format!("{role}[{parts}]");
    if let Some(code) = &message.code {
        word = format!("system:{code}");
    }
    if message.not_sent {
        word += " not sent";
    }
    if let Some(reason) = &message.stop_reason {
        word += &format!(" {reason}");
    }
    if message.agent_stop_reason.is_some() {
        word += " (not by its own word)";
    }
    if let Some(error) = &message.error {
        word += &format!(" failed: {}", error.code);
    }
    if message.empty {
        word += " empty";
    }
    word
}

/// The word that stands for it in JSON.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// Words in their order; one that comes several times in a row is counted.
pub(crate) fn counted(words: impl Iterator<Item = String>, between: &str) -> String {
    let mut runs: Vec<(String, usize)> = Vec::new();
    for word in words {
        match runs.last_mut() {
            Some((last, count)) if *last == word => *count += 1,
            _ => runs.push((word, 1)),
        }
    }
    let run = |(word, count): (String, usize)| if count == 1 { word } else { format!("{word}*{count}") };
    runs.into_iter().map(run).collect::<Vec<_>>().join(between)
}
