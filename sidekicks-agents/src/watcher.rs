//! Looks after one agent from its start until it is gone, and reports.

use std::io;
use std::sync::Arc;

use sidekicks_acp::{AgentName, End, Generation, StartError, StartFailure, StopCause, StopReport};
use tokio::sync::mpsc::UnboundedSender;

use crate::launch::{Launch, Launcher, RunningAgent};

/// What happened to an agent.
pub(crate) enum News {
    /// It runs.
    Ready { agent: AgentName, generation: Generation, running: Arc<dyn RunningAgent> },
    /// It could not be started, and nothing of it is left. Nothing follows.
    Failed { agent: AgentName, generation: Generation, error: Arc<StartError> },
    /// Its connection ended.
    Lost { agent: AgentName, generation: Generation, end: End },
    /// It has stopped, or is stuck.
    Stopped { agent: AgentName, generation: Generation, report: Option<Arc<StopReport>> },
    /// Nothing of it is left. Nothing follows.
    Gone { agent: AgentName, generation: Generation, report: Option<Arc<StopReport>> },
    /// How many bytes these use.
    Measured(Vec<(AgentName, Generation, u64)>),
}

/// Starts an agent, and stays with it.
pub(crate) async fn look_after(launcher: Arc<dyn Launcher>, launch: Launch, news: UnboundedSender<News>) {
    let (agent, generation) = (launch.agent.clone(), launch.generation);
    // In a task of its own, so that a panic is a failed start and nobody waits for ever.
    let started = tokio::spawn(async move { launcher.launch(launch).await }).await;
    let started = started.unwrap_or_else(|error| Err(StartFailure::Spawn(io::Error::other(error)).into()));
    let running = match started {
        Ok(running) => running,
        Err(error) => return drop(news.send(News::Failed { agent, generation, error: Arc::new(error) })),
    };
    let mut farewell = Farewell { news: &news, agent: &agent, generation, report: None };
    let tell = |happened| drop(news.send(happened));
    tell(News::Ready { agent: agent.clone(), generation, running: Arc::clone(&running) });
    let end = running.connection().closed().await;
    tell(News::Lost { agent: agent.clone(), generation, end });
    running.begin_stop(StopCause::Asked); // What lost its connection is finished too.
    let report = running.stopped().await;
    farewell.report.clone_from(&report);
    tell(News::Stopped { agent: agent.clone(), generation, report });
    running.gone().await;
}

/// Says that an agent is gone, also when looking after it panics: its place would be taken for ever.
struct Farewell<'a> {
    news: &'a UnboundedSender<News>,
    agent: &'a AgentName,
    generation: Generation,
    report: Option<Arc<StopReport>>,
}

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        let (agent, generation, report) = (self.agent.clone(), self.generation, self.report.take());
        let _ = self.news.send(News::Gone { agent, generation, report });
    }
}
