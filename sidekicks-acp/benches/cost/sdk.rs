//! The official SDK with a typed handler, over the same kind of pipes and on the same runtime.

use std::ffi::OsString;
use std::hint::black_box;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionId, SessionNotification, TextContent,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::Command;
use tokio::sync::Notify;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::agent;
use crate::measure::{Flood, cpu_time};

/// When a call is taken to wait for ever.
pub(crate) const NEVER: Duration = Duration::from_secs(2);

/// What the handler saw.
#[derive(Default)]
struct Seen {
    count: AtomicUsize,
    first: Notify,
}

/// Takes a flood, and gives the CPU time that it took.
pub(crate) fn take(flood: Flood) -> Duration {
    let seen = Arc::new(Seen::default());
    connected(agent::flooding(flood), flood.stall, &seen, async |connection, _child| {
        let session = opened(&connection).await?;
        let before = cpu_time();
        connection.send_request(prompt(session)).block_task().await?;
        let took = cpu_time() - before;
        assert_eq!(seen.count.load(Ordering::Relaxed), flood.updates);
        opened(&connection).await.expect("the connection lives");
        Ok(took)
    })
}

/// From the agent's death to the failure of what waits for it, [`NEVER`] at most.
pub(crate) fn killed(grandchild: bool) -> Duration {
    let seen = Arc::new(Seen::default());
    connected(agent::silent(grandchild), Duration::ZERO, &seen, async |connection, child| {
        let session = opened(&connection).await?;
        let call = connection.send_request(prompt(session)).block_task();
        let death = async {
            seen.first.notified().await; // By that the agent says that it heard.
            let begun = Instant::now();
            kill(child, Signal::SIGKILL).expect("it lives");
            begun
        };
        let failure = async {
            call.await.expect_err("nobody answers");
            Instant::now()
        };
        let both = tokio::time::timeout(NEVER, async { tokio::join!(death, failure) }).await;
        Ok(both.map_or(NEVER, |(begun, failed)| failed - begun))
    })
}

/// Runs `client` on a connection whose handler counts in `seen` and, at first, takes the time of `stall`.
fn connected(
    (program, args): (OsString, Vec<String>),
    stall: Duration,
    seen: &Arc<Seen>,
    client: impl AsyncFnOnce(ConnectionTo<Agent>, Pid) -> Result<Duration, Error>,
) -> Duration {
    let seen = Arc::clone(seen);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be had");
    runtime.block_on(async move {
        let mut child =
            Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
        let input = child.stdin.take().expect("it is piped").compat_write();
        let output = child.stdout.take().expect("it is piped").compat();
        let pid = Pid::from_raw(child.id().expect("it was not waited for").cast_signed());
        Client
            .v1()
            .on_receive_notification(
                async move |update: SessionNotification, _| {
                    black_box(update);
                    if seen.count.fetch_add(1, Ordering::Relaxed) == 0 {
                        seen.first.notify_one();
                        tokio::time::sleep(stall).await;
                    }
                    Ok(())
                },
                on_receive_notification!(),
            )
            .connect_with(ByteStreams::new(input, output), async |connection| {
                connection.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
                client(connection, pid).await
            })
            .await
            .expect("the agent does its part")
    })
}

async fn opened(connection: &ConnectionTo<Agent>) -> Result<SessionId, Error> {
    Ok(connection.send_request(NewSessionRequest::new("/")).block_task().await?.session_id)
}

fn prompt(session: SessionId) -> PromptRequest {
    PromptRequest::new(session, vec![ContentBlock::Text(TextContent::new("Go."))])
}
