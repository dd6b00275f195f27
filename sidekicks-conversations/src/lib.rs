//! Conversations with agents that speak the [Agent Client Protocol](https://agentclientprotocol.com) (ACP): messages
//! made of parts, one turn at a time, questions, and every change as an event.
//!
//! One call sends a message; the events tell everything that comes of it. This program says one thing to an agent,
//! prints the answer as it comes, and allows what the agent asks for, once:
//!
//! ```
//! use std::collections::HashMap;
//!
//! use sidekicks_acp::AgentName;
//! use sidekicks_conversations::{AgentProfile, Conversations, Event, Options, PartKind};
//! # use serde_json::json;
//! # use sidekicks_acp::testing::{self, Peer};
//! # fn an_agent() -> impl sidekicks_acp::Connector {
//! #     testing::agent(async |mut peer: Peer| {
//! #         peer.shake_hands().await;
//! #         peer.open("s1").await;
//! #         let prompt = peer.prompted().await;
//! #         let call = json!({"toolCallId": "t1", "title": "ls", "kind": "execute", "rawInput": {"command": "ls"}});
//! #         peer.ask(&json!(1), "s1", call, &[("yes", "allow_once"), ("no", "reject_once")]).await;
//! #         peer.answer(&json!(1)).await;
//! #         peer.say("s1", "There is one file").await;
//! #         peer.say("s1", " here.").await;
//! #         peer.end_turn(&prompt, "end_turn").await;
//! #         peer.farewell().await;
//! #     })
//! # }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // Any `Connector` does: `SingleAgent::new(AgentCommand::new("my-agent"))` starts a program.
//!     let name = AgentName::from("helper");
//!     let agents = HashMap::from([(name.clone(), AgentProfile::new(an_agent(), std::env::current_dir()?))]);
//!     let conversations = Conversations::new(agents, Options::default());
//!     let helper = conversations.with(&name).ok_or("there is no such agent")?;
//!
//!     let mut events = conversations.subscribe();
//!     helper.send("What is in this folder?")?;
//!     # let mut printed = String::new();
//!     while let Some(event) = events.next().await {
//!         match &*event {
//!             Event::MessageDelta { kind: PartKind::Text, text: Some(text), .. } => {
//!                 print!("{text}");
//!                 # printed.push_str(text);
//!             }
//!             Event::PermissionRequested(permission) => {
//!                 println!("it wants to: {}", permission.title);
//!                 match permission.option("allow_once") {
//!                     Some(option) => helper.answer(&permission.id, &option.id)?,
//!                     None => helper.stop(),
//!                 }
//!             }
//!             // The state that every subscription begins with is a reset, so this is the end of our turn.
//!             Event::TurnChanged { turn, .. } if !turn.busy => break,
//!             _ => {}
//!         }
//!     }
//!     # assert_eq!(printed, "There is one file here.");
//!     Ok(())
//! }
//! ```
//!
//! # What one can rely on
//!
//! - **One stream, in order.** A [`Subscription`] begins with a reset of each conversation, and every later change is
//!   an event. [`Transcript::apply`] is the only way in which a conversation changes, here and in a mirror: whoever
//!   applies all events has what [`Conversation::messages`] gives, at every point. A whole message
//!   ([`Event::MessageUpdated`]) equals all deltas before it.
//! - **Nobody waits for a reader.** One that is more than [`Options::backlog`] events or 16 MiB behind gets a fresh
//!   reset, never an error. [`Subscription::next_batch`] gathers a frame and makes neighbouring changes of one part one,
//!   so that an interface draws once per frame however fast the agent writes. One that must not miss a step, as a printer
//!   of all that is said, is a [`Follower`] of one conversation: for that one the agent does wait, and for 30 seconds at most
//!   those who ask something else of it meanwhile ([`ConnectOptions::stall_timeout`](sidekicks_acp::ConnectOptions::stall_timeout)).
//! - **One turn at a time** in each conversation; agents differ in what they make of two. What is sent meanwhile is
//!   queued, up to [`Options::queue`] messages, and stands where it was sent: before the answer that is being given, whose
//!   [`reply_to`](Message::reply_to) says what it answers. The queue goes on after a turn that ended with a stop reason; after
//!   [`Conversation::stop`] or an error what waits is marked `notSent`: it is neither lost nor sent blindly.
//! - **A turn always ends.** After a cancel it is `cancelled`, whatever the agent calls it, unless the agent crashes; an agent that does not end it
//!   within [`Options::cancel_timeout`] is stopped, and the next message starts it anew. When it ends, no tool is left
//!   open and no question either.
//! - **A question is settled once**: by an answer, by what [decides](#who-answers) in its place, by Stop, by the agent, or
//!   by the end of its turn. A late answer gets [`AnswerError::AlreadyResolved`] and reaches nobody. Questions are asked in
//!   the order in which they came.
//! - **An agent is borrowed for a turn only**, and for as long as a question between turns is open. Its session is kept
//!   while its process lives and the directory gives it the same folder and tool servers. One that is started again resumes
//!   the session, or loads it, where it can (`session-resumed`); where it does not remember what was said, the conversation
//!   says so (`agent-restarted`).
//! - **A mode is set before anything is said**, and a model too, where the [`AgentProfile`] or somebody wants one: many
//!   agents ask for no permission in the mode that they begin in. What the agent refuses keeps the prompt back; what it does
//!   not confirm is told (`mode-unconfirmed`).
//! - **Nothing that was typed is lost**: what did not reach the agent can be [sent again](Conversation::resend).
//! - **Only what is `async` waits.** [`Conversation::idle`], [`Subscription::next`], [`Subscription::next_batch`] and
//!   [`Follower::next`] are cancel-safe. Dropping a subscription ends nothing. When the last [`Conversations`] and the last
//!   [`Conversation`] are dropped, running turns are cancelled and subscriptions end with `None`.
//! - **Memory** holds what was said, once: snapshots and events share it, and so do the versions of a tool whose output
//!   grows. It is kept until it is forgotten or the conversations are dropped, but no more of one part than the first 64 MiB of a text, or
//!   2 MiB at each end of a tool's output; `omitted` counts the rest, in snapshots and mirrors alike.
//!
//! # Events as JSON
//!
//! Every event is `{"event": NAME, "payload": {…}}` and is read back as what it was, so a web page or another process
//! can hold the mirror. Keys are camelCase; values are the protocol's own words. What has no value is absent; only in
//! `usage:changed` and `agent:changed`, where absent is what did not change, `null` says that there is none any more.
//! Their JSON Schema is the file `events.schema.json` of this package, and with the feature `schemars` what
//! `Event::schema` gives. It allows properties that it does not know, since a later version may add some.
//!
//! ```json
//! {"event":"conversation:reset","payload":{"agent":"a","messages":[],"busy":false,"queued":0,"phase":"idle","failedTools":0,"permissions":[],"commands":[],"configOptions":[]}}
//! {"event":"message:updated","payload":{"agent":"a","message":{"id":"m1","role":"user","parts":[{"kind":"text","text":"Hello"}],"at":1767225600000,"queued":false,"notSent":false}}}
//! {"event":"turn:changed","payload":{"agent":"a","busy":true,"queued":0,"phase":"starting","failedTools":0}}
//! {"event":"message:delta","payload":{"agent":"a","messageId":"m2","index":0,"kind":"text","text":"Hel"}}
//! {"event":"message:delta","payload":{"agent":"a","messageId":"m2","index":1,"kind":"tool","part":{"kind":"tool","id":"t1","title":"ls","toolKind":"execute","status":"pending","input":{"command":"ls"},"output":"","diffs":[],"locations":[]}}}
//! {"event":"permission:requested","payload":{"id":"p3","agent":"a","messageId":"m2","toolCallId":"t1","title":"rm a","action":"run_command","command":"rm a","paths":[],"diffs":[],"rawInput":{"command":"rm a"},"dangers":[{"code":"deletes-files","level":"destructive","start":0,"end":2}],"options":[{"id":"y","kind":"allow_once","name":"Yes"}]}}
//! {"event":"permission:resolved","payload":{"id":"p3","agent":"a","outcome":"selected","option":"y","by":"user"}}
//! {"event":"permission:resolved","payload":{"id":"p4","agent":"a","outcome":"selected","option":"n","by":"rule","rule":{"decide":"deny","command":"git push *"},"permission":{"id":"p4","agent":"a","messageId":"m2","toolCallId":"t2","title":"git push","action":"run_command","command":"git push","paths":[],"diffs":[],"rawInput":{"command":"git push"},"dangers":[],"options":[{"id":"n","kind":"reject_once","name":"No"}]}}}
//! {"event":"permission:resolved","payload":{"id":"p5","agent":"a","outcome":"selected","option":"y","by":"policy","policy":"allow_reads","permission":{"id":"p5","agent":"a","title":"Read a","action":"read_file","paths":["a"],"diffs":[],"rawInput":null,"dangers":[],"options":[{"id":"y","kind":"allow_once","name":"Yes"}]}}}
//! {"event":"usage:changed","payload":{"agent":"a","usage":{"used":10,"size":100}}}
//! {"event":"agent:changed","payload":{"agent":"a","commands":[{"name":"init","description":"Begin"}]}}
//! {"event":"agent:changed","payload":{"agent":"a","commands":[],"modes":null,"title":null}}
//! {"event":"usage:changed","payload":{"agent":"a","usage":null}}
//! ```
//!
//! | event | says | applied by |
//! |---|---|---|
//! | `conversation:reset` | the whole conversation | taking it in place of what was there |
//! | `message:updated` | a whole message, new or changed | replacing the one of this id, or adding it at the end |
//! | `message:delta` | a fragment (`text`) or a whole part (`part`) | appending to part `index`, or replacing it; one beyond the last begins a part |
//! | `turn:changed` | the turn as it is | replacing it |
//! | `permission:requested`, `permission:resolved` | a question came, or is settled | adding it, or removing the one of this id, if it is there |
//! | `usage:changed`, `agent:changed` | what the session tells of itself | replacing what is there, or removing it where `null`; what is absent did not change |
//!
//! # What a command may destroy
//!
//! [`Permission::dangers`] flags each piece of a command that may destroy data, or of which that cannot be told, with a
//! code of [`DANGER_CODES`] and its place; [`dangers`] does so for any command. The command is read as a shell reads it:
//! behind `sudo` and `xargs`, inside `$( )`, in text that is given to another shell. That is the feature `dangers`, on by
//! default; its parser needs Rust 1.94.1, the rest 1.88. Without it every command is flagged `not-analysed`.
//!
//! # Who answers
//!
//! A question goes through these, in this order, until one settles it:
//!
//! 1. the [`Rule`]s of the agent's [profile](AgentProfile::rules): the first that fits,
//! 2. the [`Policy`] of the profile,
//! 3. the [`Decider`]: code of yours; it is passed over where a rule wants a person to be asked, or is in doubt,
//! 4. a person, who is told by [`Event::PermissionRequested`] and answers with [`Conversation::answer`], for as long as
//!    [`Options::permission_timeout`] lets the question be open.
//!
//! Rules and policies are data, and never widen what is asked: they allow once and refuse once. A question that is settled
//! before a person was asked is told by [`Event::PermissionResolved`] alone, which then has the whole of it.
//!
//! ```
//! use sidekicks_conversations::{AgentProfile, Decide, Policy, Rule};
//!
//! # fn profile(agent: impl sidekicks_acp::Connector) -> AgentProfile {
//! AgentProfile::new(agent, "/home/me/project").policy(Policy::AllowReads).rules([
//!     Rule::new(Decide::Deny).command("git push *"),
//!     Rule::new(Decide::Allow).command("cargo test *"),
//! ])
//! # }
//! ```
//!
//! # When something goes wrong
//!
//! A wrong call is refused at once and changes nothing:
//!
//! | error | what to do |
//! |---|---|
//! | [`SendError::Empty`] | say something |
//! | [`SendError::QueueFull`] | wait for an answer, or [stop](Conversation::stop) |
//! | [`SendError::NoSuchAgent`] | the directory has it no more; what was said can still be read |
//! | [`SendError::Closed`], [`RequestError::Closed`] | nothing: the runtime that the conversations were made in is gone, or the program's own code (a directory, a clock) panicked in it |
//! | [`SendError::NoSuchMessage`], [`SendError::WasSent`], [`UnqueueError`] | look at the message as it is now |
//! | [`RequestError`] | choose one of those that are offered; or what the agent or the connection says |
//! | [`AnswerError::AlreadyResolved`] | nothing: take the question off the screen |
//! | [`AnswerError::NoSuchOption`] | choose one of [`Permission::options`]; the question is still open |
//!
//! Everything else is told by events, with codes that an interface has sentences for. A message that did not reach the
//! agent is `notSent` and has an `error`; an answer that broke off has one too. [`Failure`] holds everything that is known:
//! a code of [`sidekicks_acp::CODES`], `mode-refused` or `model-refused`, the reason in the agent's own words, whether the prompt was sent, exit code or
//! signal, the last lines of stderr, the ways to log in. System messages carry one of [`SYSTEM_CODES`]. Texts of agents
//! may hold control characters: make them harmless before they reach a terminal.

/// What the README shows compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "config")]
mod config;
mod conversation;
mod conversations;
mod core;
mod danger;
mod decider;
mod directory;
mod errand;
mod error;
mod event;
mod failure;
mod fold;
mod hub;
mod id;
mod limits;
mod message;
mod options;
mod part;
mod permission;
mod policy;
mod prompt;
#[cfg(feature = "schemars")]
mod schema;
mod task;
mod text;
mod tool;
mod transcript;
mod wish;

pub use conversation::Conversation;
pub use conversations::Conversations;
pub use danger::dangers;
pub use decider::{Decider, Decision};
pub use directory::{AgentDirectory, AgentProfile};
pub use error::{AnswerError, CODES, RequestError, SendError, UnqueueError};
pub use event::{Event, LOOP_THRESHOLD, Offer, Outcome, ResolvedBy, TurnPhase, TurnState};
pub use failure::Failure;
pub use hub::{Follower, Subscription};
pub use id::{MessageId, PermissionId};
pub use message::{Message, Role, SYSTEM_CODES};
pub use options::Options;
pub use part::{Diff, Location, OtherPart, Part, PartKind, PlanEntry, ToolPart};
pub use permission::{Action, Choice, DANGER_CODES, Danger, DangerLevel, Permission};
pub use policy::{Decide, Policy, Rule};
pub use prompt::Prompt;
pub use text::Text;
pub use transcript::Transcript;
