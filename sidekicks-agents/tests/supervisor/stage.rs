//! Agents without processes: each start follows a plan.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use sidekicks_acp::testing::{self, Peer};
use sidekicks_acp::{
    AgentCommand, AgentConnection, AgentName, Borrow, ConnectError, ConnectOptions, Connection, Connector, ExitStatus,
    Lease, StartError, StartFailure, StopCause, StopReport, StopStep,
};
use sidekicks_agents::{Agent, AgentSpec, Launch, Launcher, Options, RunningAgent, Specs, Supervisor};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

/// How a start goes. One that is not planned is ready at once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Ready,
    ReadyAfter(Duration),
    /// It fails after this time.
    Fails(Duration),
    Panics,
    /// It runs, and panics when it is asked for this.
    PanicsIn(&'static str),
    /// It is over when it is ready.
    LeavesAtOnce,
    /// It runs, and never tells how much memory it uses.
    NeverMeasured,
}

/// The launcher, and what the tests see of it.
#[derive(Clone, Default)]
pub(crate) struct Stage {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    plans: Mutex<VecDeque<Plan>>,
    /// How long a stop takes.
    stopping: Mutex<Duration>,
    /// What happened, in order.
    log: Mutex<Vec<String>>,
    memory: Mutex<BTreeMap<AgentName, u64>>,
    crash: Mutex<BTreeMap<AgentName, Arc<Notify>>>,
}

impl Stage {
    pub(crate) fn supervise(&self, specs: Specs) -> Supervisor {
        let supervisor = Supervisor::with_launcher(Options::default(), self.clone());
        supervisor.apply(specs).unwrap();
        supervisor
    }

    pub(crate) fn plan(&self, plans: impl IntoIterator<Item = Plan>) {
        self.inner.plans.lock().unwrap().extend(plans);
    }

    pub(crate) fn stops_take(&self, time: Duration) {
        *self.inner.stopping.lock().unwrap() = time;
    }

    pub(crate) fn uses(&self, agent: &str, bytes: u64) {
        self.inner.memory.lock().unwrap().insert(agent.into(), bytes);
    }

    /// The agent leaves by itself.
    pub(crate) fn crash(&self, agent: &str) {
        self.inner.crash.lock().unwrap()[&AgentName::from(agent)].notify_one();
    }

    /// What happened since the last call.
    pub(crate) fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.inner.log.lock().unwrap())
    }

    fn note(&self, line: String) {
        self.inner.log.lock().unwrap().push(line);
    }
}

#[async_trait]
impl Launcher for Stage {
    async fn launch(&self, launch: Launch) -> Result<Arc<dyn RunningAgent>, StartError> {
        let name = launch.agent.clone();
        let who = format!("{name}#{}", launch.generation.0);
        self.note(format!("launch {who}"));
        let plan = self.inner.plans.lock().unwrap().pop_front().unwrap_or(Plan::Ready);
        let failed = || Err(StartFailure::TimedOut(launch.spec.connect.start_timeout).into());
        match plan {
            Plan::Ready | Plan::PanicsIn(_) | Plan::LeavesAtOnce | Plan::NeverMeasured => {}
            Plan::ReadyAfter(time) => {
                let given_up = tokio::select! {
                    () = sleep(time) => false,
                    () = launch.given_up() => true,
                };
                if given_up {
                    self.note(format!("give up {who}"));
                    return failed();
                }
            }
            Plan::Fails(time) => {
                sleep(time).await;
                return failed();
            }
            Plan::Panics => panic!("planned"),
        }
        let crash = Arc::new(Notify::new());
        self.inner.crash.lock().unwrap().insert(name.clone(), Arc::clone(&crash));
        let script = async move |mut peer: Peer| {
            peer.shake_hands().await;
            tokio::select! {
                () = peer.farewell() => {}
                () = crash.notified() => {}
            }
        };
        let connection = testing::connect(script, &ConnectOptions::default()).await?;
        if matches!(plan, Plan::LeavesAtOnce) {
            self.crash(name.as_str());
            connection.closed().await;
        }
        Ok(Arc::new(Actor { stage: self.clone(), name, who, connection, plan, stop: Mutex::default() }))
    }
}

struct Actor {
    stage: Stage,
    name: AgentName,
    who: String,
    connection: Connection,
    plan: Plan,
    /// When it has stopped.
    stop: Mutex<Option<Instant>>,
}

impl Actor {
    fn asked_for(&self, what: &str) {
        assert!(!matches!(self.plan, Plan::PanicsIn(planned) if planned == what), "planned");
    }
}

#[async_trait]
impl RunningAgent for Actor {
    fn connection(&self) -> Arc<dyn AgentConnection> {
        self.asked_for("connection");
        Arc::new(self.connection.clone())
    }

    fn begin_stop(&self, cause: StopCause) {
        self.asked_for("begin_stop");
        let mut stop = self.stop.lock().unwrap();
        if stop.is_none() {
            *stop = Some(Instant::now() + *self.stage.inner.stopping.lock().unwrap());
            if self.connection.end().is_none() {
                self.stage.note(format!("stop {} {cause:?}", self.who));
            }
            self.connection.stop(cause);
        }
    }

    fn hurry(&self) {
        self.asked_for("hurry");
        self.stage.note(format!("hurry {}", self.who));
    }

    async fn stopped(&self) -> Option<Arc<StopReport>> {
        self.asked_for("stopped");
        let at = self.stop.lock().unwrap().expect("it is stopped before that is waited for");
        sleep_until(at).await;
        self.stage.note(format!("gone {}", self.who));
        Some(Arc::new(StopReport::new(StopStep::Eof, ExitStatus::Code(0))))
    }

    async fn memory(&self) -> Option<u64> {
        if matches!(self.plan, Plan::NeverMeasured) {
            std::future::pending::<()>().await;
        }
        self.asked_for("memory");
        self.stage.inner.memory.lock().unwrap().get(&self.name).copied()
    }
}

/// Agents with default specs.
pub(crate) fn agents(names: &[&str], max_running: usize) -> Specs {
    let add = |specs: Specs, name: &&str| specs.agent(*name, AgentSpec::new(AgentCommand::new(*name)));
    let mut specs = names.iter().fold(Specs::new(), add);
    specs.max_running = max_running.try_into().ok();
    specs
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Borrows in the name of a test.
pub(crate) async fn borrow(agent: &Agent) -> Result<Lease, ConnectError> {
    agent.borrow(Borrow::default()).await
}

/// Waits until the agent does this.
pub(crate) async fn until(agent: &Agent, is: sidekicks_agents::Activity, supervisor: &Supervisor) {
    let mut changes = supervisor.changes();
    while agent.state().is_none_or(|state| state.activity != is) {
        changes.next().await.expect("the supervisor is there");
    }
}
