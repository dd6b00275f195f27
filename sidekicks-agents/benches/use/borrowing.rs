//! Borrow and give back an agent that runs: beside a semaphore, which is the least that lending could cost, and beside a
//! bare task that is asked by one message, answers by another, and is told by a third.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{AgentCommand, Borrow, ConnectOptions, Connector, StartError};
use sidekicks_agents::{Agent, AgentSpec, Launch, Launcher, Options, RunningAgent, Specs, Supervisor};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Every how many agents somebody borrows one, and how many take turns with each.
const SHAPES: [(usize, usize); 3] = [(1, 1), (1, 10), (100, 1)];

pub(crate) fn run(times: usize) {
    println!("{:<44}{:>16}{:>22}{:>22}", "borrow and give back, per second", "semaphore", "three messages", "ours");
    for (agents, borrowers) in SHAPES {
        let runtime = Runtime::new().expect("a runtime can be made");
        let mut rounds = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..5 {
            rounds[0].push(runtime.block_on(semaphores(agents, borrowers, times)));
            rounds[1].push(runtime.block_on(messages(agents, borrowers, times)));
            rounds[2].push(runtime.block_on(ours(agents, borrowers, times)));
        }
        let [floor, peer, ours] = rounds.map(|mut rounds| {
            rounds.sort_unstable();
            times as f64 / rounds[rounds.len() / 2].as_secs_f64()
        });
        let name = format!("{agents} running, {borrowers} at a time for each");
        println!("{name:<44}{floor:>16.0}{peer:>16.0} {:>4.2}×{ours:>16.0} {:>4.2}×", peer / floor, ours / floor);
    }
}

/// Runs `borrow` so many times in all, in a task for each borrower; tells how long that took.
async fn together<F, B>(agents: usize, borrowers: usize, times: usize, borrow: impl Fn(usize) -> F) -> Duration
where
    F: Fn() -> B + Send + Sync + 'static,
    B: Future<Output = ()> + Send,
{
    let each = times / (agents * borrowers);
    let begun = Instant::now();
    let tasks: Vec<_> = (0..agents * borrowers)
        .map(|number| {
            let borrow = borrow(number % agents);
            tokio::spawn(async move {
                for _ in 0..each {
                    borrow().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("nothing panics");
    }
    begun.elapsed()
}

async fn semaphores(agents: usize, borrowers: usize, times: usize) -> Duration {
    let semaphores: Vec<_> = (0..agents).map(|_| Arc::new(Semaphore::new(1))).collect();
    let borrow = |agent: usize| {
        let semaphore = Arc::clone(&semaphores[agent]);
        move || {
            let semaphore = Arc::clone(&semaphore);
            async move { drop(semaphore.acquire().await) }
        }
    };
    together(agents, borrowers, times, borrow).await
}

async fn messages(agents: usize, borrowers: usize, times: usize) -> Duration {
    enum Message {
        Borrow(oneshot::Sender<()>),
        GiveBack,
    }
    let (mailbox, mut messages) = mpsc::unbounded_channel();
    let lender = tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            match message {
                Message::Borrow(reply) => reply.send(()).unwrap_or_default(),
                Message::GiveBack => {}
            }
        }
    });
    let borrow = |_: usize| {
        let mailbox = mailbox.clone();
        move || {
            let mailbox = mailbox.clone();
            async move {
                let (reply, lease) = oneshot::channel();
                let _ = mailbox.send(Message::Borrow(reply));
                let _ = lease.await;
                let _ = mailbox.send(Message::GiveBack);
            }
        }
    };
    let took = together(agents, borrowers, times, borrow).await;
    drop(mailbox);
    lender.await.expect("nothing panics");
    took
}

async fn ours(agents: usize, borrowers: usize, times: usize) -> Duration {
    let supervisor = Supervisor::with_launcher(Options::default(), InMemory);
    let name = |agent: usize| format!("agent {agent}");
    let add = |specs: Specs, agent| specs.agent(name(agent), AgentSpec::new(AgentCommand::new("in memory")));
    supervisor.apply((0..agents).fold(Specs::new(), add)).expect("they can work");
    let handles: Vec<Agent> = (0..agents).map(|agent| supervisor.agent(name(agent))).collect();
    for agent in &handles {
        drop(agent.borrow(Borrow::default()).await.expect("it starts"));
    }
    let borrow = |agent: usize| {
        let agent = handles[agent].clone();
        move || {
            let agent = agent.clone();
            async move { drop(agent.borrow(Borrow::default()).await.expect("it runs")) }
        }
    };
    let took = together(agents, borrowers, times, borrow).await;
    supervisor.shutdown().await;
    took
}

struct InMemory;

#[async_trait]
impl Launcher for InMemory {
    async fn launch(&self, _launch: Launch) -> Result<Arc<dyn RunningAgent>, StartError> {
        let script = async |mut peer: Peer| {
            peer.shake_hands().await;
            peer.farewell().await;
        };
        Ok(Arc::new(testing::connect(script, &ConnectOptions::default()).await?))
    }
}
