//! Conversations with ACP agents.
mod conversation;
mod conversations;
mod core;
mod error;
mod event;
mod failure;
mod fold;
mod hub;
mod message;
mod part;
mod permission;
mod prompt;
mod text;
mod tool;
mod transcript;

pub use conversation::Conversation;
pub use conversations::{AgentDirectory, AgentProfile, Conversations, Options};
pub use error::{AnswerError, CODES, SendError};
pub use event::{Event, Offer, Outcome, ResolvedBy, TurnPhase, TurnState};
pub use failure::Failure;
pub use hub::Subscription;
pub use message::{Message, MessageId, Role, SYSTEM_CODES};
pub use part::{Diff, Location, OtherPart, Part, PartKind, PlanEntry, ToolPart};
pub use permission::{Action, Choice, Danger, DangerLevel, Permission, PermissionId};
pub use prompt::Prompt;
pub use text::Text;
pub use transcript::Transcript;
