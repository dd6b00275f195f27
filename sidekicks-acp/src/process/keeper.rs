//! Looks after one process from its start to its reaping.
//!
//! One task owns the child. It alone decides when a signal goes out, and it reaps last: until then the number of the
//! group cannot belong to anybody else.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::aside::aside;
use super::exits::{ExitWatch, Left, Watch};
use super::family::{self, Member};
use super::group::Group;
use super::guard::Watched;
use super::listing;
use super::stderr::Stderr;
use super::sweep::{DISAPPEARING, sweep};
use crate::connection::listen;
use crate::error::{End, Exit, ExitStatus, StopCause};
use crate::options::Limits;
use crate::router::Router;
use crate::stop::{StopPolicy, StopReport, StopStep};

/// What the holders of an agent ask of its keeper.
pub(super) struct Orders {
    policy: StopPolicy,
    /// Whether the handshake is done. Before it there is nothing to save.
    ready: AtomicBool,
    wanted: watch::Sender<Wanted>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) stop: Option<StopCause>,
    /// How often the next step was asked for.
    pub(super) hurries: u32,
}

impl Orders {
    pub(super) fn new(policy: StopPolicy) -> Self {
        Self { policy, ready: AtomicBool::new(false), wanted: watch::Sender::default() }
    }

    pub(super) fn is_ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// Asks for a stop. The first to ask gives the cause.
    pub(super) fn stop(&self, cause: StopCause) {
        self.wanted.send_if_modified(|wanted| {
            let first = wanted.stop.is_none();
            wanted.stop.get_or_insert(cause);
            first
        });
    }

    fn policy(&self) -> StopPolicy {
        match self.ready.load(Ordering::Relaxed) {
            true => self.policy.clone(),
            false => self.policy.hasty(),
        }
    }

    pub(super) fn hurry(&self) {
        self.wanted.send_modify(|wanted| wanted.hurries += u32::from(wanted.stop.is_some()));
    }
}

/// Owns the child process.
pub(super) struct Keeper {
    pub(super) process: Child,
    pub(super) pid: i32,
    pub(super) group: Arc<Group>,
    pub(super) router: Arc<Router>,
    pub(super) orders: Arc<Orders>,
    pub(super) stderr: Stderr,
    /// Until the process is reaped. It stands after `process`, whose drop may reap.
    pub(super) watched: Option<Watched>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Before `process` is dropped, which may reap it: if the runtime is shut down and this task with it, nothing
        // of the agent may go on, and nobody may signal its number later.
        self.group.give_up();
        self.router.end(End::task_gone()); // It has ended, unless this task was dropped or panicked.
    }
}

/// How long a look at the processes may take.
const LOOK: Duration = Duration::from_secs(1);

/// How long it may take to kill what an agent left behind.
const SWEEP: Duration = Duration::from_secs(3);

/// How often a group is killed: one that was forking just then has a child that escapes, where nobody can be found by a
/// marker.
const KILLS: usize = 3;

impl Keeper {
    /// Begins; the receiver gets the report when everything is over, or when the process is stuck. It is closed once the
    /// process is reaped.
    pub(super) fn run(mut self, limits: Limits) -> watch::Receiver<Option<Arc<StopReport>>> {
        let (report, receiver) = watch::channel(None);
        let (heard_all, eof) = watch::channel(None);
        let heard_all = HeardAll(heard_all);
        let (stdout, router) = (self.process.stdout.take(), Arc::clone(&self.router));
        let reader = tokio::spawn(async move {
            let end = match stdout {
                Some(stdout) => listen(stdout, &router, &limits).await,
                None => End::OutputClosed,
            };
            heard_all.0.send_replace(Some(end));
        });
        let wanted = self.orders.wanted.subscribe();
        let watch = Watch { exit: ExitWatch::new(self.pid), eof, wanted, hurries: 0, reader: reader.abort_handle() };
        tokio::spawn(self.keep(watch, report));
        receiver
    }

    async fn keep(mut self, mut watch: Watch, report: watch::Sender<Option<Arc<StopReport>>>) {
        let left = watch.leaves_or_is_told_to_stop().await;
        self.orders.stop(StopCause::Asked); // Whatever the reason, it is being ended, and that can be hurried.
        let begun = Instant::now();
        let policy = self.orders.policy();
        let mut before = Vec::new();
        let (step, status) = match left {
            Left::Exited(status) => {
                self.say_it_left(&mut watch, status, policy.drain).await;
                (StopStep::AlreadyExited, Some(status))
            }
            Left::Lost(end) => {
                self.router.end(end);
                before = self.descendants().await;
                self.stop(&mut watch, &policy).await
            }
            Left::Told(cause) => {
                before = self.descendants().await;
                self.router.end(End::Stopped(cause));
                self.stop(&mut watch, &policy).await
            }
        };
        let mut account =
            StopReport { step, status, stragglers: 0, swept: 0, took: begun.elapsed(), stderr: self.stderr.tail() };
        let exit = match status {
            Some(status) => status,
            None => {
                report.send_replace(Some(Arc::new(account.clone())));
                watch.exit.wait().await
            }
        };
        if exit == ExitStatus::Unknown {
            // Somebody else in this program took the child from us, and with it the right to its number.
            self.group.reaped(|| ());
        } else {
            account.stragglers = self.end_group(&mut watch, &policy, step).await;
        }
        self.drained(&mut watch, policy.drain).await;
        watch.reader.abort();
        let reaped = self.group.reaped(|| self.process.try_wait());
        self.watched = None;
        tracing::debug!(pid = self.pid, ?reaped, ?step, "agent process reaped");
        account.swept = self.sweep(before).await;
        account.took = begun.elapsed();
        account.stderr = self.stderr.tail();
        if status.is_some() {
            report.send_replace(Some(Arc::new(account)));
        }
    }

    async fn descendants(&self) -> Vec<Member> {
        let (pid, group) = (self.pid, Arc::clone(&self.group));
        aside(LOOK, move || family::descendants(pid, group.marker())).await.unwrap_or_default()
    }

    /// Kills those of `before` that are still there, and whoever carries the marker of this agent.
    async fn sweep(&self, before: Vec<Member>) -> usize {
        let group = Arc::clone(&self.group);
        let swept = move || sweep(before, || family::marked(group.marker().beginning()));
        aside(SWEEP, swept).await.unwrap_or_default()
    }

    /// Waits for the last words on both streams, for `grace` at most: what the agent left behind may hold them open.
    async fn drained(&mut self, watch: &mut Watch, grace: Duration) {
        tokio::join!(watch.drained(grace), self.stderr.drained(grace));
    }

    /// The agent left by itself: what it still said is delivered first, then the end.
    async fn say_it_left(&mut self, watch: &mut Watch, status: ExitStatus, grace: Duration) {
        self.router.agent_left();
        self.drained(watch, grace).await;
        self.router.end(End::Exited(Exit::new(status, self.stderr.tail())));
    }

    /// The stop order. Stdin is closed already, since the connection has ended.
    async fn stop(&self, watch: &mut Watch, policy: &StopPolicy) -> (StopStep, Option<ExitStatus>) {
        if let Some(status) = watch.exits_within(policy.eof).await {
            return (StopStep::Eof, Some(status));
        }
        // One SIGTERM to the whole group: wrappers pass it on, and some programs die of a second one. A stopped process
        // acts on it only once it is continued.
        self.group.signal(Signal::SIGTERM);
        self.group.signal(Signal::SIGCONT);
        if let Some(status) = watch.exits_within(policy.term).await {
            return (StopStep::Term, Some(status));
        }
        self.group.signal(Signal::SIGKILL);
        match timeout(policy.kill, watch.exit.wait()).await {
            Ok(status) => (StopStep::Kill, Some(status)),
            Err(_) => (StopStep::Stuck, None),
        }
    }

    /// Ends what the agent left in its group; tells how many had to be signalled for it.
    async fn end_group(&self, watch: &mut Watch, policy: &StopPolicy, step: StopStep) -> usize {
        let Some(members) = members(self.pid).await else {
            self.group.signal(Signal::SIGKILL);
            return 0;
        };
        if members == 0 {
            return 0;
        }
        let signalled = !matches!(step, StopStep::AlreadyExited | StopStep::Eof);
        if !signalled {
            self.group.signal(Signal::SIGTERM);
            self.group.signal(Signal::SIGCONT);
        }
        // Those that had their signal together with the leader take a moment longer than it, and nothing tells of that.
        let left = tokio::select! {
            left = left_after(self.pid, policy.stragglers) => left,
            () = watch.hurried() => members,
        };
        let mut still = left;
        for _ in 0..KILLS {
            if still == 0 {
                break;
            }
            self.group.signal(Signal::SIGKILL);
            still = left_after(self.pid, DISAPPEARING).await;
        }
        if signalled { left } else { members }
    }
}

/// Says how reading ended, also when its task is dropped or panics.
struct HeardAll(watch::Sender<Option<End>>);

impl Drop for HeardAll {
    fn drop(&mut self) {
        self.0.send_if_modified(|end| {
            let first = end.is_none();
            end.get_or_insert_with(End::task_gone);
            first
        });
    }
}

/// How many are in the group besides its leader; `None` where that cannot be told.
async fn members(leader: i32) -> Option<usize> {
    aside(LOOK, move || family::group_members(leader)).await?
}

/// Waits until nobody is left in the group, for `within` at most; tells how many are left then.
async fn left_after(leader: i32, within: Duration) -> usize {
    let mut over = pin!(sleep(within));
    loop {
        let left = members(leader).await.unwrap_or_default();
        if left == 0 {
            return 0;
        }
        tokio::select! {
            () = over.as_mut() => return left,
            () = sleep(listing::POLL) => {}
        }
    }
}
