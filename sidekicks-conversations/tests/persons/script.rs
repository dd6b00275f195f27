//! What persons and agents may do, at random.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use sidekicks_conversations::{Decision, Permission, Policy};
use tokio::time::sleep;

/// What a person does next. Numbers choose among what there is, and among what there never was.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Send,
    /// Two at once.
    SendTwice,
    /// With a picture, which some agents do not take.
    SendPicture,
    Stop,
    /// Waits until it has stopped.
    StopToTheEnd,
    CancelTurn,
    Resend(usize),
    Unqueue(usize),
    /// To its end, or only begun.
    Forget(bool),
    Answer(usize, &'static str),
    SetMode(&'static str),
    SetModel(&'static str),
    Authenticate(&'static str),
    /// The configuration changes.
    Configure(Profile),
    /// The agent is stopped, as one that nobody needs for long.
    IdleStop,
    /// Somebody else begins to watch.
    Join,
    /// Somebody else begins to follow.
    Follow,
    /// Waits for so many events, for a second.
    Watch(usize),
    /// Lets others do something, so many times.
    Yield(usize),
    /// Milliseconds.
    Wait(u64),
}

/// What is configured of the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Profile {
    pub(crate) gone: bool,
    pub(crate) elsewhere: bool,
    pub(crate) mode: Option<&'static str>,
    pub(crate) policy: Policy,
}

/// What one start of the agent is like. What it has no more words for, it does well.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    pub(crate) handshake: Says,
    pub(crate) remembers: Remembers,
    /// It closes sessions, and how well.
    pub(crate) closes: Option<Says>,
    /// Modes and models.
    pub(crate) offers: bool,
    pub(crate) takes_pictures: bool,
    pub(crate) opens: Vec<Says>,
    pub(crate) settings: Vec<Says>,
    pub(crate) logins: Vec<Says>,
    pub(crate) cancels: Vec<Obeys>,
    pub(crate) turns: Vec<Vec<Step>>,
}

/// What an agent answers to a call.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Says {
    #[default]
    Yes,
    /// After so many milliseconds.
    Late(u64),
    No,
    LogIn,
    Nothing,
    /// It exits.
    Exit,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Remembers {
    #[default]
    Nothing,
    /// `session/resume`.
    All,
    /// `session/load`, with a replay.
    Replays,
    /// `session/load`, with no replay.
    Claims,
}

/// What an agent makes of a cancel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Obeys {
    #[default]
    AtOnce,
    /// It ends the turn so, after so many milliseconds.
    Late(u64, &'static str),
    WithAnError,
    Never,
}

/// What an agent does in a turn, and after it.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Say(&'static str),
    Think,
    Tool(&'static str, &'static str),
    /// Asks; waits for the answer or goes on. The title says what the decider makes of it.
    Ask(bool, &'static str),
    /// Takes its last question back.
    Withdraw,
    /// Very much at once.
    Burst,
    /// Something in a session that is not open.
    Elsewhere,
    Mode(&'static str),
    Usage,
    Wait(u64),
    End(&'static str),
    EndTwice,
    Refuse(i64),
    Exit,
    CloseOutput,
}

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let mode = || select(vec!["ask", "auto", "none"]);
    let policy = select(vec![Policy::Ask, Policy::Ask, Policy::AllowReads, Policy::AllowAll, Policy::DenyAll]);
    let profile = (prop::bool::weighted(0.15), prop::bool::weighted(0.3), prop::option::weighted(0.3, mode()), policy)
        .prop_map(|(gone, elsewhere, mode, policy)| Profile { gone, elsewhere, mode, policy });
    let act = prop_oneof![
        12 => Just(Act::Send),
        3 => Just(Act::SendTwice),
        1 => Just(Act::SendPicture),
        3 => Just(Act::Stop),
        1 => Just(Act::StopToTheEnd),
        3 => Just(Act::CancelTurn),
        5 => any::<usize>().prop_map(Act::Resend),
        4 => any::<usize>().prop_map(Act::Unqueue),
        2 => any::<bool>().prop_map(Act::Forget),
        8 => (any::<usize>(), select(vec!["yes", "yes", "no", "wrong"])).prop_map(|(which, option)| Act::Answer(which, option)),
        2 => mode().prop_map(Act::SetMode),
        2 => select(vec!["large", "none"]).prop_map(Act::SetModel),
        2 => select(vec!["key", "magic"]).prop_map(Act::Authenticate),
        2 => profile.prop_map(Act::Configure),
        1 => Just(Act::IdleStop),
        1 => Just(Act::Join),
        1 => Just(Act::Follow),
        8 => (1..9usize).prop_map(Act::Watch),
        8 => (1..20usize).prop_map(Act::Yield),
        14 => select(vec![1, 1, 5, 50, 300, 3_000, 11_000, 61_000, 130_000]).prop_map(Act::Wait),
    ];
    prop::collection::vec(act, 1..50)
}

pub(crate) fn starts() -> impl Strategy<Value = Vec<Start>> {
    prop::collection::vec(start(), 0..6)
}

/// Mostly yes.
fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        12 => Just(Says::Yes),
        2 => select(vec![3, 2_000]).prop_map(Says::Late),
        1 => Just(Says::No),
        1 => Just(Says::LogIn),
        1 => Just(Says::Nothing),
        1 => Just(Says::Exit),
    ]
}

fn start() -> impl Strategy<Value = Start> {
    let many = || prop::collection::vec(says(), 0..4);
    let remembers = select(vec![Remembers::Nothing, Remembers::All, Remembers::Replays, Remembers::Claims]);
    let obeys = prop_oneof![
        4 => Just(Obeys::AtOnce),
        2 => (select(vec![20, 5_000, 15_000]), reason()).prop_map(|(after, reason)| Obeys::Late(after, reason)),
        1 => Just(Obeys::WithAnError),
        2 => Just(Obeys::Never),
    ];
    let turns = prop::collection::vec(turn(), 0..7);
    let handshake = prop_oneof![8 => Just(Says::Yes), 1 => says()];
    let shape = (handshake, remembers, prop::option::of(says()), any::<bool>(), any::<bool>());
    let calls = (many(), many(), many(), prop::collection::vec(obeys, 0..4));
    (shape, calls, turns).prop_map(|(shape, (opens, settings, logins, cancels), turns)| {
        let (handshake, remembers, closes, offers, takes_pictures) = shape;
        Start { handshake, remembers, closes, offers, takes_pictures, opens, settings, logins, cancels, turns }
    })
}

/// What the decider makes of a question: most are left to the person, some after so many milliseconds.
const TITLES: &[&str] = &["ask", "ask", "ask", "ask", "1", "300", "9000", "allow", "deny", "wrong", "never"];

pub(crate) async fn decide(permission: Arc<Permission>) -> Decision {
    match permission.title.as_str() {
        "ask" => Decision::Ask,
        "allow" => Decision::Allow,
        "deny" => Decision::Deny,
        "wrong" => Decision::Select("wrong".to_owned()),
        "never" => std::future::pending().await,
        wait => {
            sleep(Duration::from_millis(wait.parse().expect("a number"))).await;
            Decision::Ask
        }
    }
}

fn reason() -> impl Strategy<Value = &'static str> {
    select(vec!["end_turn", "end_turn", "cancelled", "refusal", "bored"])
}

/// Some steps, an end, and what comes late. Without an end it goes on until it is cancelled.
fn turn() -> impl Strategy<Value = Vec<Step>> {
    let step = || {
        prop_oneof![
            4 => select(vec!["la", "é", "", "🦀"]).prop_map(Step::Say),
            1 => Just(Step::Think),
            3 => (select(vec!["t", "u"]), select(vec!["pending", "in_progress", "completed", "failed"]))
                .prop_map(|(id, status)| Step::Tool(id, status)),
            4 => (any::<bool>(), select(TITLES)).prop_map(|(waits, title)| Step::Ask(waits, title)),
            1 => Just(Step::Withdraw),
            1 => prop_oneof![30 => Just(Step::Usage), 1 => Just(Step::Burst)],
            1 => Just(Step::Elsewhere),
            1 => select(vec!["ask", "auto"]).prop_map(Step::Mode),
            3 => select(vec![2, 40, 400, 7_000, 70_000]).prop_map(Step::Wait),
        ]
    };
    let end = prop_oneof![
        8 => reason().prop_map(|reason| vec![Step::End(reason)]),
        1 => Just(vec![Step::EndTwice]),
        2 => select(vec![-32603, -32000]).prop_map(|code| vec![Step::Refuse(code)]),
        1 => Just(vec![Step::Exit]),
        1 => Just(vec![Step::CloseOutput]),
        2 => Just(Vec::new()),
    ];
    let steps = || prop::collection::vec(step(), 0..5);
    (steps(), end, prop_oneof![2 => Just(Vec::new()), 1 => steps()])
        .prop_map(|(steps, end, late)| [steps, end, late].concat())
}

/// What becomes of a wish to borrow; mostly nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lends {
    Yes,
    /// There is room only after so many milliseconds.
    Late(u64),
    No,
}

pub(crate) fn lends() -> impl Strategy<Value = Vec<Lends>> {
    let lends = prop_oneof![
        8 => Just(Lends::Yes),
        2 => select(vec![4, 900, 20_000]).prop_map(Lends::Late),
        1 => Just(Lends::No),
    ];
    prop::collection::vec(lends, 0..12)
}
