//! A connection against a scripted agent.

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod cancel;
mod handshake;
mod order;
mod questions;
mod sessions;

use std::time::Duration;

use common::{PATIENCE, next, opened, s1, text};
use sidekicks_acp::schema::{ContentBlock, SessionId, SessionUpdate};
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{
    AgentConnection, ConnectOptions, Connection, OpenSession, PermissionRequest, SessionEvent, SessionEvents,
};

async fn connect<S: Future<Output = ()> + Send + 'static>(script: impl FnOnce(Peer) -> S) -> Connection {
    testing::connect(script, &ConnectOptions::default()).await.expect("the script shakes hands")
}

async fn question(events: &mut SessionEvents) -> PermissionRequest {
    match next(events).await {
        Some(SessionEvent::Permission(request)) => request,
        other => panic!("expected a question, not {other:?}"),
    }
}

/// One event in a word or two.
fn word(event: &SessionEvent) -> String {
    match event {
        SessionEvent::Opened(Ok(session)) => format!("opened {}", session.id),
        SessionEvent::Opened(Err(error)) => format!("not opened: {}", error.code()),
        SessionEvent::Update(update) => {
            let late = if update.late { " (late)" } else { "" };
            match &update.typed {
                Ok(SessionUpdate::AgentMessageChunk(chunk)) => match &chunk.content {
                    ContentBlock::Text(text) => format!("{}{late}", text.text),
                    _ => format!("a chunk{late}"),
                },
                Ok(_) => format!("an update{late}"),
                Err(unrecognised) => format!("other {}{late}", unrecognised.word),
            }
        }
        SessionEvent::Permission(request) => format!("asks {}", request.raw.to_value()["toolCall"]),
        SessionEvent::Elicitation(request) => format!("elicits {}", request.message),
        SessionEvent::Notification(notification) => format!("notification {}", notification.method),
        SessionEvent::Withdrawn(_) => "withdrawn".to_owned(),
        SessionEvent::TurnEnded { end: Ok(end), .. } => format!("{} sent={}", end.stop_reason, end.prompt_sent),
        SessionEvent::TurnEnded { end: Err(error), .. } => format!("failed: {} sent={}", error.code(), error.sent()),
        SessionEvent::Ended(end) => format!("ended: {}", end.code()),
        other => format!("{other:?}"),
    }
}

/// All events up to the end of the connection or of the queue.
async fn rest(events: &mut SessionEvents) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(event) = next(events).await {
        words.push(word(&event));
    }
    words
}
