//! Many local [ACP](https://agentclientprotocol.com) agents over time: started when they are needed, lent out for the
//! length of a turn, stopped when they were idle for long or others need the room, and ended with what they started. What can
//! survive that is said at [`Guard`](sidekicks_acp::Guard).
//!
//! ```no_run
//! use std::num::NonZeroUsize;
//!
//! use sidekicks_acp::{AgentCommand, Borrow, Connector, Guard};
//! use sidekicks_agents::{AgentSpec, Options, Specs, Supervisor};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut options = Options::default();
//!     // A folder of this program's own: its agents are ended also when it is killed.
//!     options.guard = Some(Guard::start("/home/me/.local/state/my-program").await?);
//!     let agents = Supervisor::new(options);
//!
//!     let mut specs = Specs::new()
//!         .agent("codex", AgentSpec::new(AgentCommand::new("codex-acp")))
//!         .agent("gemini", AgentSpec::new(AgentCommand::new("gemini").arg("--acp")));
//!     specs.max_running = NonZeroUsize::new(1);
//!     agents.apply(specs)?;
//!
//!     for name in ["codex", "gemini", "codex"] {
//!         let lease = agents.agent(name).borrow(Borrow::by("me")).await?; // Starts it, and stops the other one.
//!         println!("{:?}", lease.connection().agent().implementation);
//!     } // The lease is given back here; the agent stays until somebody needs its room.
//!     agents.shutdown().await; // All at once, each in its own time.
//!     Ok(())
//! }
//! ```
//!
//! A lease is the connection of `sidekicks-acp`: sessions are opened and prompts sent on it as is told there. An [`Agent`]
//! is a [`Connector`](sidekicks_acp::Connector), so `sidekicks-conversations` takes it as it is.
//!
//! # What is here
//!
//! - [`Supervisor`] is all agents, and [`Agent`] one of them by name, to borrow.
//! - [`Specs`] and [`AgentSpec`] say which agents there are, how they are started, and how much room they have.
//! - With the feature `config` a configuration file of `sidekicks-config` makes them: `Specs::from_config`.
//! - [`Supervisor::states`] and [`Supervisor::changes`] show what they do; [`AgentState`] is one of them at one moment.
//! - [`Launcher`] and [`RunningAgent`] are for agents that are reached in another way than as child processes.
//!
//! # What can be relied on
//!
//! - **One process each.** An agent has one process at a time. Each start has the next
//!   [`Generation`](sidekicks_acp::Generation), never used again; a session lives in one of them.
//! - **Room.** Those that are starting or stopping count as running until their process is reaped, so there are never more
//!   than [`Specs::max_running`], nor more than [`Specs::max_memory`] when one starts. A start is never interrupted to make
//!   room, and neither is a turn; the idle agent that was used longest ago is stopped, and no more of them than it takes.
//! - **Fair.** There is one queue, first come first served. Who asks for a running agent with a free turn goes first, for
//!   [`Options::max_bypass`]; then who waits for room is next. A deadline is absolute.
//! - **Cancel-safe.** Every future of this crate may be dropped at any time: a borrow gives its place up or its lease back,
//!   a start that was begun goes on, and so does a stop.
//! - **Dropping.** A dropped lease gives its agent back with one message: nothing is awaited, and no runtime is needed.
//!   Dropping the last handle stops all agents in the background. Dropping the runtime kills them.
//! - **Crashes.** The end of an agent is noticed at once, and nobody is lent a connection that has ended. It starts again
//!   when somebody borrows it. After three failures in a minute nothing is tried for a while, see [`Backoff`].
//! - **Stopping.** As [`AgentProcess::stop`](sidekicks_acp::AgentProcess::stop) does it, all at once, so it takes as long as
//!   the slowest: 11 seconds with the default [`StopPolicy`](sidekicks_acp::StopPolicy) where an agent ignores everything.
//!   A caller that is itself killed after some time must be given more than that.
//!
//! # Errors
//!
//! Borrowing fails with a [`ConnectError`](sidekicks_acp::ConnectError):
//!
//! | error | when | what to do |
//! |---|---|---|
//! | `Start` | it could not be started, or not until the deadline | show its text and stderr |
//! | `Backoff` | it failed several times | wait, or [`Agent::reset`] when something was put right |
//! | `NoRoom` | the deadline passed while `holders` held the agent or the room | wait for them |
//! | `WouldDeadlock` | everybody who holds a lease waits for another | give a lease back first |
//! | `TooLarge` | it does not fit beside the pinned agents | unpin one, or raise the limit |
//! | `Stopped` | it was stopped while it was waited for | |
//! | `Unknown` | there is no agent of this name | |
//! | `Closed` | the supervisor was shut down | |
//!
//! # Platforms
//!
//! Unix only, as the feature `process` of `sidekicks-acp`. Rust 1.88 or newer.

mod actor;
#[cfg(feature = "config")]
mod config;
mod core;
mod launch;
mod observe;
mod specs;
mod state;
mod supervisor;
mod waiting;
mod watcher;

pub use launch::{Launch, Launcher, Processes, RunningAgent};
pub use observe::Changes;
pub use specs::{AgentSpec, Backoff, Specs, SpecsError};
pub use state::{Activity, AgentState};
pub use supervisor::{Agent, Options, Supervisor};
