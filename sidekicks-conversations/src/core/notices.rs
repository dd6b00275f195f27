//! What an agent tells of its work that is no part of an answer: notices, and that it compacts its context.

use std::collections::HashMap;
use std::mem;

use serde_json::{Map, Value, json};
use sidekicks_acp::Update;
use sidekicks_acp::schema::SessionUpdate;

use super::Core;
use crate::id::MessageId;

/// How much is kept of what is told so, in bytes.
const LIMIT: usize = 64 * 1024;

/// How often the agent made its context smaller, by its own ids: each time is one message, which stays where the
/// conversation was when it began (<https://agentclientprotocol.com/rfds/session-compaction>).
pub(super) type Compactions = HashMap<String, Compaction>;

pub(super) struct Compaction {
    message: MessageId,
    running: bool,
    /// What came of the summary since it was told last.
    summary: String,
}

impl Core {
    /// Tells `update`, if it is of this kind.
    pub(super) fn noticed(&mut self, update: &Update) -> bool {
        match &update.typed {
            Ok(SessionUpdate::Notice(_)) => self.say("notice", notice(&update.raw.to_value())),
            Ok(SessionUpdate::CompactionUpdate(_)) => self.compacts(&update.raw.to_value()),
            Ok(SessionUpdate::CompactionSummaryChunk(_)) => self.summarises(&update.raw.to_value()),
            _ => return false,
        }
        true
    }

    fn compacts(&mut self, update: &Value) {
        let id = word(&update["compactionId"]);
        let running = update["status"] == "in_progress";
        if let Some(known) = self.compactions.get_mut(id) {
            known.running = running;
            let (message, chunks) = (known.message.clone(), mem::take(&mut known.summary));
            return self.change(&message, |message| patch(message.params.get_or_insert_default(), update, &chunks));
        }
        let mut params = Map::new();
        patch(&mut params, update, "");
        let message = self.system_message("context-compacted", params);
        let known = Compaction { message: message.id.clone(), running, summary: String::new() };
        self.compactions.insert(id.to_owned(), known);
        self.update(message);
    }

    /// The summary is told with the next update, and not with each of its pieces.
    fn summarises(&mut self, chunk: &Value) {
        let id = word(&chunk["compactionId"]);
        if !self.compactions.contains_key(id) {
            self.compacts(&json!({"compactionId": id, "status": "in_progress"}));
        }
        if let Some(known) = self.compactions.get_mut(id) {
            append(&mut known.summary, word(&chunk["content"]["text"]));
        }
    }

    /// The session is over: what was not ended never will be.
    pub(super) fn leave_compactions(&mut self) {
        for known in mem::take(&mut self.compactions).into_values().filter(|known| known.running) {
            let end = json!({"status": "unfinished"});
            self.change(&known.message, |message| patch(message.params.get_or_insert_default(), &end, &known.summary));
        }
    }
}

fn notice(notice: &Value) -> Map<String, Value> {
    let mut params = Map::new();
    for (name, key) in [("text", "title"), ("description", "description"), ("severity", "severity")] {
        let mut text = String::new();
        append(&mut text, word(&notice[key]));
        if !text.is_empty() {
            params.insert(name.to_owned(), text.into());
        }
    }
    params
}

/// What is absent stays, `null` takes away, anything else takes the place of what was there.
fn patch(params: &mut Map<String, Value>, update: &Value, chunks: &str) {
    params.insert("status".to_owned(), update["status"].clone());
    let before = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (mut summary, mut error) = (before("summary"), before("error"));
    append(&mut summary, chunks);
    if let Some(whole) = update.get("summary") {
        summary.clear();
        whole.as_array().into_iter().flatten().for_each(|block| append(&mut summary, word(&block["text"])));
    }
    if let Some(whole) = update.get("error") {
        error.clear();
        append(&mut error, word(whole));
    }
    for (key, text) in [("summary", summary), ("error", error)] {
        match text.is_empty() {
            true => _ = params.remove(key),
            false => _ = params.insert(key.to_owned(), text.into()),
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Adds as much of `more` as there is room for.
pub(super) fn append(text: &mut String, more: &str) {
    let room = LIMIT.saturating_sub(text.len());
    text.extend(more.char_indices().take_while(|(at, char)| at + char.len_utf8() <= room).map(|(_, char)| char));
}
