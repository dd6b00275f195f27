//! What one session says to the client.

use std::sync::Arc;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, MessageId, RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate,
    ToolCall, ToolCallId, ToolCallUpdate, ToolCallUpdateFields,
};
use agent_client_protocol::{Client, Error};

use super::pace::Pace;
use super::permission::{Tool, Verdict, options, verdict};

/// The way out for the updates of one session. All of them go through here, for the sake of [`Pace`].
#[derive(Debug, Clone)]
pub(super) struct Outlet {
    connection: ConnectionTo<Client>,
    pace: Arc<Pace>,
    session: SessionId,
}

impl Outlet {
    pub(super) fn new(connection: ConnectionTo<Client>, pace: Arc<Pace>, session: SessionId) -> Self {
        Self { connection, pace, session }
    }

    /// Sends an update once the reader has room for it, and returns its number. Cancel-safe.
    pub(super) async fn send(&self, update: SessionUpdate) -> Result<u64, Error> {
        let number = self.pace.admit().await;
        self.connection.send_notification(SessionNotification::new(self.session.clone(), update))?;
        Ok(number)
    }

    /// Sends what changed about a tool call, and returns the number of the update.
    pub(super) async fn update_tool(&self, id: &ToolCallId, fields: ToolCallUpdateFields) -> Result<u64, Error> {
        self.send(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.clone(), fields))).await
    }

    /// Whether the update of this number is on its way to the reader.
    pub(super) fn has_written(&self, number: u64) -> bool {
        self.pace.has_written(number)
    }

    /// Sends a piece of a message.
    pub(super) async fn say(&self, message: &MessageId, text: String) -> Result<(), Error> {
        self.send(SessionUpdate::AgentMessageChunk(chunk(message, text))).await?;
        Ok(())
    }

    /// Sends a piece of a thought.
    pub(super) async fn think(&self, message: &MessageId, text: String) -> Result<(), Error> {
        self.send(SessionUpdate::AgentThoughtChunk(chunk(message, text))).await?;
        Ok(())
    }

    /// Asks the person. Dropping the future withdraws the question, and a late answer is ignored.
    pub(super) async fn ask(&self, tool: Tool, call: ToolCall) -> Verdict {
        let question = RequestPermissionRequest::new(self.session.clone(), call.into(), options(tool));
        verdict(self.connection.send_request(question).block_task().await)
    }
}

fn chunk(message: &MessageId, text: String) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text)).message_id(message.clone())
}
