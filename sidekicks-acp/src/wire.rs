//! From bytes to messages: what an agent wrote, line by line, made sense of.
//!
//! Nothing here waits or knows a session. Agents write banners, logs, colours and broken bytes between their messages;
//! the contract is that every message among them is found and nothing else is ever answered.

mod addressed;
mod cleaning;
mod cursor;
mod cut;
mod gathering;
mod lines;
mod message;
mod reader;
mod surrogates;
mod update_line;

pub(crate) use addressed::Addressed;
pub(crate) use cut::Cut;
#[cfg(feature = "process")]
pub(crate) use lines::{Line, Lines};
pub(crate) use message::Message;
pub(crate) use reader::{Heard, MessageReader};
pub(crate) use surrogates::mended;
pub(crate) use update_line::UpdateLine;
