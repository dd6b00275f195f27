//! The handles: all agents, and one of them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use sidekicks_acp::{AgentName, Borrow, ConnectError, Connector, Guard, Lease, StopReport};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::actor::{Actor, Borrower, Message, Reports, Stop};
use crate::core::{Input, Rules, Ticket, Waiter};
use crate::launch::{Launcher, Processes};
use crate::observe::{Board, Changes, States};
use crate::specs::{Backoff, Specs, SpecsError};
use crate::state::AgentState;
use crate::waiting;

/// How a [`Supervisor`] works. Begin with the default and set what is to differ.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Ends the agents also when this program is killed. Without one, an agent that ignores the end of its stdin lives on
    /// then, and what it started too.
    pub guard: Option<Guard>,
    /// How long borrowers of running agents may go before one who waits for room. Default: 10 seconds.
    pub max_bypass: Duration,
    /// When failed starts are tried again.
    pub backoff: Backoff,
}

impl Default for Options {
    fn default() -> Self {
        Self { guard: None, max_bypass: Duration::from_secs(10), backoff: Backoff::default() }
    }
}

/// Many agents over time. Cheap to clone; all clones are the same.
///
/// When the last of its clones, [`Agent`]s and leases is dropped, all agents are stopped politely in the background. When
/// the runtime ends before that, they are killed.
#[derive(Clone)]
pub struct Supervisor {
    inner: Arc<Inner>,
}

struct Inner {
    mailbox: mpsc::UnboundedSender<Message>,
    board: Board,
    bell: watch::Receiver<()>,
    tickets: AtomicU64,
}

impl Supervisor {
    /// Supervises agents that are child processes; none yet. Must be called in a tokio runtime with its time enabled.
    pub fn new(options: Options) -> Self {
        let processes = options.guard.clone().map_or_else(Processes::new, Processes::guarded);
        Self::with_launcher(options, processes)
    }

    /// The same for agents that `launcher` starts; [`Options::guard`] is its own business then.
    pub fn with_launcher(options: Options, launcher: impl Launcher) -> Self {
        let Options { max_bypass, backoff, guard: _ } = options;
        let board = Board::default();
        let (mailbox, bell) = Actor::spawn(Rules { max_bypass, backoff }, Arc::new(launcher), board.clone());
        Self { inner: Arc::new(Inner { mailbox, board, bell, tickets: AtomicU64::new(0) }) }
    }

    /// Says which agents there are from now on. Returns at once; what is called later, such as a borrow, finds it done.
    /// [`states`](Self::states) shows it a moment later.
    ///
    /// Only what changed is replaced: an agent whose command is another one is stopped when it is idle, and the next
    /// borrower gets a new one; an agent that is not in `specs` any more is stopped when its turns have ended, and is lent
    /// to nobody. Everything else goes on.
    ///
    /// # Errors
    /// When `specs` cannot work. Then nothing has changed.
    pub fn apply(&self, specs: Specs) -> Result<(), SpecsError> {
        specs.check()?;
        self.tell(Input::Apply(specs));
        Ok(())
    }

    /// The agent of this name, whether there is one now or not: borrowing decides.
    pub fn agent(&self, name: impl Into<AgentName>) -> Agent {
        Agent { supervisor: self.clone(), name: name.into() }
    }

    /// All agents as they are.
    pub fn states(&self) -> States {
        self.inner.board.states().clone()
    }

    /// All agents as they are and as they change.
    pub fn changes(&self) -> Changes {
        Changes::new(self.inner.board.clone(), self.inner.bell.clone())
    }

    /// Stops every agent, all at once, whether it is busy or not; tells how those stopped that ran.
    ///
    /// Who waits for an agent gets [`ConnectError::Stopped`]. Agents can be borrowed again at once, and start when they
    /// are gone. Takes as long as the slowest agent: at most the sum of the waits in its
    /// [`StopPolicy`](sidekicks_acp::StopPolicy). Cancel-safe: the stop goes on.
    pub async fn stop_all(&self) -> Reports {
        self.stop(Stop::All).await
    }

    /// The same for good: from now on borrowing fails with [`ConnectError::Closed`]. May be called again, to wait.
    pub async fn shutdown(&self) -> Reports {
        self.stop(Stop::ForGood).await
    }

    /// Takes the next step of every stop that is under way now, also of what left by itself, as a person wants who presses
    /// Ctrl-C again. A start that was given up has its own haste, and is gone within seconds.
    pub fn hurry(&self) {
        let _ = self.inner.mailbox.send(Message::Hurry);
    }

    async fn stop(&self, what: Stop) -> Reports {
        let (reply, reports) = oneshot::channel();
        let _ = self.inner.mailbox.send(Message::Stop { what, reply });
        reports.await.unwrap_or_default() // Nobody answers once the runtime is shut down: then all were killed.
    }

    fn tell(&self, input: Input) {
        let _ = self.inner.mailbox.send(Message::Tell(input));
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.inner.board.states().iter().map(|(name, state)| (name, &state.activity))).finish()
    }
}

/// One agent of a [`Supervisor`], to borrow. Cheap to clone.
///
/// Borrowing starts it where needed. Who asks for a running agent with a free turn is served at once; the others wait in
/// one queue, first come first served, until there is room. Idle agents make room, the one that was used longest ago first.
/// [`Borrow::on_wait`] is told who holds what is waited for: borrowers by their names, an agent by its own where it has none
/// or stops.
///
/// Do not borrow while you hold a lease: where everybody who holds one waits for another, the youngest gets
/// [`ConnectError::WouldDeadlock`]. That is found by the [`owner`](sidekicks_acp::Borrow::owner): one owner is one party
/// that does one thing at a time, so two tasks that borrow independently need two names, or none.
#[derive(Clone)]
pub struct Agent {
    supervisor: Supervisor,
    name: AgentName,
}

impl Agent {
    /// Its name.
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// How it is; `None` where there is no agent of this name.
    pub fn state(&self) -> Option<Arc<AgentState>> {
        self.supervisor.inner.board.states().get(&self.name).cloned()
    }

    /// Stops it now, whether it is busy or not, and tells how that went; `None` where it did not run.
    ///
    /// Who waits for it gets [`ConnectError::Stopped`]. It can be borrowed again at once, and starts when it is gone.
    /// Cancel-safe: the stop goes on.
    pub async fn stop(&self) -> Option<Arc<StopReport>> {
        self.supervisor.stop(Stop::One(self.name.clone())).await.remove(&self.name)
    }

    /// Forgets its failures, so that a later borrow tries it again.
    pub fn reset(&self) {
        self.supervisor.tell(Input::Reset(self.name.clone()));
    }

    /// Keeps it from being stopped for idleness or to make room, whatever its spec says; it is not started by this. Others
    /// that do not fit beside it get [`ConnectError::TooLarge`] then. Does nothing where there is no agent of this name yet.
    pub fn pin(&self) {
        self.supervisor.tell(Input::Pin { agent: self.name.clone(), pinned: true });
    }

    /// Takes [`pin`](Self::pin) back, so that its spec counts.
    pub fn unpin(&self) {
        self.supervisor.tell(Input::Pin { agent: self.name.clone(), pinned: false });
    }
}

#[async_trait]
impl Connector for Agent {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        let inner = &self.supervisor.inner;
        let ticket = Ticket(inner.tickets.fetch_add(1, Ordering::Relaxed));
        let waiter = Waiter {
            ticket,
            agent: self.name.clone(),
            owner: request.owner.as_deref().map(Into::into),
            since: Instant::now(),
            deadline: request.deadline,
        };
        let (reply, outcome) = oneshot::channel();
        let (teller, listener) = waiting::channel(&request);
        // A lease that was given and is not taken comes back when `outcome` is dropped.
        let mut place = Place { mailbox: &inner.mailbox, ticket: Some(ticket) };
        let _ = inner.mailbox.send(Message::Borrow { waiter, borrower: Borrower { reply, teller } });
        let outcome = listener.until(outcome, &request).await;
        place.ticket = None;
        outcome.unwrap_or(Err(ConnectError::Closed))
    }
}

/// A place in the queue, which is given up when it is dropped.
struct Place<'a> {
    mailbox: &'a mpsc::UnboundedSender<Message>,
    ticket: Option<Ticket>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let _ = self.mailbox.send(Message::Tell(Input::Abandoned(ticket)));
        }
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Agent").field(&self.name).finish()
    }
}
