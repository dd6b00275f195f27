//! Looks after one agent from its start until it is gone, and reports.
//!
//! All code of a [`Launcher`] and a [`RunningAgent`] runs here: when it panics or hangs, that is one agent's misfortune.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sidekicks_acp::{AgentConnection, AgentName, End, Generation, StartError, StartFailure, StopCause, StopReport};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::launch::{Launch, Launcher, RunningAgent};

/// What happened to an agent.
pub(crate) enum News {
    /// It runs.
    Ready { connection: Arc<dyn AgentConnection> },
    /// It could not be started, and nothing of it is left. Nothing follows.
    Failed { error: Arc<StartError> },
    /// Its connection ended.
    Lost { end: End },
    /// It has stopped, or is stuck.
    Stopped { report: Option<Arc<StopReport>> },
    /// Nothing of it is left. Nothing follows.
    Gone,
    /// How many bytes it uses; nothing where that could not be told.
    Measured { bytes: Option<u64> },
}

/// Whose news it is.
pub(crate) type Dispatch = (AgentName, Generation, News);

/// What an agent is told to do. Each only grows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orders {
    pub(crate) stop: Option<StopCause>,
    /// How often the next step of the stop was asked for.
    pub(crate) hurries: u32,
    /// How often it was measured.
    pub(crate) measurements: u32,
}

/// How long a measurement may take.
const MEASURING: Duration = Duration::from_secs(5);

/// Starts an agent, and stays with it.
pub(crate) async fn look_after(
    launcher: Arc<dyn Launcher>,
    launch: Launch,
    orders: watch::Receiver<Orders>,
    news: UnboundedSender<Dispatch>,
) {
    let post = Post { agent: launch.agent.clone(), generation: launch.generation, news };
    // In a task of its own, so that a panic is a failed start and nobody waits for ever.
    let start = async move {
        let running = launcher.launch(launch).await?;
        Ok((running.connection(), running))
    };
    match tokio::spawn(start).await {
        Ok(Ok((connection, running))) => stay_with(running, connection, orders, &Farewell(&post)).await,
        Ok(Err(error)) => post.send(News::Failed { error: Arc::new(error) }),
        Err(error) => {
            let error = StartFailure::Spawn(io::Error::other(error)).into();
            post.send(News::Failed { error: Arc::new(error) });
        }
    }
}

/// Stays with an agent that runs until nothing of it is left. The agent is dropped before the farewell is.
async fn stay_with(
    running: Arc<dyn RunningAgent>,
    connection: Arc<dyn AgentConnection>,
    orders: watch::Receiver<Orders>,
    farewell: &Farewell<'_>,
) {
    let post = farewell.0;
    post.send(News::Ready { connection: Arc::clone(&connection) });
    let life = async {
        let end = connection.closed().await;
        post.send(News::Lost { end });
        running.begin_stop(StopCause::Asked); // What lost its connection is finished too.
        let report = running.stopped().await;
        post.send(News::Stopped { report });
        running.gone().await;
    };
    tokio::select! {
        biased; // What left by itself is being stopped before it is hurried.
        () = life => {}
        never = obey(&*running, orders, post) => match never {},
    }
}

/// Follows the orders, for ever.
async fn obey(
    running: &dyn RunningAgent,
    mut orders: watch::Receiver<Orders>,
    post: &Post,
) -> std::convert::Infallible {
    let mut followed = Orders::default();
    loop {
        let wanted = orders.borrow_and_update().clone();
        if let Some(cause) = wanted.stop.filter(|_| followed.stop.is_none()) {
            running.begin_stop(cause);
        }
        (followed.hurries..wanted.hurries).for_each(|_| running.hurry());
        let measure = wanted.measurements > followed.measurements;
        followed = wanted;
        if measure {
            let bytes = tokio::select! {
                bytes = timeout(MEASURING, running.memory()) => bytes.ok().flatten(),
                // A stop does not wait for it.
                _ = orders.wait_for(|orders| orders.stop.is_some()) => None,
            };
            post.send(News::Measured { bytes });
            continue; // There may be other orders by now.
        }
        if orders.changed().await.is_err() {
            // The supervisor's task is gone, with its runtime or in a panic; nobody else will end this agent.
            running.begin_stop(StopCause::Asked);
            std::future::pending::<()>().await;
        }
    }
}

/// Sends the news of one agent.
struct Post {
    agent: AgentName,
    generation: Generation,
    news: UnboundedSender<Dispatch>,
}

impl Post {
    fn send(&self, news: News) {
        let _ = self.news.send((self.agent.clone(), self.generation, news));
    }
}

/// Says that an agent is gone, also when looking after it panics: its place would be taken for ever.
struct Farewell<'a>(&'a Post);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        self.0.send(News::Gone);
    }
}
