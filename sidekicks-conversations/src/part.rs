//! The parts of a message.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sidekicks_acp::schema::{AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink};

use crate::limits::readable;
use crate::text::Text;

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// What is said, in Markdown. Fragments are appended to it.
    #[non_exhaustive]
    Text {
        /// The Markdown: the first 64 MiB of it.
        text: Text,
        /// How many bytes came after that, and are not kept.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted: usize,
    },
    /// The agent's reasoning. Fragments are appended to it.
    #[non_exhaustive]
    Thought {
        /// The reasoning, in Markdown: the first 64 MiB of it.
        text: Text,
        /// How many bytes came after that, and are not kept.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted: usize,
    },
    /// A tool that the agent uses; the whole part is replaced as it goes on.
    Tool(Arc<ToolPart>),
    /// What the agent means to do; replaced as it goes on.
    #[non_exhaustive]
    Plan {
        /// The steps, in order.
        entries: Arc<[PlanEntry]>,
    },
    /// A picture.
    Image(Arc<ImageContent>),
    /// A sound.
    Audio(Arc<AudioContent>),
    /// The contents of a resource.
    Resource(Arc<EmbeddedResource>),
    /// The address of a resource.
    ResourceLink(Arc<ResourceLink>),
    /// Something that this version does not know.
    Other(Arc<OtherPart>),
}

/// The kind of a part, as in its JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is the kind of the Part of the same name")]
pub enum PartKind {
    Text,
    Thought,
    Tool,
    Plan,
    Image,
    Audio,
    Resource,
    ResourceLink,
    Other,
}

/// Something that this version does not know, as the agent sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct OtherPart {
    /// The agent's word for it.
    pub r#type: String,
    /// All of it.
    pub raw: Value,
}

impl OtherPart {
    /// Something of this word.
    pub fn new(word: impl Into<String>, raw: Value) -> Self {
        Self { r#type: word.into(), raw }
    }
}

/// A tool that the agent uses. Words that ACP does not know are kept as they are.
///
/// A new version of it shares with the one before what did not change, and of an output that grew what was there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolPart {
    /// The agent's id of the call; unique in its session at most.
    pub id: String,
    /// What it does, for a person.
    pub title: String,
    /// `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `switch_mode` or `other`.
    pub tool_kind: String,
    /// `pending`, `in_progress`, `completed` or `failed`; and in the end, where the agent left it open, `cancelled` or
    /// `unfinished`.
    pub status: String,
    /// What the tool was given, as the agent sent it. Of an agent that tells it in no other way than by streaming it as
    /// the content of the open call: that.
    #[serde(default)]
    pub input: Arc<Value>,
    /// How many bytes of the output are not kept. They were between its first 2 MiB and its last.
    // Before `output`, so that two that differ are told apart without reading both.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: usize,
    /// Where in `output` they are missing, in bytes from its beginning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_at: usize,
    /// What it gave, as text: all of it up to 4 MiB, else its first and its last 2 MiB.
    #[serde(default)]
    pub output: Text,
    /// What it changes or changed.
    #[serde(default)]
    pub diffs: Arc<[Diff]>,
    /// Where it works.
    #[serde(default)]
    pub locations: Arc<[Location]>,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diff {
    /// The file.
    pub path: String,
    /// What it said before; absent for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// What it says then.
    pub new_text: String,
}

impl Diff {
    /// A new file with this text.
    pub fn new(path: impl Into<String>, new_text: impl Into<String>) -> Self {
        Self { path: path.into(), old_text: None, new_text: new_text.into() }
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Location {
    /// The file.
    pub path: String,
    /// The line, as the agent counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl Location {
    /// A file as a whole.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), line: None }
    }
}

/// One step of a plan. Words that ACP does not know are kept as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
}

impl PlanEntry {
    /// A step of these words.
    pub fn new(content: impl Into<String>, priority: impl Into<String>, status: impl Into<String>) -> Self {
        Self { content: content.into(), priority: priority.into(), status: status.into() }
    }
}

impl Part {
    /// What kind of part it is.
    pub fn kind(&self) -> PartKind {
        match self {
            Self::Text { .. } => PartKind::Text,
            Self::Thought { .. } => PartKind::Thought,
            Self::Tool(_) => PartKind::Tool,
            Self::Plan { .. } => PartKind::Plan,
            Self::Image(_) => PartKind::Image,
            Self::Audio(_) => PartKind::Audio,
            Self::Resource(_) => PartKind::Resource,
            Self::ResourceLink(_) => PartKind::ResourceLink,
            Self::Other(_) => PartKind::Other,
        }
    }

    /// The part that `block` is in a message: of text one that is appended to, of everything else a whole.
    pub(crate) fn of(block: &ContentBlock) -> Self {
        match block {
            ContentBlock::Text(text) => Self::text(&text.text),
            ContentBlock::Image(image) => Self::Image(Arc::new(image.clone())),
            ContentBlock::Audio(audio) => Self::Audio(Arc::new(audio.clone())),
            ContentBlock::Resource(resource) => Self::Resource(Arc::new(resource.clone())),
            ContentBlock::ResourceLink(link) => Self::ResourceLink(Arc::new(link.clone())),
            other => Self::other("content".to_owned(), serde_json::to_value(other).unwrap_or_default()),
        }
    }

    pub(crate) fn other(word: String, raw: Value) -> Self {
        Self::Other(Arc::new(OtherPart::new(word, readable(raw))))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
