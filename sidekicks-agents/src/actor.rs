//! The one task that owns everything: it takes messages, asks the core what to do, and does that.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sidekicks_acp::{AgentConnection, AgentName, ConnectError, End, Generation, Lease, LeaseGuard, StopReport};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::core::{Core, Effect, Input, LeaseId, Returned, Rules, Ticket, Waiter};
use crate::launch::{Launch, Launcher};
use crate::observe::Board;
use crate::waiting::Teller;
use crate::watcher::{Dispatch, News, Orders, look_after};

/// What the holders of a supervisor, its agents and its leases say. The task goes on while one of them is left.
pub(crate) enum Message {
    Borrow { waiter: Waiter, borrower: Borrower },
    Stop { what: Stop, reply: oneshot::Sender<Reports> },
    Hurry,
    Tell(Input),
}

/// What comes of a borrow goes here.
pub(crate) struct Borrower {
    pub(crate) reply: oneshot::Sender<Result<Lease, ConnectError>>,
    /// Where they want to know who is waited for.
    pub(crate) teller: Option<Teller>,
}

/// What is to stop.
pub(crate) enum Stop {
    One(AgentName),
    All,
    ForGood,
}

/// How each agent stopped that ran.
pub(crate) type Reports = BTreeMap<AgentName, Arc<StopReport>>;

/// How often is measured what agents use.
const MEASURE: Duration = Duration::from_secs(5);

pub(crate) struct Actor {
    core: Core,
    launcher: Arc<dyn Launcher>,
    board: Board,
    /// Rung when something new is on the board.
    bell: watch::Sender<()>,
    /// Kept for leases, weakly: the task itself must not keep the task.
    mailbox: mpsc::WeakUnboundedSender<Message>,
    news: mpsc::UnboundedSender<Dispatch>,
    /// Everything that was started and is not gone.
    live: BTreeMap<AgentName, Live>,
    borrowers: HashMap<Ticket, Borrower>,
    stops: Vec<PendingStop>,
    /// When is measured next, if that is needed then.
    measure_at: Instant,
}

/// One agent from its start until it is gone.
struct Live {
    generation: Generation,
    orders: watch::Sender<Orders>,
    /// Once it is ready.
    connection: Option<Arc<dyn AgentConnection>>,
    /// Whether the answer to the last measurement is still to come.
    measuring: bool,
}

/// Somebody who waits until agents have stopped.
struct PendingStop {
    left: BTreeSet<(AgentName, Generation)>,
    reports: Reports,
    reply: oneshot::Sender<Reports>,
}

impl Actor {
    /// Begins. Must be called in a runtime.
    pub(crate) fn spawn(
        rules: Rules,
        launcher: Arc<dyn Launcher>,
        board: Board,
    ) -> (mpsc::UnboundedSender<Message>, watch::Receiver<()>) {
        let (mailbox, messages) = mpsc::unbounded_channel();
        let (news, heard) = mpsc::unbounded_channel();
        let (bell, rung) = watch::channel(());
        let actor = Self {
            core: Core::new(rules),
            launcher,
            board,
            bell,
            mailbox: mailbox.downgrade(),
            news,
            live: BTreeMap::new(),
            borrowers: HashMap::new(),
            stops: Vec::new(),
            measure_at: Instant::now() + MEASURE,
        };
        tokio::spawn(actor.run(messages, heard));
        (mailbox, rung)
    }

    async fn run(
        mut self,
        mut messages: mpsc::UnboundedReceiver<Message>,
        mut news: mpsc::UnboundedReceiver<Dispatch>,
    ) {
        enum Next {
            Message(Option<Message>),
            News(Dispatch),
            Tick,
            Measure,
        }
        let mut held = true;
        while held || !self.core.is_still() {
            let next = tokio::select! {
                // What happened to agents comes first; and however many messages there are, something is measured.
                biased;
                Some(news) = news.recv() => Next::News(news),
                () = sleep_until(self.measure_at), if self.core.measures() && !self.live.is_empty() => Next::Measure,
                message = messages.recv(), if held => Next::Message(message),
                () = at(self.core.next_tick()) => Next::Tick,
            };
            match next {
                Next::Message(Some(message)) => self.obey(message),
                Next::Message(None) => {
                    held = false;
                    self.handle(Input::Close);
                }
                Next::News((agent, generation, news)) => self.hear(agent, generation, news),
                Next::Tick => self.handle(Input::Tick),
                Next::Measure => self.measure(),
            }
        }
    }

    fn obey(&mut self, message: Message) {
        match message {
            Message::Borrow { waiter, borrower } => {
                self.notice_end(&waiter.agent);
                self.borrowers.insert(waiter.ticket, borrower);
                self.handle(Input::Borrow(waiter));
            }
            Message::Stop { what, reply } => self.stop(what, reply),
            Message::Hurry => {
                let stopping = self.core.stopping().filter_map(|agent| self.live.get(agent));
                stopping.for_each(|live| live.orders.send_modify(|orders| orders.hurries += 1));
            }
            Message::Tell(input) => {
                match &input {
                    Input::Abandoned(ticket) => drop(self.borrowers.remove(ticket)),
                    // A lease that comes back because its connection ended is not one that was used to its end.
                    Input::Returned { agent, .. } => self.notice_end(agent),
                    _ => {}
                }
                self.handle(input);
            }
        }
    }

    /// A connection may have ended a moment ago, before anybody could tell.
    fn notice_end(&mut self, agent: &AgentName) {
        let Some(live) = self.live.get(agent) else { return };
        if let Some(end) = live.connection.as_deref().and_then(ended) {
            self.handle(Input::Lost { agent: agent.clone(), generation: live.generation, end });
        }
    }

    fn stop(&mut self, what: Stop, reply: oneshot::Sender<Reports>) {
        let concerned = |name: &AgentName| match &what {
            Stop::One(agent) => name == agent,
            Stop::All | Stop::ForGood => true,
        };
        let live = self.live.iter().filter(|(name, _)| concerned(name));
        let left = live.map(|(name, live)| (name.clone(), live.generation)).collect();
        self.stops.push(PendingStop { left, reports: Reports::new(), reply });
        self.handle(match what {
            Stop::One(agent) => Input::Stop(agent),
            Stop::All => Input::StopAll,
            Stop::ForGood => Input::Close,
        });
        self.answer_stops();
    }

    fn hear(&mut self, agent: AgentName, generation: Generation, news: News) {
        match news {
            News::Ready { connection } => {
                let end = ended(&*connection);
                if let Some(live) = self.live.get_mut(&agent) {
                    live.connection = Some(connection);
                }
                self.handle(match end {
                    None => Input::Ready { agent, generation },
                    Some(end) => Input::Lost { agent, generation, end },
                });
            }
            News::Failed { error } => {
                self.live.remove(&agent);
                self.has_stopped(&agent, generation, None);
                self.handle(Input::Failed { agent, generation, error });
            }
            News::Lost { end } => self.handle(Input::Lost { agent, generation, end }),
            News::Stopped { report } => {
                self.has_stopped(&agent, generation, report.clone());
                self.handle(Input::Stopped { agent, generation, report });
            }
            News::Gone => {
                self.live.remove(&agent);
                self.has_stopped(&agent, generation, None);
                self.handle(Input::Gone { agent, generation });
            }
            News::Measured { bytes } => {
                if let Some(live) = self.live.get_mut(&agent) {
                    live.measuring = false;
                }
                if let Some(bytes) = bytes {
                    self.handle(Input::Measured { agent, generation, bytes });
                }
            }
        }
    }

    /// Tells those who wait for this one to stop.
    fn has_stopped(&mut self, agent: &AgentName, generation: Generation, report: Option<Arc<StopReport>>) {
        for stop in &mut self.stops {
            if stop.left.remove(&(agent.clone(), generation))
                && let Some(report) = &report
            {
                stop.reports.insert(agent.clone(), Arc::clone(report));
            }
        }
        self.answer_stops();
    }

    fn answer_stops(&mut self) {
        for stop in self.stops.extract_if(.., |stop| stop.left.is_empty() || stop.reply.is_closed()) {
            let _ = stop.reply.send(stop.reports);
        }
    }

    /// Takes an input to the core, shows what changed, does what is to be done, and tells the others what they wait for.
    fn handle(&mut self, input: Input) {
        let effects = self.core.handle(input, Instant::now());
        if self.board.put(self.core.changes()) {
            self.bell.send_replace(());
        }
        effects.into_iter().for_each(|effect| self.perform(effect));
        for waiter in self.core.waiters() {
            if let Some(Borrower { teller: Some(teller), .. }) = self.borrowers.get(&waiter.ticket) {
                teller.tell(self.core.waited_for(waiter));
            }
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Start { agent, generation, spec } => {
                tracing::debug!(%agent, generation = generation.0, "starts");
                let (orders, ordered) = watch::channel(Orders::default());
                let launch = Launch::new(agent.clone(), generation, *spec).ordered(ordered.clone());
                tokio::spawn(look_after(Arc::clone(&self.launcher), launch, ordered, self.news.clone()));
                self.live.insert(agent, Live { generation, orders, connection: None, measuring: false });
            }
            Effect::Stop { agent, generation, cause } => {
                tracing::debug!(%agent, generation = generation.0, ?cause, "stops");
                if let Some(live) = self.live.get(&agent) {
                    live.orders.send_modify(|orders| orders.stop = orders.stop.or(Some(cause)));
                }
            }
            Effect::Lend { ticket, agent, generation, lease } => self.lend(ticket, agent, generation, lease),
            Effect::Refuse { ticket, error } => {
                if let Some(borrower) = self.borrowers.remove(&ticket) {
                    let _ = borrower.reply.send(Err(error));
                }
            }
        }
    }

    fn lend(&mut self, ticket: Ticket, agent: AgentName, generation: Generation, lease: LeaseId) {
        let connection = self.live.get(&agent).and_then(|live| live.connection.clone());
        if let (Some(connection), Some(mailbox), Some(borrower)) =
            (connection, self.mailbox.upgrade(), self.borrowers.remove(&ticket))
        {
            let borrowed = Borrowed { mailbox, agent, generation, lease };
            // If nobody waits any more, the lease is dropped here, and so comes back.
            let _ = borrower.reply.send(Ok(Lease::new(connection, generation, borrowed)));
        }
    }

    /// Has it measured what agents use. One that has not answered yet is not asked again.
    fn measure(&mut self) {
        self.measure_at = Instant::now() + MEASURE;
        for live in self.live.values_mut().filter(|live| live.connection.is_some() && !live.measuring) {
            live.measuring = true;
            live.orders.send_modify(|orders| orders.measurements += 1);
        }
    }
}

/// Ends at this moment, or never.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// How a connection ended, if it has. One of others may panic here, and then is not to be used.
fn ended(connection: &dyn AgentConnection) -> Option<End> {
    let look = || connection.closed().as_mut().poll(&mut Context::from_waker(Waker::noop()));
    match catch_unwind(AssertUnwindSafe(look)) {
        Ok(Poll::Ready(end)) => Some(end),
        Ok(Poll::Pending) => None,
        Err(_) => Some(End::Failed("the connection panicked".to_owned())),
    }
}

/// Gives a lease back.
struct Borrowed {
    mailbox: mpsc::UnboundedSender<Message>,
    agent: AgentName,
    generation: Generation,
    lease: LeaseId,
}

impl Borrowed {
    fn give_back(self, how: Returned) {
        let Self { mailbox, agent, generation, lease } = self;
        let _ = mailbox.send(Message::Tell(Input::Returned { agent, generation, lease, how }));
    }
}

impl LeaseGuard for Borrowed {
    fn release(self: Box<Self>) {
        self.give_back(Returned::Done);
    }

    fn condemn(self: Box<Self>) {
        self.give_back(Returned::Condemned);
    }
}
