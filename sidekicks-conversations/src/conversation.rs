//! One conversation: the handle, and the task that waits for its agent.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sidekicks_acp::{AgentName, Borrow, ConnectError, End, Lease, SessionEvent, SessionEvents};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, sleep_until};

use crate::conversations::Common;
use crate::core::{Core, Ticket};
use crate::error::{AnswerError, SendError};
use crate::hub::{Follower, Room};
use crate::id::{MessageId, PermissionId};
use crate::prompt::Prompt;
use crate::transcript::Transcript;

/// The conversation with one agent. Cheap to clone; all clones are the same.
///
/// Nothing here waits for the agent but [`idle`](Self::idle): what comes of a call is told by the events.
#[derive(Clone)]
pub struct Conversation {
    shared: Arc<Shared>,
}

struct Shared {
    common: Arc<Common>,
    agent: AgentName,
    /// Who borrows. No other conversation is called so: each waits for itself alone.
    owner: String,
    core: Mutex<Core>,
    /// The core wants something else than the task waits for.
    changed: Arc<Notify>,
    busy: watch::Receiver<bool>,
}

impl Conversation {
    pub(crate) fn begin(agent: AgentName, common: Arc<Common>, runtime: &Handle) -> Self {
        let (busy_sender, busy) = watch::channel(false);
        let changed = Arc::new(Notify::new());
        let core = Core::new(agent.clone(), Arc::clone(&common), busy_sender);
        let room = common.hub.room(&agent);
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let owner = format!("conversation {} with {agent}", NUMBERS.fetch_add(1, Ordering::Relaxed));
        let core = Mutex::new(core);
        let shared = Arc::new(Shared { common, agent, owner, core, changed: Arc::clone(&changed), busy });
        runtime.spawn(run(Arc::downgrade(&shared), changed, room));
        Self { shared }
    }

    /// Whose conversation it is.
    pub fn agent(&self) -> &AgentName {
        &self.shared.agent
    }

    /// Says `prompt` to the agent, or queues it when a turn runs. Never waits; the message is in the transcript when
    /// this returns.
    ///
    /// # Errors
    /// When the message is empty, too many wait already, or the agent is gone. Nothing has changed then.
    pub fn send(&self, prompt: impl Into<Prompt>) -> Result<MessageId, SendError> {
        self.with_core(|core| core.send(prompt.into()))
    }

    /// Stops: cancels the turn that runs, and marks what is queued as not sent. Harmless when nothing runs.
    ///
    /// An agent that is being started is not waited for. Otherwise the turn ends by itself, usually at once; after
    /// [`Options::cancel_timeout`](crate::Options::cancel_timeout) it is ended here, and the agent is stopped.
    pub fn stop(&self) {
        self.with_core(Core::stop);
    }

    /// Cancels the turn that runs; the queue goes on. Otherwise as [`stop`](Self::stop).
    pub fn cancel_turn(&self) {
        self.with_core(Core::cancel_turn);
    }

    /// Answers a question of the agent with the option of this id.
    ///
    /// # Errors
    /// When the question is settled already: the answer reaches nobody. When there is no such option.
    pub fn answer(&self, permission: &PermissionId, option: &str) -> Result<(), AnswerError> {
        self.with_core(|core| core.answer(permission, option))
    }

    /// The conversation as it is now. Cheap, also while the agent writes.
    pub fn messages(&self) -> Arc<Transcript> {
        self.shared.common.hub.transcript(&self.shared.agent)
    }

    /// Everything that happens here, without a gap: the agent waits for one who follows and does not read.
    pub fn follow(&self) -> Follower {
        self.shared.common.hub.follow(&self.shared.agent)
    }

    /// Waits until no turn runs and nothing is queued. Cancel-safe.
    pub async fn idle(&self) {
        let mut busy = self.shared.busy.clone();
        // The sender lives in the core, and the core in `self`.
        let _ = busy.wait_for(|busy| !busy).await;
    }

    fn with_core<T>(&self, call: impl FnOnce(&mut Core) -> T) -> T {
        let result = call(&mut self.shared.core());
        self.shared.changed.notify_one();
        result
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.changed.notify_one(); // The task has nothing to wait for any more.
    }
}

impl Shared {
    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("agent", &self.shared.agent).finish_non_exhaustive()
    }
}

/// What the task waits for.
#[expect(clippy::large_enum_variant, reason = "one lives at a time, for a moment")]
enum Input {
    Deadline,
    Changed,
    Session(Option<SessionEvent>),
    Borrowed(Ticket, Result<Lease, ConnectError>),
}

type Borrowing = Pin<Box<dyn Future<Output = Result<Lease, ConnectError>> + Send>>;

/// Waits for the agent on behalf of the core, until the last handle is gone.
async fn run(conversation: Weak<Shared>, changed: Arc<Notify>, room: Room) {
    let mut borrowing: Option<(Ticket, Borrowing)> = None;
    let mut session: Option<SessionEvents> = None;
    loop {
        let Some(shared) = conversation.upgrade() else { return };
        let (wanted, change, deadline) = {
            let mut core = shared.core();
            (core.wants_lease(), core.take_session_change(), core.deadline())
        };
        // Outside the lock: a start that is given up is killed here, and questions that are dropped are answered.
        match wanted {
            None => borrowing = None,
            Some((ticket, _)) if borrowing.as_ref().is_some_and(|(pending, _)| *pending == ticket) => {}
            Some((ticket, connector)) => {
                let request = Borrow::by(&*shared.owner);
                borrowing = Some((ticket, Box::pin(async move { connector.borrow(request).await })));
            }
        }
        if let Some(change) = change {
            session = change;
        }
        drop(shared);
        let full = room.is_full();
        // What the agent said comes before what is had anew: the end of a session before its successor.
        let input = tokio::select! {
            biased;
            () = at(deadline) => Input::Deadline,
            () = changed.notified() => Input::Changed,
            () = room.made(), if full => Input::Changed,
            event = next(&mut session), if !full => Input::Session(event),
            (ticket, lease) = lease(&mut borrowing) => Input::Borrowed(ticket, lease),
        };
        let Some(shared) = conversation.upgrade() else { return };
        match input {
            Input::Deadline => shared.core().passed(Instant::now()),
            Input::Changed => {}
            Input::Session(Some(event)) => shared.core().hear(event),
            Input::Session(None) => {
                session = None;
                shared.core().hear(SessionEvent::Ended(End::Closed));
            }
            Input::Borrowed(ticket, lease) => {
                borrowing = None;
                shared.core().borrowed(ticket, lease);
            }
        }
        drop(shared);
        // An agent that never pauses must not keep those who listen to it from running.
        consume_budget().await;
    }
}

async fn lease(borrowing: &mut Option<(Ticket, Borrowing)>) -> (Ticket, Result<Lease, ConnectError>) {
    match borrowing {
        Some((ticket, pending)) => (*ticket, pending.await),
        None => std::future::pending().await,
    }
}

async fn next(session: &mut Option<SessionEvents>) -> Option<SessionEvent> {
    match session {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
