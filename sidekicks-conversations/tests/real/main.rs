//! Conversations with agents of other people, offline, each beside a scripted model.
//!
//! They are looked for in the folder `SIDEKICKS_TEST_AGENTS`, each in a subfolder of its name; what runs them beside
//! their model, `with_agent.py`, is looked for in `SIDEKICKS_AGENT_TOOLS`, else in `../shared/agents` beside the
//! workspace. What is not there is skipped, and said.

mod embedder;
mod home;
#[path = "../replay/shape.rs"]
mod shape;

use std::io::Write;
use std::time::Duration;

use embedder::Embedder;
use home::Home;
use tokio::sync::Mutex;

/// Longer than anything takes, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

async fn goes_on(name: &str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());
    let _one = ONE_AT_A_TIME.lock().await;
    let home = match Home::of(name) {
        Ok(home) => home,
        Err(reason) => {
            // Not eprintln, which is shown for tests that fail only.
            let _ = writeln!(std::io::stderr(), "skipped: {name}: {reason}");
            return;
        }
    };
    let mut embedder = Embedder::in_home(&home);
    let begun = std::time::Instant::now();
    let say = |what: &str| println!("--- {name} {:?} {what}", begun.elapsed());
    embedder.turn("think: hm\nrun: touch allowed", "allow_once").await;
    say(&format!("allowed {}", home.cwd.join("allowed").exists()));
    embedder.rest().await;
    say("stopped");
    embedder.turn("say: after the rest", "allow_once").await;
    say("second");
    embedder.turn("run: touch refused", "reject_once").await;
    say(&format!("refused {}", home.cwd.join("refused").exists()));
    let running = home.cwd.join("running");
    let with = embedder.with.clone();
    let stop = async {
        loop {
            let tool = with
                .messages()
                .messages
                .last()
                .is_some_and(|m| m.parts.iter().any(|p| matches!(p, sidekicks_conversations::Part::Tool(_))));
            if running.exists() || (name == "sdk-example" && tool) || !with.messages().turn.busy {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        println!("--- running {} {:?}", running.exists(), begun.elapsed());
        with.stop();
    };
    tokio::join!(embedder.turn("run: touch running && sleep 300", "allow_once"), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        stop.await
    });
    say("stopped");
    embedder.turn("say: still here", "allow_once").await;
    say("still");
    embedder.rest().await;
    embedder.turn("say: third life", "allow_once").await;
    say("third");
    embedder.rest().await;
    embedder.catch_up().await;
    for message in &embedder.mirror.messages {
        println!("{}", shape::message_word(message, &[]));
        for part in &message.parts {
            println!("      {}", format!("{part:?}").chars().take(300).collect::<String>());
        }
        if let Some(p) = &message.params {
            println!("      {p:?}");
        }
        if let Some(p) = &message.error {
            println!("      {p:?}");
        }
    }
    for asked in &embedder.asked {
        println!("asked {:?} {:?} {:?}", asked.action, asked.command, asked.title);
    }
    let t = &embedder.mirror;
    println!(
        "offer: commands {} modes {:?} options {} usage {:?} title {:?}",
        t.commands.len(),
        t.modes.as_ref().map(|m| m.current_mode_id.clone()),
        t.config_options.len(),
        t.usage.is_some(),
        t.title
    );
    drop(embedder);
    home.leave();
    say("left");
}

#[tokio::test]
async fn kimi_cli() {
    goes_on("kimi-cli").await;
}
#[tokio::test]
async fn gemini_cli() {
    goes_on("gemini-cli").await;
}
#[tokio::test]
async fn sdk_example() {
    goes_on("sdk-example").await;
}
#[tokio::test]
async fn codex_acp() {
    goes_on("codex-acp").await;
}
#[tokio::test]
async fn codex_acp_zed() {
    goes_on("codex-acp-zed").await;
}
#[tokio::test]
async fn opencode() {
    goes_on("opencode").await;
}
#[tokio::test]
async fn mistral_vibe() {
    goes_on("mistral-vibe").await;
}
#[tokio::test]
async fn fast_agent() {
    goes_on("fast-agent").await;
}
