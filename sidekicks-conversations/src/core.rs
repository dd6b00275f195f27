//! What a conversation decides: no waiting, one call for each thing that happens.

mod agent;
mod card;
mod choices;
mod confirm;
mod forget;
mod notices;
mod offers;
pub(crate) mod owner;
mod person;
mod questions;
mod sessions;
mod settings;
mod telling;
mod time;
mod tools;
mod turns;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sidekicks_acp::schema::ContentBlock;
use sidekicks_acp::{AgentName, ConnectError, Connector, Lease, PromptId, SessionEvents};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::conversations::Common;
use crate::decider::Decision;
use crate::directory::AgentProfile;
use crate::fold::Cursor;
use crate::id::MessageId;
use crate::permission::Permission;
use crate::wish::{Setting, Way, Wish};
use card::Card;
pub(crate) use choices::{Answer, Errand};
use choices::{Chosen, Returned};
pub(crate) use forget::{Farewell, Farewells};
use notices::Compactions;
use owner::Owner;
use questions::Question;
pub(crate) use questions::{Grounds, Judgement};
use sessions::{Memory, Session};
use time::{Heard, Late};
use tools::Failing;

/// The state of one conversation. Everything that is seen of it goes through the hub.
pub(crate) struct Core {
    agent: AgentName,
    common: Arc<Common>,
    /// In whose name the agent is borrowed.
    owner: Owner,
    /// Nobody is left to wait for the agent.
    closed: bool,
    listens: bool,
    turn: Option<Turn>,
    queue: VecDeque<(MessageId, Vec<ContentBlock>)>,
    /// What did not reach the agent, and can be sent again.
    unsent: HashMap<MessageId, Vec<ContentBlock>>,
    /// What is sent again after a login.
    login_awaited: Vec<MessageId>,
    questions: Vec<Question>,
    card: Option<Card>,
    session: Option<Session>,
    /// The session that remembers what was said.
    memory: Option<Memory>,
    /// What somebody chose, which goes before what is configured.
    chosen: Wish,
    /// What somebody chose and the agent has not answered yet, in order.
    choices: Vec<Chosen>,
    returned: Vec<Returned>,
    /// What was configured when that was last looked at.
    configured: Option<Wish>,
    cursor: Cursor,
    /// What the agent said before there was anything to answer.
    unclaimed: String,
    compactions: Compactions,
    late: Late,
    orders: Orders,
    next_number: u64,
    busy: watch::Sender<bool>,
}

/// One message on its way to the agent and back.
struct Turn {
    message: MessageId,
    content: Vec<ContentBlock>,
    profile: AgentProfile,
    stage: Stage,
    /// Held from the end of borrowing on.
    lease: Option<Lease>,
    /// Who holds the room that is waited for.
    waiting_for: Vec<String>,
    /// What is being answered in; from the prompt on.
    answer: Option<MessageId>,
    cancelled: bool,
    /// When it is ended here, if it was cancelled and is not waited for as long as it takes.
    deadline: Option<Instant>,
    /// Whether it was begun once more, as after a connection that ended before the prompt was written.
    retried: bool,
    /// It was told that the agent remembers.
    resumed: bool,
    /// How much was heard of the session since it was open, while the prompt waited for a moment of quiet.
    crossed: usize,
    failing: Failing,
    heard: Heard,
}

#[derive(Debug, Clone, PartialEq)]
enum Stage {
    Borrowing(Number),
    Opening,
    Setting {
        number: Number,
        setting: Setting,
        /// What the agent was asked, and under which number.
        asked: Option<(Number, Way)>,
    },
    Prompting(PromptId),
}

/// Names something that is waited for, or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Number(u64);

/// Something that the task is to wait for, for as long as it is wanted.
pub(crate) enum Want {
    /// The agent, for a turn or for a question between turns.
    Lease { connector: Arc<dyn Connector>, owner: String },
    /// That everything was heard that the session has said so far, or until then: what came before a prompt is no answer
    /// to it.
    Quiet(Option<Instant>),
    /// That the agent is asked for what the turn is to set, and answers.
    Setting,
    /// That a question is looked into.
    Judgement(Arc<Permission>, Arc<Grounds>),
    /// What the decider says of a question.
    Decision(Arc<Permission>),
}

/// What came of it.
pub(crate) enum Done {
    Lease(Result<Lease, ConnectError>),
    Quiet,
    Setting(Answer),
    /// Nothing where that failed.
    Judgement(Option<Judgement>),
    /// Nothing where the decider failed.
    Decision(Option<Decision>),
}

/// What the task is to do at once.
#[derive(Default)]
pub(crate) struct Orders {
    /// A new session to follow, or that there is none any more.
    pub(crate) follow: Option<Option<(Number, SessionEvents)>>,
    /// Sessions to take leave of.
    pub(crate) farewells: Vec<Farewell>,
}

impl Core {
    pub(crate) fn new(agent: AgentName, common: Arc<Common>, busy: watch::Sender<bool>) -> Self {
        Self {
            owner: Owner::new(&agent),
            agent,
            common,
            closed: false,
            listens: true,
            turn: None,
            queue: VecDeque::new(),
            unsent: HashMap::new(),
            login_awaited: Vec::new(),
            questions: Vec::new(),
            card: None,
            session: None,
            memory: None,
            chosen: Wish::default(),
            choices: Vec::new(),
            returned: Vec::new(),
            configured: None,
            cursor: Cursor::default(),
            unclaimed: String::new(),
            compactions: Compactions::default(),
            late: Late::default(),
            orders: Orders::default(),
            next_number: 0,
            busy,
        }
    }

    // What the task asks for, and what it waited for.

    pub(crate) fn wants(&self) -> Vec<(Number, Want)> {
        let turn = self.turn.as_ref().and_then(|turn| match &turn.stage {
            Stage::Borrowing(number) => {
                let connector = Arc::clone(&turn.profile.connector);
                Some((*number, Want::Lease { connector, owner: self.owner.to_string() }))
            }
            Stage::Setting { number, .. } => Some((*number, Want::Setting)),
            Stage::Opening => {
                let session = self.session.as_ref().filter(|session| session.id.is_some());
                session.map(|session| (session.number, Want::Quiet(session.recall.quiet_until())))
            }
            Stage::Prompting(_) => None,
        });
        let card = self.card.as_ref().and_then(|card| card.wants(self.owner.of("question")));
        let returned = self.returned.iter().map(Returned::wants);
        turn.into_iter().chain(card).chain(returned).collect()
    }

    pub(crate) fn done(&mut self, number: Number, done: Done) {
        let stage = self.turn.as_ref().map(|turn| &turn.stage);
        // What is not wanted any more goes back, or means nothing.
        match (done, stage) {
            (Done::Lease(lease), Some(Stage::Borrowing(wanted))) if *wanted == number => self.borrowed(lease),
            (Done::Lease(lease), _) => self.card_borrowed(number, lease),
            (Done::Setting(answer), Some(Stage::Setting { number: wanted, setting, asked })) if *wanted == number => {
                let (setting, asked) = (setting.clone(), asked.clone());
                self.set(setting, asked, answer);
            }
            (Done::Setting(_), _) => {}
            (Done::Judgement(judgement), _) => self.looked_into(number, judgement),
            (Done::Decision(decision), _) => self.decided(number, decision),
            (Done::Quiet, _) => {
                if !self.heard_before(number) && self.is_quiet() {
                    self.ready();
                    self.tell_turn();
                }
            }
        }
    }

    fn is_quiet(&self) -> bool {
        let until = self.session.as_ref().and_then(|session| session.recall.quiet_until());
        until.is_none_or(|until| until <= Instant::now())
    }

    /// Who holds the room that is waited for; nobody where it is waited for no more.
    pub(crate) fn waits(&mut self, number: Number, holders: Vec<String>) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.stage == Stage::Borrowing(number)) {
            turn.waiting_for = owner::shown(&holders);
            self.tell_turn();
        }
    }

    pub(crate) fn orders(&mut self) -> Orders {
        std::mem::take(&mut self.orders)
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the agent is to end its turn.
    pub(crate) fn is_stopping(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.cancelled)
    }

    fn number(&mut self) -> Number {
        self.next_number += 1;
        Number(self.next_number)
    }
}
