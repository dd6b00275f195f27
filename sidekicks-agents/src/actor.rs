//! The one task that owns everything: it takes messages, asks the core what to do, and does that.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sidekicks_acp::{AgentConnection, AgentName, ConnectError, End, Generation, Lease, LeaseGuard, StopReport};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::core::{Core, Effect, Input, LeaseId, Returned, Rules, Ticket, Waiter};
use crate::launch::{Launch, Launcher, RunningAgent};
use crate::observe::Board;
use crate::watcher::{News, look_after};

/// What the holders of a supervisor, its agents and its leases say. The task goes on while one of them is left.
pub(crate) enum Message {
    Borrow { waiter: Waiter, reply: oneshot::Sender<Result<Lease, ConnectError>> },
    Stop { what: Stop, reply: oneshot::Sender<Reports> },
    Hurry,
    Tell(Input),
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
    news: mpsc::UnboundedSender<News>,
    /// Everything that was started and is not gone.
    live: BTreeMap<AgentName, Live>,
    replies: HashMap<Ticket, oneshot::Sender<Result<Lease, ConnectError>>>,
    stops: Vec<PendingStop>,
    /// When is measured next, if that is needed then.
    measure_at: Instant,
}

/// One agent from its start until it is gone.
struct Live {
    generation: Generation,
    give_up: watch::Sender<bool>,
    /// Once it is ready.
    agent: Option<Arc<dyn RunningAgent>>,
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
            replies: HashMap::new(),
            stops: Vec::new(),
            measure_at: Instant::now() + MEASURE,
        };
        tokio::spawn(actor.run(messages, heard));
        (mailbox, rung)
    }

    async fn run(mut self, mut messages: mpsc::UnboundedReceiver<Message>, mut news: mpsc::UnboundedReceiver<News>) {
        enum Next {
            Message(Option<Message>),
            News(News),
            Tick,
            Measure,
        }
        let mut held = true;
        while held || !self.core.is_still() {
            let next = tokio::select! {
                // What happened to agents comes first, so that nobody is lent one that is known to be gone.
                biased;
                Some(news) = news.recv() => Next::News(news),
                message = messages.recv(), if held => Next::Message(message),
                () = at(self.core.next_tick()) => Next::Tick,
                () = sleep_until(self.measure_at), if self.core.measures() && !self.live.is_empty() => Next::Measure,
            };
            match next {
                Next::Message(Some(message)) => self.obey(message),
                Next::Message(None) => {
                    held = false;
                    self.handle(Input::Close);
                }
                Next::News(news) => self.hear(news),
                Next::Tick => self.handle(Input::Tick),
                Next::Measure => self.measure(),
            }
        }
    }

    fn obey(&mut self, message: Message) {
        match message {
            Message::Borrow { waiter, reply } => {
                self.notice_end(&waiter.agent);
                self.replies.insert(waiter.ticket, reply);
                self.handle(Input::Borrow(waiter));
            }
            Message::Stop { what, reply } => self.stop(what, reply),
            Message::Hurry => self.live.values().filter_map(|live| live.agent.as_ref()).for_each(|agent| agent.hurry()),
            Message::Tell(input) => {
                if let Input::Abandoned(ticket) = &input {
                    self.replies.remove(ticket);
                }
                self.handle(input);
            }
        }
    }

    /// A connection may have ended a moment ago, before anybody could tell.
    fn notice_end(&mut self, agent: &AgentName) {
        let Some((generation, running)) =
            self.live.get(agent).and_then(|live| Some((live.generation, live.agent.as_ref()?)))
        else {
            return;
        };
        if let Some(end) = ended(&*running.connection()) {
            self.handle(Input::Lost { agent: agent.clone(), generation, end });
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

    fn hear(&mut self, news: News) {
        match news {
            News::Ready { agent, generation, running } => {
                if let Some(live) = self.live.get_mut(&agent) {
                    live.agent = Some(running);
                }
                self.handle(Input::Ready { agent, generation });
            }
            News::Failed { agent, generation, error } => {
                self.live.remove(&agent);
                self.has_stopped(&agent, generation, None);
                self.handle(Input::Failed { agent, generation, error });
            }
            News::Lost { agent, generation, end } => self.handle(Input::Lost { agent, generation, end }),
            News::Stopped { agent, generation, report } => self.has_stopped(&agent, generation, report),
            News::Gone { agent, generation, report } => {
                self.live.remove(&agent);
                self.has_stopped(&agent, generation, report.clone());
                self.handle(Input::Gone { agent, generation, report });
            }
            News::Measured(measured) => {
                for (agent, generation, bytes) in measured {
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
        for stop in self.stops.extract_if(.., |stop| stop.left.is_empty()) {
            let _ = stop.reply.send(stop.reports);
        }
    }

    /// Takes an input to the core, shows what changed, and does what is to be done.
    fn handle(&mut self, input: Input) {
        let effects = self.core.handle(input, Instant::now());
        if self.board.put(self.core.changes()) {
            self.bell.send_replace(());
        }
        effects.into_iter().for_each(|effect| self.perform(effect));
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Start { agent, generation, spec } => {
                tracing::debug!(%agent, generation = generation.0, "starts");
                let (give_up, given_up) = watch::channel(false);
                let launch = Launch { agent: agent.clone(), generation, spec: *spec, given_up };
                tokio::spawn(look_after(Arc::clone(&self.launcher), launch, self.news.clone()));
                self.live.insert(agent, Live { generation, give_up, agent: None });
            }
            Effect::Stop { agent, generation, cause } => {
                tracing::debug!(%agent, generation = generation.0, ?cause, "stops");
                if let Some(live) = self.live.get(&agent) {
                    live.give_up.send_replace(true);
                    live.agent.iter().for_each(|agent| agent.begin_stop(cause));
                }
            }
            Effect::Lend { ticket, agent, generation, lease } => self.lend(ticket, agent, generation, lease),
            Effect::Refuse { ticket, error } => {
                if let Some(reply) = self.replies.remove(&ticket) {
                    let _ = reply.send(Err(error));
                }
            }
        }
    }

    fn lend(&mut self, ticket: Ticket, agent: AgentName, generation: Generation, lease: LeaseId) {
        let running = self.live.get(&agent).and_then(|live| live.agent.as_ref());
        if let (Some(running), Some(mailbox), Some(reply)) =
            (running, self.mailbox.upgrade(), self.replies.remove(&ticket))
        {
            let connection = running.connection();
            let borrowed = Borrowed { mailbox, agent, generation, lease };
            // If nobody waits any more, the lease is dropped here, and so comes back.
            let _ = reply.send(Ok(Lease::new(connection, generation, borrowed)));
        }
    }

    /// Finds out what agents use, in a task of its own: one scan takes a millisecond.
    fn measure(&mut self) {
        self.measure_at = Instant::now() + MEASURE;
        let running = |(name, live): (&AgentName, &Live)| Some((name.clone(), live.generation, live.agent.clone()?));
        let running: Vec<_> = self.live.iter().filter_map(running).collect();
        let news = self.news.clone();
        tokio::spawn(async move {
            let mut measured = Vec::new();
            for (agent, generation, running) in running {
                if let Some(bytes) = running.memory().await {
                    measured.push((agent, generation, bytes));
                }
            }
            let _ = news.send(News::Measured(measured));
        });
    }
}

/// Ends at this moment, or never.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// How a connection ended, if it has.
fn ended(connection: &dyn AgentConnection) -> Option<End> {
    let mut closed = connection.closed();
    match closed.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(end) => Some(end),
        Poll::Pending => None,
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
