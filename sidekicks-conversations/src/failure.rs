//! What went wrong with a message, as data.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sidekicks_acp::schema::AuthMethod;
use sidekicks_acp::{AgentError, CallError, ConnectError, End, ExitStatus, Phase, StartError, StartFailure};

use crate::limits::readable;

/// What went wrong with a message: everything that the crates below knew of it.
///
/// Texts of the agent (`message`, `stderr`, `data`) may hold control characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Failure {
    /// A code of [`sidekicks_acp::CODES`], `mode-refused` or `model-refused`, for which an interface has a sentence.
    pub code: String,
    /// The reason in the words of the agent or of the system; never empty.
    pub message: String,
    /// What was being done.
    pub phase: Phase,
    /// Whether the agent may have seen the prompt.
    pub prompt_sent: bool,
    /// The agent's JSON-RPC error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc_code: Option<i64>,
    /// The data of the agent's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The exit code of the agent's process, 0 to 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the agent's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The last lines that the agent wrote to stderr, and those on stdout that were no messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// The program that was to be started: the file, where one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// When it makes sense to try again, in milliseconds from then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Where a login is needed: the ways there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<AuthMethod>>,
    /// Where the agent refused a mode or a model: the one that it refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// Where the agent refused a mode or a model: those that it offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Vec<String>>,
}

/// The reason, and the program that was to be started: enough for a log. What a person reads is a sentence for the
/// [code](Failure::code).
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.program.iter().try_for_each(|program| write!(f, " ({program})"))
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// Something that went wrong in `phase`, as tests of an interface need it; the rest is set by its fields.
    pub fn new(code: impl Into<String>, message: impl Into<String>, phase: Phase) -> Self {
        Self::because(&code.into(), message.into(), phase, false)
    }

    fn because(code: &str, message: impl ToString, phase: Phase, prompt_sent: bool) -> Self {
        let message = message.to_string();
        Self {
            code: code.to_owned(),
            message: if message.trim().is_empty() { code.to_owned() } else { message },
            phase,
            prompt_sent,
            rpc_code: None,
            data: None,
            exit_code: None,
            signal: None,
            stderr: None,
            program: None,
            retry_after_ms: None,
            methods: None,
            wanted: None,
            offered: None,
        }
    }

    /// The agent refused a mode or a model, or offers others.
    pub(crate) fn of_refusal(code: &str, wanted: String, offered: Vec<String>, error: Option<&CallError>) -> Self {
        let this = match error {
            Some(error) => Self::of_call(error, Phase::Open),
            None if offered.is_empty() => Self::because(code, format!("{wanted:?} is not offered"), Phase::Open, false),
            None => {
                let others = offered.join(", ");
                Self::because(code, format!("{wanted:?} is not offered, but {others}"), Phase::Open, false)
            }
        };
        Self { code: code.to_owned(), wanted: Some(wanted), offered: Some(offered), ..this }
    }

    /// A call to the agent failed in `phase`.
    pub(crate) fn of_call(error: &CallError, phase: Phase) -> Self {
        let prompt_sent = phase == Phase::Prompt && error.sent();
        let this = Self::because(error.code(), call_reason(error), phase, prompt_sent);
        match error {
            CallError::Agent(error) => this.with_agent(error),
            CallError::Ended { end, .. } => this.with_end(end),
            _ => this,
        }
    }

    /// No connection was to be had.
    pub(crate) fn of_connect(error: &ConnectError) -> Self {
        match error {
            ConnectError::Start(error) => Self::of_start(error),
            ConnectError::Backoff { retry_after, last } => {
                let retry_after_ms = Some(millis(*retry_after));
                Self { code: "backoff".to_owned(), retry_after_ms, ..Self::of_start(last) }
            }
            other => Self::because(other.code(), other, Phase::Spawn, false),
        }
    }

    fn of_start(error: &StartError) -> Self {
        let mut this = Self::because(error.code(), reason(&error.failure), error.phase(), false);
        let file = error.resolved.as_ref().map(|file| file.as_os_str()).or(error.program.as_deref());
        this.program = file.map(|program| program.to_string_lossy().into_owned());
        match &*error.failure {
            StartFailure::Handshake(CallError::Agent(error)) => this = this.with_agent(error),
            StartFailure::Left(end) => this = this.with_end(end),
            _ => {}
        }
        if let Some(status) = error.exit {
            this = this.with_status(status);
        }
        let mut lines = error.noise.clone();
        lines.extend((!error.stderr.is_empty()).then(|| error.stderr.clone()));
        this.stderr = (!lines.is_empty()).then(|| lines.join("\n"));
        this
    }

    fn with_agent(self, error: &AgentError) -> Self {
        let methods = error.login_required().then(|| error.methods.clone());
        Self { rpc_code: Some(error.code), data: error.data.clone().map(readable), methods, ..self }
    }

    fn with_end(self, end: &End) -> Self {
        match end.exit() {
            Some(exit) => {
                let stderr = (!exit.stderr.is_empty()).then(|| exit.stderr.clone());
                Self { stderr, ..self.with_status(exit.status) }
            }
            None => self,
        }
    }

    fn with_status(self, status: ExitStatus) -> Self {
        Self { exit_code: status.code(), signal: status.signal(), ..self }
    }
}

/// What the system or the agent says of it; what kind of failure it is says the code.
fn reason(failure: &StartFailure) -> String {
    match failure {
        StartFailure::NotFound { path } if !path.is_empty() => path.to_string_lossy().into_owned(),
        StartFailure::BadCwd { path, source } => format!("{}: {source}", path.display()),
        StartFailure::BadInterpreter { interpreter: Some(path), source } => format!("{path:?}: {source}"),
        StartFailure::BadInterpreter { interpreter: None, source }
        | StartFailure::NotExecutable(source)
        | StartFailure::Busy(source)
        | StartFailure::Spawn(source) => source.to_string(),
        StartFailure::Handshake(error) => call_reason(error),
        StartFailure::UnsupportedVersion { theirs } => theirs.clone(),
        other => other.to_string(),
    }
}

fn call_reason(error: &CallError) -> String {
    match error {
        CallError::Malformed(why) => why.clone(),
        other => other.to_string(),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
