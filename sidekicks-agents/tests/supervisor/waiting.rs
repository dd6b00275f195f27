//! Who is waited for, told while one waits.

use std::sync::{Arc, Mutex};

use sidekicks_acp::{Borrow, ConnectError, Connector};
use tokio::time::{Instant, sleep, timeout};

use crate::stage::{Plan, Stage, agents, borrow, seconds};

/// What one borrower was told, each time on a line: at which second, and the names.
#[derive(Clone)]
struct Heard {
    begun: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Heard {
    fn new() -> Self {
        Self { begun: Instant::now(), lines: Arc::default() }
    }

    /// A request of `owner` that is heard here.
    fn by(&self, owner: &str) -> Borrow {
        let heard = self.clone();
        Borrow::by(owner).on_wait(move |holders| {
            let at = heard.begun.elapsed().as_secs();
            heard.lines.lock().unwrap().push(format!("{at}s [{}]", holders.join(" ")));
        })
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_who_is_waited_for_until_the_agent_starts() {
    let stage = Stage::default();
    stage.stops_take(seconds(3));
    stage.plan([Plan::Ready, Plan::ReadyAfter(seconds(5))]);
    let supervisor = stage.supervise(agents(&["a", "b"], 1));
    let (a, b) = (supervisor.agent("a"), supervisor.agent("b"));
    let [at_once, for_turn, for_room] = [(); 3].map(|()| Heard::new());
    let first = a.borrow(at_once.by("x")).await.unwrap();
    let second = async {
        let lease = a.borrow(for_turn.by("y")).await.unwrap();
        sleep(seconds(1)).await;
        drop(lease);
    };
    let third = async { b.borrow(for_room.by("z")).await.unwrap() };
    let first = async {
        sleep(seconds(1)).await;
        drop(first);
    };
    let _lease = tokio::join!(first, second, third).2;
    assert_eq!(at_once.lines(), [""; 0]);
    assert_eq!(for_turn.lines(), ["0s [x]", "1s []"]);
    // Nobody borrows `a` while it stops, so that its own name is told.
    assert_eq!(for_room.lines(), ["0s [x]", "1s [y]", "2s [a]", "5s []"]);
    assert_eq!(for_room.begun.elapsed().as_secs(), 10, "nothing is told while it starts");
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_hears_nothing_more_and_who_is_refused_that_it_is_over() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a", "b"], 1));
    let (a, b) = (supervisor.agent("a"), supervisor.agent("b"));
    let lease = a.borrow(Borrow::by("x")).await.unwrap();
    let [given_up, refused, unknown] = [(); 3].map(|()| Heard::new());
    let mut late = refused.by("z");
    late.deadline = Some(Instant::now() + seconds(2));
    let given = timeout(seconds(1), b.borrow(given_up.by("y")));
    let nobody = supervisor.agent("nobody");
    let (given, late, nobody) = tokio::join!(given, b.borrow(late), nobody.borrow(unknown.by("y")));
    assert!(given.is_err() && matches!(nobody, Err(ConnectError::Unknown)));
    assert!(matches!(late, Err(ConnectError::NoRoom { holders }) if holders == ["x"]));
    drop(lease);
    drop(borrow(&b).await.unwrap());
    assert_eq!(given_up.lines(), ["0s [x]"]);
    assert_eq!(refused.lines(), ["0s [x]", "2s []"]);
    assert_eq!(unknown.lines(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_who_listens_is_their_own_and_frees_their_place() {
    let stage = Stage::default();
    let supervisor = stage.supervise(agents(&["a", "b"], 1));
    let (a, b) = (supervisor.agent("a"), supervisor.agent("b"));
    let lease = a.borrow(Borrow::by("x")).await.unwrap();
    let panics = tokio::spawn({
        let b = b.clone();
        async move { b.borrow(Borrow::by("y").on_wait(|_| panic!("planned"))).await.map(drop) }
    });
    assert!(panics.await.unwrap_err().is_panic());
    sleep(seconds(1)).await;
    assert_eq!(b.state().unwrap().waiting, 0);
    drop(lease);
    drop(borrow(&b).await.unwrap());
    assert_eq!(stage.log(), ["launch a#1", "stop a#1 Room", "gone a#1", "launch b#1"]);
}
