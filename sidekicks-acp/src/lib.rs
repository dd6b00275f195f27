//! Talk to a local ACP agent.
mod agent_info;
mod connection;
mod connector;
mod error;
mod name;
mod options;
mod outbox;
#[cfg(feature = "process")]
mod process;
mod raw;
mod report;
mod router;
pub mod schema;
mod session;
mod single;
mod start;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod wire;

pub use agent_info::AgentInfo;
pub use connection::Connection;
pub use connector::{AgentConnection, Borrow, ConnectError, Connector, Generation, Lease, LeaseGuard};
pub use error::{AgentError, AnswerError, CODES, CallError, End, Exit, ExitStatus, Phase, StopCause};
pub use name::AgentName;
pub use options::{ConnectOptions, Limits};
#[cfg(feature = "process")]
pub use process::{AgentCommand, AgentProcess, Isolation, StopPolicy, StopReport, StopStep};
pub use raw::RawJson;
pub use report::Traffic;
pub use session::{
    OpenSession, OpenedSession, PermissionOption, PermissionRequest, PromptId, QuestionId, SessionEvent,
    SessionEventSender, SessionEvents, StopReason, TurnEnd, Unrecognised, Update,
};
pub use single::SingleAgent;
pub use start::{StartError, StartFailure};

#[cfg(all(feature = "process", not(unix)))]
compile_error!("the feature `process` of sidekicks-acp needs a Unix system; without it, bring a transport of your own");
