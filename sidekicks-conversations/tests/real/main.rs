//! Conversations with agents of other people, offline, each beside a scripted model.
//!
//! They are looked for in the folder `SIDEKICKS_TEST_AGENTS`, each in a subfolder of its name; what runs them beside
//! their model, `with_agent.py`, is looked for in `SIDEKICKS_AGENT_TOOLS`, else in `../shared/agents` beside the
//! workspace. What is not there is skipped, and said.

mod embedder;
mod home;
#[path = "../replay/shape.rs"]
mod shape;

use std::future::pending;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use embedder::Embedder;
use home::Home;
use shape::message_word;
use sidekicks_conversations::{Decide, Message, Part, Policy, ResolvedBy, Rule};
use tokio::sync::Mutex;

/// Longer than anything takes, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// An agent, and what is different with each.
struct Agent {
    name: &'static str,
    /// What the answer is made of when it runs a command that is allowed.
    allowed: &'static str,
    /// The same when it is refused. `None`: it does not ask.
    refused: Option<&'static str>,
    /// The same when it only says something.
    says: &'static str,
    /// Which codes tell whether it remembers anything after its process was stopped.
    recalls: &'static [&'static str],
    /// Its questions tell the command that is to be run, and not in a title only.
    tells_commands: bool,
    /// It plays one turn, whatever it is told.
    canned: bool,
}

const TYPICAL: Agent = Agent {
    name: "",
    allowed: "agent[thought tool:completed text] end_turn",
    refused: Some("agent[tool:failed] end_turn"),
    says: "agent[text] end_turn",
    recalls: &["session-resumed"],
    tells_commands: true,
    canned: false,
};

impl Agent {
    async fn works(&self) {
        // Each takes a few hundred megabytes and both cores.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());
        let _one = ONE_AT_A_TIME.lock().await;
        let home = match Home::of(self.name) {
            Ok(home) => home,
            Err(reason) => return skipped(self.name, &reason),
        };
        let mut embedder = Embedder::in_home(&home);
        self.runs_what_is_allowed(&home, &mut embedder).await;
        self.goes_on_after_a_rest(&mut embedder).await;
        self.obeys(&home, &mut embedder).await;
        self.obeys_rules(&home, &mut embedder).await;
        self.is_stopped_in_mid_command(&home, &mut embedder).await;
        embedder.rest().await;
        embedder.catch_up().await;
        drop(embedder);
        home.leave();
    }

    async fn runs_what_is_allowed(&self, home: &Home, embedder: &mut Embedder) {
        let answer = embedder.turn("think: hm\nrun: touch allowed", "allow_once").await;
        assert_eq!(message_word(&answer, &[]), self.allowed);
        assert_eq!(embedder.asked.len(), usize::from(self.refused.is_some()));
        assert!(self.canned || home.cwd.join("allowed").exists());
        let mode = embedder.mirror.modes.as_ref().map(|modes| &*modes.current_mode_id.0);
        assert!(home.mode.is_none() || home.mode.as_deref() == mode, "it is in mode {mode:?}");
    }

    async fn goes_on_after_a_rest(&self, embedder: &mut Embedder) {
        embedder.rest().await;
        embedder.catch_up().await;
        let before = embedder.mirror.messages.len();
        let answer = embedder.turn("say: after the rest", "allow_once").await;
        let is_notice = |message: &&Arc<Message>| message.code.as_deref() == Some("notice");
        let news: Vec<_> = embedder.mirror.messages[before..].iter().filter(|message| !is_notice(message)).collect();
        let code = news[1].code.as_deref().unwrap_or_default();
        assert!(self.recalls.contains(&code), "{news:#?}");
        assert_eq!(news.len(), 3, "a prompt, what became of its session, and an answer: {news:#?}");
        // Where it remembers, nothing of what was said before is said again.
        self.said(&answer, "after the rest");
    }

    async fn obeys(&self, home: &Home, embedder: &mut Embedder) {
        let Some(refused) = self.refused else {
            return skipped(self.name, "it asks for nothing that could be refused");
        };
        let asked = embedder.asked.len();
        let answer = embedder.turn("run: touch refused", "reject_once").await;
        assert_eq!(message_word(&answer, &[]), refused);
        assert_eq!(embedder.asked.len(), asked + 1);
        assert!(!home.cwd.join("refused").exists());
    }

    /// Nobody is asked, and one command is run: what a rule allows, where it is known to be that.
    async fn obeys_rules(&self, home: &Home, embedder: &mut Embedder) {
        let Some(refused) = self.refused else { return };
        let asked = embedder.asked.len();
        embedder.settled_by.clear();
        embedder.decide_by(Policy::DenyAll, &[Rule::new(Decide::Allow).command("touch by-*")]);
        let answer = embedder.turn("run: touch by-rule", "none").await;
        let known = self.tells_commands && cfg!(feature = "dangers");
        assert_eq!(home.cwd.join("by-rule").exists(), known, "{answer:#?}");
        let answer = embedder.turn("run: touch otherwise", "none").await;
        assert_eq!(message_word(&answer, &[]), refused);
        assert!(!home.cwd.join("otherwise").exists());
        let first = if known { ResolvedBy::Rule } else { ResolvedBy::Policy };
        assert_eq!(embedder.settled_by, [first, ResolvedBy::Policy]);
        assert_eq!(embedder.asked.len(), asked, "nobody is asked");
        embedder.decide_by(Policy::Ask, &[]);
    }

    async fn is_stopped_in_mid_command(&self, home: &Home, embedder: &mut Embedder) {
        let (with, running) = (embedder.with.clone(), home.cwd.join("running"));
        let is_running = || {
            let transcript = with.messages();
            let parts = transcript.messages.last().map(|message| &message.parts);
            let in_tool = parts.is_some_and(|parts| parts.iter().any(|part| matches!(part, Part::Tool(_))));
            running.exists() || (self.canned && in_tool)
        };
        let stop = async {
            while !is_running() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            with.stop();
            pending().await
        };
        let answer = tokio::select! {
            biased; // First it is said.
            answer = embedder.turn("run: touch running && sleep 300", "allow_once") => answer,
            () = stop => unreachable!("the turn ends first"),
        };
        assert_eq!(answer.stop_reason.as_deref(), Some("cancelled"), "{answer:#?}");
        let answer = embedder.turn("say: still here", "allow_once").await;
        self.said(&answer, "still here");
    }

    /// It said this, and nothing else but what it says of itself each time.
    fn said(&self, answer: &Message, text: &str) {
        assert_eq!(message_word(answer, &[]), self.says);
        let said = answer.parts.last().is_some_and(|part| match part {
            Part::Text { text: said, .. } => said.to_string().ends_with(text),
            _ => false,
        });
        assert!(said || self.canned, "{answer:#?}");
    }
}

fn skipped(name: &str, reason: &str) {
    // Not eprintln, which is shown for tests that fail only.
    let _ = std::io::stderr().write_all(format!("skipped: {name}: {reason}\n").as_bytes());
}

#[tokio::test]
async fn kimi_cli() {
    Agent { name: "kimi-cli", ..TYPICAL }.works().await;
}

#[tokio::test]
async fn gemini_cli() {
    let refused = Some("agent[tool:unfinished text] end_turn");
    // It finds the session again only when that was begun in an earlier minute.
    let recalls = &["session-resumed", "agent-restarted"];
    Agent { name: "gemini-cli", refused, recalls, tells_commands: false, ..TYPICAL }.works().await;
}

#[tokio::test]
async fn sdk_example() {
    let (allowed, refused) = (
        "agent[text tool:completed text tool:completed text] end_turn",
        Some("agent[text tool:completed text tool:unfinished text] end_turn"),
    );
    let recalls = &["agent-restarted"];
    let name = "sdk-example";
    Agent { name, allowed, refused, says: allowed, recalls, tells_commands: false, canned: true }.works().await;
}

#[tokio::test]
async fn opencode() {
    Agent { name: "opencode", ..TYPICAL }.works().await;
}

#[tokio::test]
async fn codex_acp() {
    let (allowed, refused) = ("agent[thought tool:completed text] end_turn", Some("agent[tool:failed] cancelled"));
    Agent { name: "codex-acp", allowed, refused, ..TYPICAL }.works().await;
}

#[tokio::test]
async fn codex_acp_zed() {
    let (allowed, refused) =
        ("agent[text thought tool:completed text] end_turn", Some("agent[text tool:cancelled] cancelled"));
    Agent { name: "codex-acp-zed", allowed, refused, ..TYPICAL }.works().await;
}

#[tokio::test]
async fn mistral_vibe() {
    Agent { name: "mistral-vibe", refused: Some("agent[tool:failed text] end_turn"), ..TYPICAL }.works().await;
}

#[tokio::test]
async fn fast_agent() {
    Agent { name: "fast-agent", allowed: "agent[tool:unfinished text] end_turn", refused: None, ..TYPICAL }
        .works()
        .await;
}
