//! The built-in agent: answers, thinks, plans, runs a command or writes a file when told to, and asks before.
//!
//! It needs no network and no model, so the first run of sidekicks works on a fresh machine. It is written on the
//! official SDK, and is what people try an interface with: honest, quick and well-behaved. Only JSON-RPC goes to
//! stdout. It ends when its stdin is closed, and with it every command, but for what left the command's process group.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AvailableCommandsUpdate, CancelNotification, CloseSessionRequest, CloseSessionResponse,
    Implementation, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse, PromptCapabilities,
    PromptRequest, SessionCapabilities, SessionCloseCapabilities, SessionUpdate, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::{Agent, Client, Error, LineDirection, Stdio, on_receive_notification, on_receive_request};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use outlet::Outlet;
use pace::Pace;
use permission::Mode;
use prompt::Prompt;
use sessions::Sessions;
use turn::Turn;

mod answer;
mod command;
mod directive;
mod edit;
mod outlet;
mod pace;
mod permission;
mod prompt;
mod sessions;
mod tail;
mod tool;
mod turn;

/// How long the last lines may take after stdin was closed: the client may well have stopped reading.
const FAREWELL: Duration = Duration::from_millis(50);

/// Serves stdin and stdout until stdin is closed or a signal says to stop.
pub(crate) fn main() -> ExitCode {
    let served = tokio::runtime::Builder::new_current_thread().enable_all().build().and_then(|runtime| {
        let served = runtime.block_on(serve());
        // Not the ordinary drop, which would wait for a file that takes its time.
        runtime.shutdown_background();
        served
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sidekicks demo-agent: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> std::io::Result<()> {
    let mut signals = Signals::new()?;
    let (close, mut closed) = watch::channel(false);
    // Whichever comes first, the others are dropped, and with the connection all that runs for it.
    let served = tokio::select! {
        biased;
        served = connect(close) => served,
        () = overdue(&mut closed) => Ok(()),
        () = signals.next() => Ok(()),
    };
    match served {
        // The client is gone, so it is no matter that it did not read the last lines.
        Err(_) if *closed.borrow() => Ok(()),
        served => served.map_err(std::io::Error::other),
    }
}

/// Waits until the time after the end of stdin is over, too.
async fn overdue(closed: &mut watch::Receiver<bool>) {
    // It fails when the connection is over, which then tells more.
    let _ = closed.wait_for(|closed| *closed).await;
    tokio::time::sleep(FAREWELL).await;
}

async fn connect(close: watch::Sender<bool>) -> Result<(), Error> {
    let pace = Arc::new(Pace::new());
    let transport = Stdio::new().with_debug({
        let pace = pace.clone();
        move |line, direction| {
            if let LineDirection::Stdout = direction {
                pace.wrote(line);
            }
        }
    });
    let sessions = Sessions::new();
    let (opening, prompting, cancelling) = (sessions.clone(), sessions.clone(), sessions.clone());
    let (setting, closing) = (sessions.clone(), sessions);
    let (opening_pace, prompting_pace) = (pace.clone(), pace);

    // The handlers run in the connection's loop and so never wait; what takes time is spawned.
    Agent
        .v1()
        .name("sidekicks-demo")
        .on_receive_request(
            async |_: InitializeRequest, responder, _| responder.respond(introduction()),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, connection: ConnectionTo<Client>| {
                let id = opening.open(request.cwd)?;
                responder.respond(NewSessionResponse::new(id.clone()).modes(Mode::offer()))?;
                let outlet = Outlet::new(connection.clone(), opening_pace.clone(), id);
                connection.spawn(async move {
                    let commands = AvailableCommandsUpdate::new(answer::commands());
                    outlet.send(SessionUpdate::AvailableCommandsUpdate(commands)).await?;
                    Ok(())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection: ConnectionTo<Client>| {
                let running = prompting.begin(&request.session_id)?;
                let outlet = Outlet::new(connection.clone(), prompting_pace.clone(), request.session_id);
                connection.spawn(async move {
                    Turn::new(running, outlet).run(Prompt::new(request.prompt), responder).await;
                    Ok(())
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _| {
                cancelling.cancel(&request.session_id);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| {
                setting.set_mode(&request.session_id, &request.mode_id)?;
                responder.respond(SetSessionModeResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| {
                closing.close(&request.session_id)?;
                responder.respond(CloseSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_close(async move |_| {
            close.send_replace(true);
            Ok(())
        })
        .connect_to(transport)
        .await
}

/// Who we are and what we take. Version 1 is all we speak, whatever was offered.
fn introduction() -> InitializeResponse {
    let prompts = PromptCapabilities::new().image(true).audio(true).embedded_context(true);
    let sessions = SessionCapabilities::new().close(SessionCloseCapabilities::new());
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_info(
            Implementation::new("sidekicks-demo", env!("CARGO_PKG_VERSION")).title("Sidekicks demo agent".to_owned()),
        )
        .agent_capabilities(AgentCapabilities::new().prompt_capabilities(prompts).session_capabilities(sessions))
}

/// The signals that mean: stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for any of them.
    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
