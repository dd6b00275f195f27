//! The task of a conversation: it waits for the agent on behalf of the core.

use std::collections::HashSet;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use sidekicks_acp::{Borrow, CallError, ConnectError, End, SessionEvent, SessionEvents};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::conversation::Shared;
use crate::core::{Core, Done, Number, Want};
use crate::errand::ask;

/// What the task waits for.
#[expect(clippy::large_enum_variant, reason = "one lives at a time, for a moment")]
enum Input {
    Deadline,
    Changed,
    Session(Number, Option<SessionEvent>),
    Waits(Number, Vec<String>),
    Done(Number, Done),
}

/// Goes on until the last handle is gone.
pub(crate) fn run(shared: Arc<Shared>) -> impl Future<Output = ()> + Send {
    // Made here: a runtime that is gone drops a task that never ran.
    let closing = Closing(shared);
    async move { attend(&closing.0).await }
}

/// Closes the conversation when the task is over, also where its runtime is gone or the embedder's code panicked.
struct Closing(Arc<Shared>);

impl Drop for Closing {
    fn drop(&mut self) {
        // It may be unwinding already, and that code be called once more.
        let _ = catch_unwind(AssertUnwindSafe(|| self.0.core().close()));
        self.0.closed.send_replace(true);
    }
}

async fn attend(shared: &Arc<Shared>) {
    let room = shared.room();
    let (mut jobs, mut judging) = (Jobs::default(), Jobs::default());
    let mut session: Option<(Number, SessionEvents)> = None;
    let (waits, mut waiting) = mpsc::unbounded_channel();
    let mut alarm = Alarm::default();
    loop {
        let (wants, judgements, orders, deadline, listens, closed) = {
            let full = room.is_full();
            let mut core = shared.core();
            // An agent that obeys is heard to its end, whoever reads or does not.
            let listens = !full || core.is_stopping();
            core.listen(listens);
            (core.wants(), core.judgements(), core.orders(), core.deadline(), listens, core.is_closed())
        };
        // Outside the lock: a start that is given up is killed here, and questions that are dropped are answered.
        let begin = |number, want| Job::of(number, want, &waits, shared);
        jobs.keep(wants, begin);
        judging.keep(judgements, begin);
        for farewell in orders.farewells {
            let events = session.take_if(|(number, _)| *number == farewell.number).map(|(_, events)| events);
            tokio::spawn(farewell.take(events, shared.common.options.cancel_timeout));
        }
        if let Some(follow) = orders.follow {
            session = follow;
        }
        if closed {
            return;
        }
        alarm.set(deadline);
        // What the agent said comes before what is had anew, the end of a session before its successor; so neither is heard
        // where the agent is to wait.
        let input = tokio::select! {
            biased;
            () = alarm.rings() => Input::Deadline,
            () = shared.changed.notified() => Input::Changed,
            () = room.made(), if !listens => Input::Changed,
            // No word of the agent bears on it, so it need not wait for one that never pauses.
            (number, done) = judging.next() => Input::Done(number, done),
            (number, event) = next(&mut session), if listens => Input::Session(number, event),
            Some((number, holders)) = waiting.recv() => Input::Waits(number, holders),
            (number, done) = jobs.next(), if listens => Input::Done(number, done),
        };
        if matches!(input, Input::Session(_, None)) {
            session = None;
        }
        input.tell(&mut shared.core());
        // An agent that never pauses must not keep those who listen to it from running.
        consume_budget().await;
    }
}

impl Input {
    fn tell(self, core: &mut Core) {
        match self {
            Self::Deadline => core.passed(Instant::now()),
            Self::Changed => {}
            Self::Session(number, Some(event)) => core.hear(number, event),
            Self::Session(number, None) => core.hear(number, SessionEvent::Ended(End::Closed)),
            Self::Waits(number, holders) => core.waits(number, holders),
            Self::Done(number, done) => core.done(number, done),
        }
    }
}

async fn next(session: &mut Option<(Number, SessionEvents)>) -> (Number, Option<SessionEvent>) {
    match session {
        Some((number, events)) => (*number, events.next().await),
        None => std::future::pending().await,
    }
}

/// What is being waited for besides the session.
#[derive(Default)]
struct Jobs(Vec<Job>);

struct Job {
    number: Number,
    work: Pin<Box<dyn Future<Output = Done> + Send>>,
    /// What comes of it where the embedder's code panics: that must not be the end of the conversation.
    panicked: fn() -> Done,
}

impl Jobs {
    /// Gives up what is not wanted any more, and begins what is wanted anew.
    fn keep(&mut self, wants: Vec<(Number, Want)>, begin: impl Fn(Number, Want) -> Job) {
        // An agent may ask thousands of questions, and this is done at each of its words.
        let wanted: HashSet<Number> = wants.iter().map(|(number, _)| *number).collect();
        self.0.retain(|job| wanted.contains(&job.number));
        let begun: HashSet<Number> = self.0.iter().map(|job| job.number).collect();
        for (number, want) in wants {
            if !begun.contains(&number) {
                self.0.push(begin(number, want));
            }
        }
    }

    async fn next(&mut self) -> (Number, Done) {
        std::future::poll_fn(|context| {
            for (at, Job { number, work, panicked }) in self.0.iter_mut().enumerate() {
                let number = *number;
                let done = match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
                    Ok(Poll::Pending) => continue,
                    Ok(Poll::Ready(done)) => done,
                    Err(_) => panicked(),
                };
                self.0.remove(at);
                return Poll::Ready((number, done));
            }
            Poll::Pending
        })
        .await
    }
}

impl Job {
    fn of(
        number: Number,
        want: Want,
        waits: &mpsc::UnboundedSender<(Number, Vec<String>)>,
        shared: &Arc<Shared>,
    ) -> Self {
        match want {
            Want::Lease { connector, owner } => {
                let waits = waits.clone();
                let request = Borrow::by(owner).on_wait(move |holders| {
                    let _ = waits.send((number, holders.to_vec())); // It fails only where nobody waits any more.
                });
                let work = Box::pin(async move { Done::Lease(connector.borrow(request).await) });
                Self { number, work, panicked: || Done::Lease(Err(ConnectError::Other(Arc::new(Panicked)))) }
            }
            // Jobs are looked at last, so by then there is nothing else.
            Want::Quiet(until) => {
                let work = Box::pin(async move {
                    if let Some(until) = until {
                        sleep_until(until).await;
                    }
                    Done::Quiet
                });
                Self { number, work, panicked: || Done::Quiet }
            }
            Want::Setting => {
                let shared = Arc::clone(shared);
                let work = Box::pin(async move { Done::Setting(ask(&shared, |core| Ok(core.sets(number))).await) });
                let panicked = || Done::Setting(Err(CallError::Malformed(Panicked.to_string()).into()));
                Self { number, work, panicked }
            }
            // As tasks of their own: a thread that is kept busy is not the one that hears a Stop.
            Want::Judgement(permission, grounds) => {
                let mut task = JoinSet::new();
                task.spawn_blocking(move || grounds.judge(&permission));
                let work = Box::pin(async move { Done::Judgement(joined(task).await) });
                Self { number, work, panicked: || Done::Judgement(None) }
            }
            Want::Decision(permission) => {
                let mut task = JoinSet::new();
                if let Some(decider) = shared.common.options.decider.clone() {
                    task.spawn(async move { decider.decide(permission).await });
                }
                let work = async move { Done::Decision(joined(task).await) };
                Self { number, work: Box::pin(work), panicked: || Done::Decision(None) }
            }
        }
    }
}

/// What the only task gives; nothing where it panicked. It is given up where this is dropped.
async fn joined<T: 'static>(mut task: JoinSet<T>) -> Option<T> {
    task.join_next().await?.ok()
}

/// The embedder's code panicked.
#[derive(Debug, thiserror::Error)]
#[error("the connection panicked")]
struct Panicked;

/// A timer that is only set when it would ring too late: with each word of an agent a deadline moves on.
#[derive(Default)]
struct Alarm {
    due: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    fn set(&mut self, due: Option<Instant>) {
        self.due = due;
    }

    /// Rings once it is due.
    async fn rings(&mut self) {
        let Some(due) = self.due else { return std::future::pending().await };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if sleep.deadline() > due || sleep.is_elapsed() {
            sleep.as_mut().reset(due);
        }
        loop {
            sleep.as_mut().await;
            if sleep.deadline() >= due {
                return;
            }
            sleep.as_mut().reset(due); // It was to ring earlier, and is late now.
        }
    }
}
