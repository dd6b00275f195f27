//! What real agents said, said again to conversations.
//!
//! The recordings are not part of this project. They are looked for in `transcripts` under `SIDEKICKS_AGENT_TOOLS`; each is
//! `AGENT/SCENARIO.jsonl`. What comes of them is kept here as its shape alone: no text, title, id, name or command, since
//! those are other people's. What cannot be replayed, and why, is told by [`scene::LeftOut`].

#[path = "../common/mod.rs"]
mod common;
mod recording;
mod scene;
mod scribe;
mod shape;
mod stage;
mod unrecorded;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use scene::Scene;
use serde_json::{Value, json};
use shape::{counted, message_word, word};
use sidekicks_conversations::{Event, Part, Role, Transcript};
use stage::EARLIER;

/// How many scenes there are in how many recordings, and how many starts of agents are not played
/// ([`recording::NO_PROMPT`]): a loader that finds less is broken.
const PLAYED: (usize, usize, usize) = (317, 291, 30);

/// The folder of the recordings, if there is one.
fn transcripts() -> Option<PathBuf> {
    let Some(tools) = std::env::var_os("SIDEKICKS_AGENT_TOOLS") else {
        println!("skipped: SIDEKICKS_AGENT_TOOLS is not set");
        return None;
    };
    let folder = PathBuf::from(tools).join("transcripts");
    if !folder.is_dir() {
        println!("skipped: there are no transcripts in {}", folder.display());
        return None;
    }
    Some(folder)
}

fn entries(folder: &PathBuf) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_real_agents_said_becomes_a_conversation() {
    let Some(folder) = transcripts() else { return };
    let (mut scenes, mut recordings, mut skipped) = (0, 0, 0);
    let mut left_out = BTreeMap::<_, usize>::new();
    for agent in entries(&folder) {
        let mut lines = Vec::new();
        for path in entries(&agent) {
            let (played, not_played) = recording::read(&path);
            recordings += 1;
            scenes += played.len();
            skipped += not_played.len();
            not_played.iter().for_each(|reason| println!("skipped: a start in {}: {reason}", path.display()));
            for scene in &played {
                scene.left_out.iter().for_each(|what| *left_out.entry(*what).or_default() += 1);
                lines.push(line(scene).await);
            }
        }
        let agent = agent.file_name().expect("a name").to_string_lossy().into_owned();
        insta::assert_snapshot!(agent, lines.join("\n"));
    }
    left_out.iter().for_each(|(what, count)| println!("without {}: {count}", what.word()));
    assert_eq!((scenes, recordings, skipped), PLAYED);
}

/// What comes of a scene.
async fn line(scene: &Scene) -> String {
    let (mut talk, prompts) = stage::play(scene).await;
    let events = talk.told().await; // And the mirror of them equals the conversation.
    let transcript = talk.with.messages();
    check(scene, &transcript, prompts);
    let questions = scene.questions();
    let messages: Vec<_> = transcript.messages.iter().map(|message| message_word(message, &questions)).collect();
    let mut line = format!("{}: {}", scene.name, messages.join(" | "));
    line += &offer(&transcript);
    let settled = events.iter().filter_map(|event| match &**event {
        Event::PermissionResolved { outcome, by, .. } => Some(format!("{} by {}", word(outcome), word(by))),
        _ => None,
    });
    let settled = counted(settled, ", ");
    if !settled.is_empty() {
        line += &format!("; permissions {settled}");
    }
    if !scene.left_out.is_empty() {
        let words: Vec<_> = scene.left_out.iter().map(|what| what.word()).collect();
        line += &format!(" (without {})", words.join(", "));
    }
    line
}

/// What holds for every conversation.
fn check(scene: &Scene, transcript: &Transcript, prompts: usize) {
    const KNOWN: [&str; 11] = [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
    ];
    const ENDED: [&str; 4] = ["completed", "failed", "cancelled", "unfinished"];
    let name = &scene.name;
    for part in transcript.messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Other(other) => assert!(!KNOWN.contains(&other.r#type.as_str()), "{name}: {} is known", other.r#type),
            Part::Tool(tool) => {
                assert!(ENDED.contains(&tool.status.as_str()), "{name}: a tool is left {}", tool.status)
            }
            _ => {}
        }
    }
    assert!(transcript.messages.iter().all(|message| message.is_finished()), "{name}: a message is not finished");
    assert!(transcript.permissions.is_empty() && !transcript.turn.busy, "{name}: it is not over");
    let sent = transcript.messages.iter().filter(|message| message.role == Role::User).count();
    assert_eq!(sent, prompts, "{name}: what was said is there");
    let answered: Vec<_> = transcript.messages.iter().filter_map(|message| message.reply_to.as_ref()).collect();
    let unsent = transcript.messages.iter().filter(|message| message.role == Role::User && message.not_sent);
    let unanswered = unsent.filter(|message| !answered.contains(&&message.id));
    assert_eq!(answered.len() + unanswered.count(), prompts, "{name}: one answer for each prompt that was sent");
    assert!(answered.windows(2).all(|pair| pair[0] != pair[1]), "{name}: each prompt is answered once");
    check_recalled(scene, transcript);
}

/// What holds for one with an agent that was started again.
fn check_recalled(scene: &Scene, transcript: &Transcript) {
    let name = &scene.name;
    let codes: Vec<_> = transcript.messages.iter().filter_map(|message| message.code.as_deref()).collect();
    let of_sessions = |code: &&str| matches!(*code, "session-resumed" | "agent-restarted");
    let Some(recalled) = &scene.recalled else {
        return assert!(!codes.iter().any(of_sessions), "{name}: nothing is recalled");
    };
    let expected = if recalled.remembered { "session-resumed" } else { "agent-restarted" };
    assert_eq!(codes.iter().filter(|code| of_sessions(code)).collect::<Vec<_>>(), [&expected], "{name}");
    assert_eq!(transcript.messages[3].code.as_deref(), Some(expected), "{name}: it stands between question and answer");
    let shown = json!(transcript.messages).to_string();
    for update in scene.replayed().iter().map(|message| &message["params"]["update"]) {
        for again in [&update["content"]["text"], &update["toolCallId"]].into_iter().filter_map(Value::as_str) {
            let again = json!(again).to_string();
            assert!(!shown.contains(again.trim_matches('"')), "{name}: {again} is told again");
        }
    }
}

/// What the agent told of its session; what an earlier start told and this one did not is "kept".
fn offer(transcript: &Transcript) -> String {
    let modes = transcript.modes.as_ref().map_or(&[][..], |modes| &modes.available_modes);
    let commands: Vec<_> = transcript.commands.iter().map(|command| command.name.as_str()).collect();
    let modes: Vec<_> = modes.iter().map(|mode| mode.name.as_str()).collect();
    let options: Vec<_> = transcript.config_options.iter().map(|option| option.name.as_str()).collect();
    let mut words = String::new();
    for (word, names) in [("commands", commands), ("modes", modes), ("options", options)] {
        match names[..] {
            [] => {}
            [EARLIER] => words += &format!("; {word} kept"),
            _ => words += &format!("; {word} {}", names.len()),
        }
    }
    if transcript.usage.is_some() {
        words += "; usage";
    }
    match transcript.title.as_deref() {
        None => {}
        Some(EARLIER) => words += "; title kept",
        Some(_) => words += "; title",
    }
    words
}
