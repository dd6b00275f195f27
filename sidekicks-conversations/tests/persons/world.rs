//! What is known of everything outside of the conversation: the agents, and who has borrowed one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use sidekicks_acp::testing;
use sidekicks_acp::{AgentName, Borrow, ConnectError, Connector, Lease, LeaseGuard, SingleAgent};
use sidekicks_conversations::{AgentDirectory, AgentProfile};

use crate::agent;
use crate::script::{Lends, Profile, Start};

pub(crate) struct World {
    starts: Vec<Start>,
    started: AtomicUsize,
    lends: Vec<Lends>,
    borrowed: AtomicUsize,
    /// How many leases live.
    pub(crate) leases: AtomicUsize,
    /// From here on everybody behaves well.
    pub(crate) good: AtomicBool,
    pub(crate) profile: Mutex<Profile>,
    /// The prompts that reached an agent, by their text.
    pub(crate) prompts: Mutex<Vec<String>>,
    /// How the questions were answered, by their tool call: with which option, or "cancelled".
    pub(crate) answers: Mutex<BTreeMap<String, String>>,
    /// The questions that living agents wait for.
    pub(crate) unanswered: Mutex<BTreeSet<(usize, String)>>,
    questions: AtomicUsize,
    /// What the client should not have done.
    faults: Mutex<Vec<String>>,
}

impl World {
    pub(crate) fn new(starts: Vec<Start>, lends: Vec<Lends>) -> Arc<Self> {
        Arc::new(Self {
            starts,
            started: AtomicUsize::new(0),
            lends,
            borrowed: AtomicUsize::new(0),
            leases: AtomicUsize::new(0),
            good: AtomicBool::new(false),
            profile: Mutex::default(),
            prompts: Mutex::default(),
            answers: Mutex::default(),
            unanswered: Mutex::default(),
            questions: AtomicUsize::new(0),
            faults: Mutex::default(),
        })
    }

    /// The number of this start, and what it is like.
    pub(crate) fn start(&self) -> (usize, Start) {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let start = if self.is_good() { None } else { self.starts.get(number).cloned() };
        (number, start.unwrap_or_default())
    }

    pub(crate) fn is_good(&self) -> bool {
        self.good.load(Ordering::Relaxed)
    }

    pub(crate) fn question(&self) -> usize {
        self.questions.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn fault(&self, fault: impl Into<String>) {
        self.faults.lock().unwrap().push(fault.into());
    }

    pub(crate) fn assert_no_fault(&self) {
        let faults = self.faults.lock().unwrap();
        assert!(faults.is_empty(), "the agent says: {faults:?}");
    }

    pub(crate) fn leases(&self) -> usize {
        self.leases.load(Ordering::Relaxed)
    }

    /// The one agent there is.
    pub(crate) fn agent(self: &Arc<Self>) -> SingleAgent {
        let world = Arc::clone(self);
        testing::agent(async move |peer| agent::run(world, peer).await)
    }

    /// Where it is found, as it is configured at that moment.
    pub(crate) fn directory(self: &Arc<Self>, agent: SingleAgent) -> impl AgentDirectory + 'static {
        let world = Arc::clone(self);
        let lender: Arc<dyn Connector> = Arc::new(Lender { agent, world: Arc::clone(self) });
        move |_: &AgentName| {
            let Profile { gone, elsewhere, mode, policy } = world.profile.lock().unwrap().clone();
            let mut profile = AgentProfile::new(Arc::clone(&lender), if elsewhere { "/elsewhere" } else { "/work" });
            profile.mode = mode.map(str::to_owned);
            profile.policy = policy;
            (!gone).then_some(profile)
        }
    }
}

/// Lends the agent, sometimes; and counts.
struct Lender {
    agent: SingleAgent,
    world: Arc<World>,
}

#[async_trait]
impl Connector for Lender {
    async fn borrow(&self, request: Borrow) -> Result<Lease, ConnectError> {
        let number = self.world.borrowed.fetch_add(1, Ordering::Relaxed);
        let lends = self.world.lends.get(number).copied().filter(|_| !self.world.is_good());
        match lends.unwrap_or(Lends::Yes) {
            Lends::Yes => {}
            Lends::Late(wait) => {
                request.waiting(&["somebody".to_owned()]);
                tokio::time::sleep(Duration::from_millis(wait)).await;
                request.waiting(&[]);
            }
            Lends::No => return Err(ConnectError::NoRoom { holders: vec!["somebody".to_owned()] }),
        }
        let lease = self.agent.borrow(request).await?;
        let (connection, generation) = (Arc::clone(lease.connection()), lease.generation());
        self.world.leases.fetch_add(1, Ordering::Relaxed);
        Ok(Lease::new(connection, generation, Lent { lease, world: Arc::clone(&self.world) }))
    }
}

struct Lent {
    lease: Lease,
    world: Arc<World>,
}

impl LeaseGuard for Lent {
    fn release(self: Box<Self>) {
        self.world.leases.fetch_sub(1, Ordering::Relaxed);
    }

    fn condemn(self: Box<Self>) {
        self.world.leases.fetch_sub(1, Ordering::Relaxed);
        self.lease.condemn();
    }
}
