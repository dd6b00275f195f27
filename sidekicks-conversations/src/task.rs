//! The task of a conversation: it waits for the agent on behalf of the core.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Poll;

use sidekicks_acp::{Borrow, CallError, ConnectError, End, SessionEvent, SessionEvents};
use tokio::sync::{Notify, mpsc};
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::conversation::Shared;
use crate::core::{Done, Number, Want};
use crate::hub::Room;

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
pub(crate) async fn run(conversation: Weak<Shared>, changed: Arc<Notify>, room: Room) {
    let mut jobs = Jobs::default();
    let mut session: Option<(Number, SessionEvents)> = None;
    let (waits, mut waiting) = mpsc::unbounded_channel();
    let mut alarm = Alarm::default();
    loop {
        let Some(shared) = conversation.upgrade() else { return };
        let (wants, orders, deadline, stopping) = {
            let mut core = shared.core();
            (core.wants(), core.orders(), core.deadline(), core.is_stopping())
        };
        // Outside the lock: a start that is given up is killed here, and questions that are dropped are answered.
        jobs.keep(wants, |number, want| Job::of(number, want, &shared, &waits));
        for farewell in orders.farewells {
            let events = session.take_if(|(number, _)| *number == farewell.number).map(|(_, events)| events);
            tokio::spawn(farewell.take(events, shared.common.options.cancel_timeout));
        }
        if let Some(follow) = orders.follow {
            session = follow;
        }
        alarm.set(deadline);
        // An agent that obeys is heard to its end, whoever reads or does not.
        let full = !stopping && room.is_full();
        if full {
            shared.core().take_in_all();
        }
        drop(shared);
        // What the agent said comes before what is had anew, the end of a session before its successor; so neither is heard
        // where the agent is to wait.
        let input = tokio::select! {
            biased;
            () = alarm.rings() => Input::Deadline,
            () = changed.notified() => Input::Changed,
            () = room.made(), if full => Input::Changed,
            (number, event) = next(&mut session), if !full => Input::Session(number, event),
            Some((number, holders)) = waiting.recv() => Input::Waits(number, holders),
            (number, done) = jobs.next(), if !full => Input::Done(number, done),
        };
        let Some(shared) = conversation.upgrade() else { return };
        match input {
            Input::Deadline => shared.core().passed(Instant::now()),
            Input::Changed => {}
            Input::Session(number, Some(event)) => shared.core().hear(number, event),
            Input::Session(number, None) => {
                session = None;
                shared.core().hear(number, SessionEvent::Ended(End::Closed));
            }
            Input::Waits(number, holders) => shared.core().waits(number, holders),
            Input::Done(number, done) => shared.core().done(number, done),
        }
        drop(shared);
        // An agent that never pauses must not keep those who listen to it from running.
        consume_budget().await;
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
        self.0.retain(|job| wants.iter().any(|(wanted, _)| *wanted == job.number));
        for (number, want) in wants {
            if !self.0.iter().any(|job| job.number == number) {
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
                self.0.swap_remove(at);
                return Poll::Ready((number, done));
            }
            Poll::Pending
        })
        .await
    }
}

impl Job {
    fn of(number: Number, want: Want, shared: &Shared, waits: &mpsc::UnboundedSender<(Number, Vec<String>)>) -> Self {
        match want {
            Want::Lease { connector, between_turns } => {
                let waits = waits.clone();
                let request = if between_turns { shared.borrow_for("question") } else { Borrow::by(&*shared.owner) };
                let request = request.on_wait(move |holders| {
                    let _ = waits.send((number, holders.to_vec())); // It fails only where nobody waits any more.
                });
                let work = Box::pin(async move { Done::Lease(connector.borrow(request).await) });
                Self { number, work, panicked: || Done::Lease(Err(ConnectError::Other(Arc::new(Panicked)))) }
            }
            // Jobs are looked at last, so by then there is nothing else.
            Want::Quiet => Self { number, work: Box::pin(async { Done::Quiet }), panicked: || Done::Quiet },
            Want::Setting { connection, session, way } => {
                let work = Box::pin(async move { Done::Setting(way.ask(&*connection, &session).await) });
                Self { number, work, panicked: || Done::Setting(Err(CallError::Malformed(Panicked.to_string()))) }
            }
        }
    }
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
