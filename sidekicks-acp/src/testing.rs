//! A scripted agent, for tests of programs that embed this crate (feature `testing`).
//!
//! The script is an async closure that holds the agent's end of a connection, a [`Peer`], and so can do everything an
//! agent does, and everything it should not. An embedder's first test:
//!
//! ```
//! use sidekicks_acp::testing::{self, Peer};
//! use sidekicks_acp::{Borrow, Connector, OpenSession, SessionEvent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = testing::agent(async |mut peer: Peer| {
//!     peer.shake_hands().await;
//!     peer.open("s1").await;
//! });
//! let lease = agent.borrow(Borrow::by("a test")).await?;
//! let mut events = lease.connection().open(OpenSession::new("/"))?;
//! assert!(matches!(events.next().await, Some(SessionEvent::Opened(Ok(_)))));
//! # Ok(())
//! # }
//! ```
//!
//! # Scripts that know something
//!
//! An agent may be started several times. Each start has a clone of what the script captured, to use up as it likes:
//!
//! ```
//! # use sidekicks_acp::testing::{self, Peer};
//! let answers = vec!["One.".to_owned(), "Two.".to_owned()];
//! let agent = testing::agent(async move |mut peer: Peer| {
//!     peer.shake_hands().await;
//!     peer.open("s1").await;
//!     for answer in answers {
//!         let prompt = peer.prompted().await;
//!         peer.say("s1", &answer).await;
//!         peer.end_turn(&prompt, "end_turn").await;
//!     }
//!     peer.farewell().await;
//! });
//! ```
//!
//! What all starts share goes in an `Arc`; a script that tells the test something captures the sender of an `mpsc`
//! channel.
//!
//! # Bad weather
//!
//! Real agents write banners, colours and broken bytes between their messages, answer twice, and leave in the middle of
//! a line. For each of these there is a step; this crate is tested with the same ones.
//!
//! ```
//! # use serde_json::{Value, json};
//! # use sidekicks_acp::testing::{self, Form, Peer};
//! # use sidekicks_acp::{Borrow, Connector};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = testing::agent(async |mut peer: Peer| {
//!     peer.noise("A new version is available!").await;
//!     peer.shake_hands().await;
//!     for form in Form::ALL {
//!         let call = peer.expect("vendor/ping").await;
//!         peer.send_as(*form, &json!({ "id": call["id"], "result": "pong" })).await;
//!     }
//! });
//! let lease = agent.borrow(Borrow::by("a test")).await?;
//! for _ in Form::ALL {
//!     assert_eq!(lease.connection().call_raw("vendor/ping", Value::Null).await?, "pong");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # As a program
//!
//! With the feature `process` the same script is a real agent, for tests of what only processes do.
#![cfg_attr(feature = "process", doc = "See [`serve`].")]

mod bad_weather;
mod good_weather;
mod peer;
#[cfg(feature = "process")]
mod program;

use std::future::Future;

use tokio::io::{duplex, split};

pub use bad_weather::Form;
pub use peer::Peer;
#[cfg(feature = "process")]
pub use program::serve;

use crate::{ConnectOptions, Connection, SingleAgent, StartError};

/// An agent whose every start runs a clone of `script`. When that returns, the connection is closed, as in a crash.
pub fn agent<F, S>(script: F) -> SingleAgent
where
    F: FnOnce(Peer) -> S + Clone + Send + Sync + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    SingleAgent::connecting(move || {
        let script = script.clone();
        async move { connect(script, &ConnectOptions::default()).await }
    })
}

/// Connects to `script` once.
///
/// # Errors
/// When the script does not shake hands.
pub async fn connect<F, S>(script: F, options: &ConnectOptions) -> Result<Connection, StartError>
where
    F: FnOnce(Peer) -> S,
    S: Future<Output = ()> + Send + 'static,
{
    let (ours, theirs) = duplex(64 * 1024);
    let (reader, writer) = split(theirs);
    tokio::spawn(script(Peer::over(reader, writer)));
    let (reader, writer) = split(ours);
    Connection::over(reader, writer, options).await
}
