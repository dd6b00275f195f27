//! How conversations behave.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::decider::Decider;

/// How conversations behave.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// How many messages may wait in one conversation. Default: 100.
    pub queue: usize,
    /// How long an agent may take to end a turn that was cancelled, before the turn is ended here and the agent is
    /// stopped. `Duration::MAX` waits for as long as it takes. Default: 10 seconds.
    pub cancel_timeout: Duration,
    /// How long an agent that works may say nothing at all until
    /// [`TurnState::silent_since`](crate::TurnState::silent_since) tells so. `Duration::MAX` is never. Default: 60 seconds.
    pub silence: Duration,
    /// How many events a subscriber may be behind before it gets a reset, at least 1. One that is 16 MiB behind gets one
    /// too. Default: 4096.
    pub backlog: usize,
    /// How long a question may be open before it is answered without anybody: refused once, else "cancelled".
    /// `Duration::MAX` is for as long as it takes. Default: that.
    pub permission_timeout: Duration,
    /// Who is asked before a person is. Default: nobody.
    pub decider: Option<Arc<dyn Decider>>,
    /// The time of day, in milliseconds since the Unix epoch. Default: the system's.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Options {
    /// Lets so many messages wait in one conversation.
    pub fn queue(mut self, messages: usize) -> Self {
        self.queue = messages;
        self
    }

    /// Gives an agent this long to end a turn that was cancelled.
    pub fn cancel_timeout(mut self, timeout: Duration) -> Self {
        self.cancel_timeout = timeout;
        self
    }

    /// Lets an agent be silent for so long before that is told.
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Lets a subscriber be so many events behind.
    pub fn backlog(mut self, events: usize) -> Self {
        self.backlog = events;
        self
    }

    /// Gives a question this long to be answered, from when it came.
    pub fn permission_timeout(mut self, timeout: Duration) -> Self {
        self.permission_timeout = timeout;
        self
    }

    /// Asks `decider` before a person.
    pub fn decider(mut self, decider: impl Decider + 'static) -> Self {
        self.decider = Some(Arc::new(decider));
        self
    }

    /// Takes the time of day from `clock`. It is asked while a conversation is locked: it must not block, nor call into
    /// conversations.
    pub fn clock(mut self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            queue: 100,
            cancel_timeout: Duration::from_secs(10),
            silence: Duration::from_secs(60),
            backlog: 4096,
            permission_timeout: Duration::MAX,
            decider: None,
            clock: Arc::new(system_clock),
        }
    }
}

fn system_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, cancel_timeout, silence, backlog, permission_timeout, decider, clock: _ } = self;
        f.debug_struct("Options")
            .field("queue", queue)
            .field("cancel_timeout", cancel_timeout)
            .field("silence", silence)
            .field("backlog", backlog)
            .field("permission_timeout", permission_timeout)
            .field("has_decider", &decider.is_some())
            .finish_non_exhaustive()
    }
}
