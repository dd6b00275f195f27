//! What every test of a connection does.

use std::time::Duration;

use sidekicks_acp::schema::{ContentBlock, SessionId, TextContent};
use sidekicks_acp::{AgentConnection, Connection, OpenSession, SessionEvent, SessionEvents};

/// More than anything here takes. Where the time is paused it passes at once when nothing can happen any more.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1_000);

pub(crate) fn s1() -> SessionId {
    SessionId::new("s1")
}

pub(crate) fn text(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::Text(TextContent::new(text))]
}

pub(crate) async fn next(events: &mut SessionEvents) -> Option<SessionEvent> {
    tokio::time::timeout(PATIENCE, events.next()).await.expect("the next event comes")
}

pub(crate) async fn opened(connection: &Connection) -> SessionEvents {
    let mut events = connection.open(OpenSession::new("/tmp")).unwrap();
    let first = next(&mut events).await;
    assert!(matches!(first, Some(SessionEvent::Opened(Ok(_)))), "{first:?}");
    events
}
