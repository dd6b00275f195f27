//! What an agent tells of its work.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::raw::{RawJson, fits, lenient};
use crate::schema::SessionUpdate;

/// One `session/update`: typed where this version knows it, and always the raw JSON.
///
/// The typed form leaves out what the schema does not know (an unknown tool status, say, or a new kind of content), so
/// whoever wants everything reads the raw one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Update {
    /// The update as the schema has it. One that would take more than 64 MiB so (millions of small values; a long text
    /// takes little more than itself) is not read either.
    pub typed: Result<SessionUpdate, Unrecognised>,
    /// The `update` object as the agent wrote it.
    pub raw: RawJson,
    /// Whether it came while no prompt was pending: agents send titles and usage late, and some go on working. That is
    /// so of a replay too, which only [`SessionEvent::Opened`](crate::SessionEvent::Opened) tells from what follows.
    pub late: bool,
}

/// An update that the schema cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unrecognised {
    /// The value of `sessionUpdate`, empty where there is none.
    pub word: String,
    /// What is wrong with it, for a log.
    pub why: String,
}

impl Update {
    /// Reads the `update` object of a notification, for connections of your own making.
    pub fn new(raw: RawJson) -> Self {
        Self { typed: typed(raw.as_str()), raw, late: false }
    }

    /// An update that was read from `raw`.
    pub(crate) fn known(typed: SessionUpdate, raw: &str) -> Self {
        Self { typed: Ok(typed), raw: RawJson::was_read(raw), late: false }
    }
}

fn typed(raw: &str) -> Result<SessionUpdate, Unrecognised> {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "sessionUpdate")]
        word: String,
    }

    if let Err(error) = fits(raw) {
        return Err(Unrecognised { word: String::new(), why: error.to_string() });
    }
    if let Ok(Known(update)) = serde_json::from_str(raw)
        && has_one_word(raw)
    {
        return Ok(update);
    }
    let word = match lenient::<Tag>(raw) {
        Ok(tag) => tag.word,
        Err(error) => return Err(Unrecognised { word: String::new(), why: error.to_string() }),
    };
    // Some languages write the word last.
    let known = Word::deserialize(word.as_str().into_deserializer());
    let read = known.and_then(|known| known.read(&mut serde_json::Deserializer::from_str(raw)));
    read.or_else(|_| lenient(raw)).map_err(|error| Unrecognised { word, why: error.to_string() })
}

/// Whether the word comes once; of two the last one counts, which [`Known`] does not see.
pub(crate) fn has_one_word(raw: &str) -> bool {
    memchr::memmem::find_iter(raw.as_bytes(), br#""sessionUpdate""#).nth(1).is_none()
}

/// One of the updates that come often, with its word before everything else.
///
/// The schema's own enum is internally tagged, for which serde builds a tree first; going by the word spares that.
#[derive(Debug)]
pub(crate) struct Known(pub(crate) SessionUpdate);

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordFirst;

        impl<'de> Visitor<'de> for WordFirst {
            type Value = SessionUpdate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an update that begins with its word")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SessionUpdate, A::Error> {
                let Some(Key::SessionUpdate) = map.next_key()? else {
                    return Err(A::Error::custom("the word does not come first"));
                };
                let word: Word = map.next_value()?;
                word.read(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(WordFirst).map(Self)
    }
}

#[derive(Deserialize)]
enum Key {
    #[serde(rename = "sessionUpdate")]
    SessionUpdate,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    AgentMessageChunk,
    AgentThoughtChunk,
    ToolCall,
    ToolCallUpdate,
}

impl Word {
    /// Reads the update of this word from its object.
    fn read<'de, D: Deserializer<'de>>(self, object: D) -> Result<SessionUpdate, D::Error> {
        match self {
            Self::AgentMessageChunk => Deserialize::deserialize(object).map(SessionUpdate::AgentMessageChunk),
            Self::AgentThoughtChunk => Deserialize::deserialize(object).map(SessionUpdate::AgentThoughtChunk),
            Self::ToolCall => Deserialize::deserialize(object).map(SessionUpdate::ToolCall),
            Self::ToolCallUpdate => Deserialize::deserialize(object).map(SessionUpdate::ToolCallUpdate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Update {
        Update::new(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn going_by_the_word_reads_what_the_schema_reads() {
        let updates = [
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"1"}"#,
            r#"{"content":{"type":"text","text":"a"},"sessionUpdate":"agent_thought_chunk"}"#,
            r#"{"sessionUpdate":"user_message_chunk","content":{"type":"image","data":"","mimeType":"image/png"}}"#,
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"execute","status":"pending","rawInput":{}}"#,
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[],"rawOutput":"x"}"#,
            r#"{"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}"#,
            r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#,
            r#"{"sessionUpdate":"current_mode_update","currentModeId":"ask"}"#,
            r#"{"sessionUpdate":"available_commands_update","availableCommands":[]}"#,
            r#"{"sessionUpdate":"config_option_update","configOptions":[{"id":"a","name":"A","type":"boolean","currentValue":true}]}"#,
            r#"{"sessionUpdate":"session_info_update","title":null,"updatedAt":"2026-01-01T00:00:00Z","_meta":{"a":1}}"#,
            r#"{"sessionUpdate":"notice","severity":"warning","title":"T"}"#,
            r#"{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed"}"#,
            r#"{"sessionUpdate":"compaction_summary_chunk","compactionId":"c","content":{"type":"text","text":"a"}}"#,
        ];
        for json in updates {
            let update = read(json);
            assert_eq!(update.typed.as_ref().ok(), serde_json::from_str(json).ok().as_ref(), "{json}");
            assert!(update.typed.is_ok(), "{json}");
            assert_eq!(update.raw.as_str(), json);
        }
    }

    #[test]
    fn of_two_words_the_last_one_counts() {
        let content = r#""content":{"type":"text","text":"a"}"#;
        let json =
            format!(r#"{{"sessionUpdate":"agent_thought_chunk","sessionUpdate":"agent_message_chunk",{content}}}"#);
        assert!(matches!(read(&json).typed, Ok(SessionUpdate::AgentMessageChunk(_))), "{:?}", read(&json));
    }

    #[test]
    fn half_a_character_costs_only_itself() {
        let json = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\ud83d"}}"#;
        let update = read(json);
        let Ok(SessionUpdate::AgentMessageChunk(chunk)) = &update.typed else { panic!("{update:?}") };
        assert_eq!(serde_json::to_value(&chunk.content).unwrap()["text"], "a\u{FFFD}");
        assert_eq!((update.raw.as_str(), &update.raw.to_value()["content"]["text"]), (json, &"a\u{FFFD}".into()));
    }

    #[test]
    fn what_the_schema_cannot_hold_is_kept_raw() {
        let cases = [
            (r#"{"sessionUpdate":"hologram","x":1}"#, "hologram"),
            (r#"{"sessionUpdate":"agent_message_chunk"}"#, "agent_message_chunk"),
            (r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"smell"}}"#, "agent_message_chunk"),
            (r#"{"title":"no word"}"#, ""),
            ("7", ""),
        ];
        for (json, word) in cases {
            let update = read(json);
            let unrecognised = update.typed.expect_err(json);
            assert_eq!(unrecognised.word, word, "{json}");
            assert!(!unrecognised.why.is_empty());
            assert_eq!(update.raw.as_str(), json);
        }
    }
}
