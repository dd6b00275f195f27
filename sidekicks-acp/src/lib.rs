//! Talk to a local [ACP](https://agentclientprotocol.com) agent: one child process, one connection, its sessions.
//!
//! Other programs have written the agent. It may stand behind `npx` or a shell wrapper, print banners between its
//! messages, ignore SIGTERM or never read its stdin; this crate goes on all the same, says readably what went wrong, and
//! leaves nothing running.
//!
//! ```no_run
//! use sidekicks_acp::schema::{ContentBlock, SessionUpdate, TextContent};
//! use sidekicks_acp::{AgentCommand, AgentConnection, AgentProcess, ConnectOptions, OpenSession, SessionEvent, StopPolicy};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let command = AgentCommand::new("opencode").arg("acp");
//!     let agent = AgentProcess::start(&command, &ConnectOptions::default(), &StopPolicy::default()).await?;
//!     let mut events = agent.connection().open(OpenSession::new(std::env::current_dir()?))?;
//!     while let Some(event) = events.next().await {
//!         match event {
//!             SessionEvent::Opened(session) => {
//!                 let hello = ContentBlock::Text(TextContent::new("What is this project?"));
//!                 agent.connection().prompt(&session?.id, vec![hello])?;
//!             }
//!             SessionEvent::Update(update) => {
//!                 if let Ok(SessionUpdate::AgentMessageChunk(chunk)) = update.typed
//!                     && let ContentBlock::Text(text) = chunk.content
//!                 {
//!                     print!("{}", text.text);
//!                 }
//!             }
//!             SessionEvent::Permission(request) => request.cancel()?, // or request.select(id of one of its options)
//!             SessionEvent::TurnEnded { end, .. } => {
//!                 println!("\n{}", end?.stop_reason);
//!                 break;
//!             }
//!             _ => {}
//!         }
//!     }
//!     agent.stop().await;
//!     Ok(())
//! }
//! ```
//!
//! # What is here
//!
//! - [`AgentProcess`] starts a program and shakes hands; [`Connection`] is the wire, over a process or any pair of streams.
//!   A [`Guard`] ends such programs although this one is killed.
//! - [`AgentConnection`] is what a connection does, and [`Connector`] where one is borrowed: the two traits through which
//!   other crates meet. [`SingleAgent`] is a connector for one agent, without a supervisor.
//! - [`SessionEvents`] is everything that one session says; [`PermissionRequest`] and [`ElicitationRequest`] carry their
//!   own reply. [`AgentConnection::event`] is what belongs to no session.
//! - [`Recorder`] writes the wire down, for bug reports.
//! - [`schema`] is the protocol's own words.
#![cfg_attr(
    feature = "testing",
    doc = "- [`testing`] is a scripted agent, in memory or as a program, for tests of programs that embed this crate."
)]
//!
//! # What can be relied on
//!
//! - **Order.** What a session says comes through one queue in the order in which the agent wrote it: the outcome of
//!   opening first, then updates, questions and ends of turns. An update that was written before the reply to a prompt
//!   comes before [`SessionEvent::TurnEnded`], and one written after it comes after. What came before the agent answered
//!   `session/new` follows the opening; what comes before the answer to `session/load` is its replay.
//! - **Everything ends.** Each prompt has exactly one `TurnEnded`. Every other call ends with its result, an error, a
//!   timeout or the end of the connection; a prompt has no timeout, since an agent may work for hours.
//! - **Bounded.** A line is read up to [`Limits::line`]; what waits to be written is at most [`Limits::outbox`]
//!   (and as much again for answers to the agent's questions); a session
//!   that nobody reads holds [`Limits::session_queue`] and then makes the agent wait. If others wait behind it for
//!   [`ConnectOptions::stall_timeout`], its session is given up. Dropped [`SessionEvents`] make nobody wait.
//! - **Cancel-safe.** Every future of this crate may be dropped at any time: a dropped start kills what was started, a
//!   dropped call ignores its reply, a dropped stop goes on. They need a tokio runtime with its time enabled.
//! - **Nothing survives.** Whether an agent is stopped, dropped, crashes or is killed: its process group is ended, and on
//!   Linux all that it started, wherever that went. All its processes carry the variable `SIDEKICKS_AGENT`, by which they
//!   are found; only one that cleared its environment *and* left its group, its session and its parent is not, nor is what
//!   a system service was asked to start. With a [`Guard`] the same holds when this program is killed.
//! - **Dropping.** Dropping an [`AgentProcess`] kills its process group and (on Linux) its descendants at once and needs
//!   no runtime. Dropping the last [`Connection`] closes it. Dropping a [`PermissionRequest`] or an
//!   [`ElicitationRequest`] answers "cancelled". Dropping a [`Lease`] gives it back.
//!
//! # Methods of the protocol
//!
//! What we send:
//!
//! | method | what happens |
//! |---|---|
//! | `initialize` | by [`AgentProcess::start`] or [`Connection::over`]. Version 1 is offered and nothing higher (some agents switch to a draft); another answer is [`StartFailure::UnsupportedVersion`]. We offer [`ConnectOptions::capabilities`] |
//! | `authenticate` | [`AgentConnection::authenticate`], with a timeout that a person can live with |
//! | `logout` | [`AgentConnection::logout`], where the agent offers it |
//! | `session/new` | [`AgentConnection::open`]; `mcpServers` is always sent, folders are always absolute |
//! | `session/load`, `session/resume` | the same, with [`OpenSession::load`] and [`OpenSession::resume`], where the agent offers them |
//! | `session/list`, `session/delete` | [`AgentConnection::list_sessions`], [`AgentConnection::delete_session`], where the agent offers them |
//! | `session/close` | [`AgentConnection::close_session`], where the agent offers it; and by itself for a session that was opened for nobody |
//! | `session/prompt` | [`AgentConnection::prompt`]; text and links for every agent, images, audio and embedded resources for those that take them |
//! | `session/cancel` | [`AgentConnection::cancel`], before everything that waits to be written, and only while a prompt is pending; open questions are answered "cancelled" with it |
//! | `session/set_mode` | [`AgentConnection::set_mode`] |
//! | `session/set_config_option` | [`AgentConnection::set_config_option`], booleans with their `type` |
//! | `session/set_model` | [`AgentConnection::set_model`]: no longer in the protocol, and some agents know nothing else |
//! | `$/cancel_request` | for a call that timed out, a login that nobody waits for any more, and a load that was given up or begun anew |
//! | anything else | [`AgentConnection::call_raw`] |
//!
//! What the agent sends:
//!
//! | method | what happens |
//! |---|---|
//! | `session/update` | [`SessionEvent::Update`], typed where the schema can hold it, and always raw; so every kind of update comes, those newer than the schema too |
//! | `session/request_permission` | [`SessionEvent::Permission`], also where its parts are broken or missing |
//! | `elicitation/create` | answered "declined"; with `elicitation` in [`ConnectOptions::capabilities`] it is [`SessionEvent::Elicitation`], or [`ConnectionEvent::Elicitation`] where it belongs to no session |
//! | `$/cancel_request` | withdraws its question: [`SessionEvent::Withdrawn`] |
//! | `fs/*`, `terminal/*` | not offered, and answered "method not found" |
//! | any other request | answered "method not found", with the id exactly as it was written |
//! | `elicitation/complete`, a vendor's or any other notification | [`SessionEvent::Notification`] where it names a session that is open, else [`ConnectionEvent::Notification`] |
//! | what is no message | counted, never answered: [`Connection::traffic`] |
//!
//! `_meta` is kept wherever it comes: in the typed forms, and in the raw JSON beside them. [`OpenSession::meta`] sends it.
//!
//! # Errors
//!
//! Each has a `code()` out of [`CODES`], for programs that word errors themselves. [`StartError`]: it did not start; its
//! stderr and noise usually say why. [`ConnectError`]: no connection was to be had. [`CallError`]: a call failed, and
//! [`sent`](CallError::sent) tells whether the agent may have seen it. [`AgentError`]: the agent itself answered with an
//! error, with its own explanation as the message. [`End`]: how a connection or a session ended. [`AnswerError`]: an
//! answer to a question of the agent reached nobody.
//!
//! # Features and platforms
//!
//! - `process` (default): agents as child processes. Unix only; elsewhere leave it out and bring a transport of your own.
//!   Developed on Linux. On macOS, where processes are listed by `ps`, it is meant to work, and has not been run yet:
//!   descendants outside the process group are found there only while their parents live, and never by their environment.
//! - `testing`: the scripted agent.
//!
//! Rust 1.88 or newer.

mod agent_info;
mod borrow;
mod calls;
mod connection;
mod connection_event;
mod connector;
mod error;
mod name;
mod options;
mod outbox;
#[cfg(feature = "process")]
mod process;
mod raw;
mod recorder;
mod report;
mod router;
pub mod schema;
mod session;
mod single;
mod start;
mod stop;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod wire;

pub use agent_info::AgentInfo;
pub use borrow::Borrow;
pub use connection::Connection;
pub use connection_event::{ConnectionEvent, Notification};
pub use connector::{AgentConnection, ConnectError, Connector, Generation, Lease, LeaseGuard};
pub use error::{AgentError, AnswerError, CODES, CallError, End, Exit, ExitStatus, Phase, StopCause};
pub use name::AgentName;
pub use options::{ConnectOptions, Limits};
#[cfg(feature = "process")]
pub use process::{AgentCommand, AgentProcess, Guard, Isolation, Swept};
pub use raw::RawJson;
pub use recorder::Recorder;
pub use report::Traffic;
pub use session::{
    ElicitationOutcome, ElicitationRequest, OpenSession, OpenedSession, PermissionOption, PermissionOutcome,
    PermissionRequest, PromptId, QuestionId, SessionEvent, SessionEventSender, SessionEvents, SessionOrigin,
    StopReason, TurnEnd, Unrecognised, Update,
};
pub use single::SingleAgent;
pub use start::{StartError, StartFailure};
pub use stop::{StopPolicy, StopReport, StopStep};

#[cfg(all(feature = "process", not(unix)))]
compile_error!("the feature `process` of sidekicks-acp needs a Unix system; without it, bring a transport of your own");
