//! What code decides, and what time does.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_decider_is_asked_what_the_policy_leaves_open() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let decider = move |permission: Arc<Permission>| {
        seen.lock().unwrap().push(permission.title.clone());
        async move {
            match permission.command.as_deref() {
                Some("make") => Decision::Allow,
                Some("rm a") if !permission.dangers.is_empty() => Decision::Deny,
                Some("make test") => Decision::Select("always".to_owned()),
                Some("make lint") => Decision::Select("whatever".to_owned()),
                Some("make check") => panic!("on purpose"),
                _ => Decision::Ask,
            }
        }
    };
    let commands = ["make", "rm a", "make test", "make lint", "make check", "ls"];
    let mut questions: Vec<Value> = commands.map(|command| run(command, command)).into();
    questions.push(read("u"));
    let profile = |profile: AgentProfile| profile.policy(Policy::AllowReads);
    let mut talk = talk(questions, OPTIONS, profile, options().decider(decider));
    talk.with.send("Go").unwrap();
    let permission = talk.asked().await;
    talk.with.answer(&permission.id, "yes").unwrap();
    talk.idle().await;
    let mut told = told(&mut talk).await;
    told.sort();
    assert_eq!(
        told,
        [
            "p3 selected yes by decider",
            "p4 selected no by decider",
            "p5 selected always by decider",
            "p6 selected no by decider",
            "p7 selected no by decider",
            "p8 asks: ls",
            "p8 selected yes by user",
            "p9 selected yes by policy",
        ]
    );
    assert_eq!(said(&talk), "yes no always no no yes yes");
    let mut asked = asked.lock().unwrap().clone();
    asked.sort();
    assert_eq!(asked, ["ls", "make", "make check", "make lint", "make test", "rm a"]);
}

#[tokio::test(start_paused = true)]
async fn a_decider_that_fails_where_nothing_refuses_cancels() {
    let decider = |_: Arc<Permission>| async { panic!("on purpose") };
    for offered in [&[("y", "allow_once")][..], &[("a", "reject_once"), ("b", "reject_once")]] {
        let agent = testing::agent(move |peer| asks(peer, vec![run("t", "ls")], offered));
        let mut talk = talk_to(agent, options().decider(decider));
        talk.with.send("Go").unwrap();
        talk.idle().await;
        assert_eq!(told(&mut talk).await, ["p3 cancelled by decider"]);
    }
}

/// Lets each go on by its title.
#[derive(Default)]
struct Gates(Mutex<HashMap<String, Arc<Notify>>>);

impl Gates {
    fn of(&self, title: &str) -> Arc<Notify> {
        Arc::clone(self.0.lock().unwrap().entry(title.to_owned()).or_default())
    }
}

#[tokio::test(start_paused = true)]
async fn questions_are_asked_in_the_order_in_which_they_came() {
    let gates = Arc::new(Gates::default());
    let decider = {
        let gates = Arc::clone(&gates);
        move |permission: Arc<Permission>| {
            let gate = gates.of(&permission.title);
            async move {
                gate.notified().await;
                if permission.title == "c" { Decision::Allow } else { Decision::Ask }
            }
        }
    };
    let profile = |profile: AgentProfile| profile;
    let questions = vec![run("a", "a"), run("b", "b"), run("c", "c"), run("d", "d")];
    let mut talk = talk(questions, OPTIONS, profile, options().decider(decider));
    talk.with.send("Go").unwrap();
    settled().await;
    talk.told().await;
    let steps: [(&str, &[&str]); 4] = [
        ("b", &[]), // It waits for `a`.
        ("c", &["p5 selected yes by decider"]),
        ("a", &["p3 asks: a", "p4 asks: b"]),
        ("d", &["p6 asks: d"]),
    ];
    for (title, expected) in steps {
        gates.of(title).notify_one();
        settled().await;
        assert_eq!(told(&mut talk).await, expected, "{title}");
    }
    let open: Vec<String> = talk.with.messages().permissions.iter().map(|it| it.title.clone()).collect();
    assert_eq!(open, ["a", "b", "d"]);
    talk.with.stop();
    talk.idle().await;
    assert_eq!(told(&mut talk).await, ["p3 cancelled by stop", "p4 cancelled by stop", "p6 cancelled by stop"]);
}

/// Tells that it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A decider that never decides, and counts how many of its futures were dropped.
struct Undecided(Arc<AtomicUsize>);

#[async_trait]
impl Decider for Undecided {
    async fn decide(&self, _: Arc<Permission>) -> Decision {
        let _dropped = Dropped(Arc::clone(&self.0));
        std::future::pending().await
    }
}

async fn forget(all: Conversations) {
    all.forget().await;
}

/// What a person does meanwhile.
type Meanwhile = fn(&Talk);

#[tokio::test(start_paused = true)]
async fn a_decider_is_given_up_when_the_question_is_settled_otherwise() {
    let after = |what: &'static str| {
        testing::agent(async move |mut peer: Peer| {
            ready(&mut peer).await;
            let prompt = peer.prompted().await;
            peer.ask(&json!(0), "s1", run("t", "ls"), OPTIONS).await;
            settled().await;
            match what {
                "withdrawn" => peer.notify("$/cancel_request", json!({"requestId": 0})).await,
                "exited" => return,
                "ended" => {}
                _ => _ = peer.answer(&json!(0)).await,
            }
            peer.end_turn(&prompt, "end_turn").await;
            peer.farewell().await;
        })
    };
    let nothing: Meanwhile = |_| {};
    let table: [(&str, Meanwhile, &str); 7] = [
        ("withdrawn", nothing, "p3 cancelled by agent"),
        ("exited", nothing, "p3 cancelled by agent"),
        ("ended", nothing, "p3 cancelled by agent"),
        ("", |talk| talk.with.stop(), "p3 cancelled by stop"),
        ("", |talk| drop(tokio::spawn(forget(talk.all.clone()))), "p3 cancelled by stop"),
        ("", |talk| talk.with.answer(&"p3".into(), "yes").unwrap(), "p3 selected yes by user"),
        ("", nothing, "p3 selected no by timeout"),
    ];
    for (agent, meanwhile, expected) in table {
        let dropped = Arc::new(AtomicUsize::new(0));
        let options = options().decider(Undecided(Arc::clone(&dropped))).permission_timeout(Duration::from_secs(20));
        let mut talk = talk_to(after(agent), options);
        talk.with.send("Go").unwrap();
        settled().await;
        assert_eq!(talk.with.messages().turn.phase, TurnPhase::Answering, "nobody is asked");
        meanwhile(&talk);
        talk.idle().await;
        settled().await;
        assert_eq!(told(&mut talk).await, [expected], "{agent}");
        assert_eq!(dropped.load(Ordering::Relaxed), 1, "{expected}");
        assert_eq!(talk.with.answer(&"p3".into(), "yes"), Err(AnswerError::AlreadyResolved));
    }
}

#[tokio::test(start_paused = true)]
async fn a_decider_that_takes_long_is_silence() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let options = options().decider(Undecided(dropped));
    let mut talk = talk(vec![run("t", "ls")], OPTIONS, |profile| profile, options);
    talk.with.send("Go").unwrap();
    let silent = |event: &Event| match event {
        Event::TurnChanged { turn, .. } => turn.silent_since.map(|_| turn.phase),
        _ => None,
    };
    assert_eq!(talk.until(silent).await, TurnPhase::Answering);
    talk.with.stop();
    talk.idle().await;
}

#[cfg_attr(not(feature = "dangers"), ignore = "rules are in doubt about a command that is not read")]
#[tokio::test(start_paused = true)]
async fn what_is_due_at_once_is_not_shown_for_a_moment() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let options = options().decider(Undecided(dropped)).permission_timeout(Duration::from_secs(5));
    let rules = [Rule::new(Decide::Ask).command("b")];
    let questions = vec![run("t", "a"), run("u", "b")];
    let mut talk = talk(questions, OPTIONS, |profile| profile.rules(rules), options);
    talk.with.send("Go").unwrap();
    talk.idle().await;
    assert_eq!(told(&mut talk).await, ["p3 selected no by timeout", "p4 selected no by timeout"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_in_time_is_refused() {
    let no: &[(&str, &str)] = &[("y", "allow_once"), ("n", "reject_once")];
    let none: &[(&str, &str)] = &[("y", "allow_once"), ("never", "reject_always")];
    for (offered, expected) in [(no, "p3 selected n by timeout"), (none, "p3 cancelled by timeout")] {
        let started = tokio::time::Instant::now();
        let options = options().permission_timeout(Duration::from_secs(90));
        let mut talk = talk(vec![run("t", "ls")], offered, |profile| profile, options);
        talk.with.send("Go").unwrap();
        talk.idle().await;
        assert_eq!(told(&mut talk).await, ["p3 asks: ls", expected]);
        let passed = started.elapsed();
        assert!((Duration::from_secs(90)..Duration::from_secs(91)).contains(&passed), "{passed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_question_has_its_own_time() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        let prompt = peer.prompted().await;
        peer.ask(&json!(0), "s1", run("t", "a"), OPTIONS).await;
        tokio::time::sleep(Duration::from_secs(50)).await;
        peer.ask(&json!(1), "s1", run("u", "b"), OPTIONS).await;
        peer.answer(&json!(0)).await;
        peer.say("s1", "No?").await;
        peer.answer(&json!(1)).await;
        peer.end_turn(&prompt, "end_turn").await;
        peer.farewell().await;
    });
    let mut talk = talk_to(agent, options().permission_timeout(Duration::from_secs(90)));
    talk.with.send("Go").unwrap();
    talk.until_told("m2.2 +No?").await;
    assert_eq!(told(&mut talk).await, ["p3 asks: a", "p4 asks: b", "p3 selected no by timeout"]);
    talk.with.answer(&"p4".into(), "yes").unwrap();
    talk.idle().await;
    assert_eq!(told(&mut talk).await, ["p4 selected yes by user"]);
}

#[cfg_attr(not(feature = "dangers"), ignore = "rules are in doubt about a command that is not read")]
#[tokio::test(start_paused = true)]
async fn a_question_between_turns_is_settled_without_a_person_too() {
    let agent = testing::agent(async |mut peer: Peer| {
        ready(&mut peer).await;
        common::answers(&mut peer, "Done.").await;
        for (id, command) in ["make", "ls", "wait"].into_iter().enumerate() {
            peer.ask(&json!(id), "s1", run("t", command), OPTIONS).await;
            peer.answer(&json!(id)).await;
        }
        common::answers(&mut peer, "All done.").await;
        peer.farewell().await;
    });
    let decider = |permission: Arc<Permission>| async move {
        if permission.title == "ls" { Decision::Allow } else { Decision::Ask }
    };
    let rules = [Rule::new(Decide::Deny).command("make")];
    let agents = HashMap::from([(name(), AgentProfile::new(agent, "/work").rules(rules))]);
    let options = options().decider(decider).permission_timeout(Duration::from_secs(9));
    let mut talk = talk_with(agents, options);
    talk.with.send("Go").unwrap();
    talk.until_told("p5 selected no by timeout").await;
    let expected =
        ["p3 selected no by rule", "p4 selected yes by decider", "p5 asks: wait", "p5 selected no by timeout"];
    assert_eq!(told(&mut talk).await, expected);
    talk.with.send("Well?").unwrap();
    talk.idle().await;
    assert_eq!(talk.answer().stop_reason.as_deref(), Some("end_turn"));
}
