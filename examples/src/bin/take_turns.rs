//! Several agents with room for one: each is started when it is spoken to, and the one before it makes room.
//!
//! ```sh
//! cargo run -p examples --bin take_turns -- "what is this project?" "opencode acp" "gemini --acp" "kimi acp"
//! ```
//!
//! Whatever way it ends, the agents end too: Ctrl-C and the other signals that end programs stop them politely, pressing Ctrl-C again hurries,
//! and the guard ends them when this program is killed.

use std::error::Error;
use std::io::{Write, stderr, stdout};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use sidekicks_acp::{AgentName, Guard};
use sidekicks_agents::{AgentSpec, Options, Specs, Supervisor};
use sidekicks_conversations::{AgentProfile, Conversations, Event, PartKind};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: take_turns PROMPT AGENT_COMMAND...";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let prompt = arguments.next().ok_or(USAGE)?;
    let mut specs = Specs::new();
    for line in arguments {
        let command = examples::command(&line)?;
        specs = specs.agent(line, AgentSpec::new(command));
    }
    specs.max_running = NonZeroUsize::new(1);
    let names: Vec<AgentName> = specs.agents.keys().cloned().collect();
    if names.is_empty() {
        return Err(USAGE.into());
    }

    let mut options = Options::default();
    let home = std::env::var_os("HOME").ok_or("there is no HOME")?;
    options.guard = Some(Guard::start(PathBuf::from(home).join(".local/state/take_turns")).await?);
    let agents = Supervisor::new(options);
    agents.apply(specs)?;

    let talk = talk(agents.clone(), names, prompt);
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (mut hangup, mut quit) = (signal(SignalKind::hangup())?, signal(SignalKind::quit())?);
    let outcome = tokio::select! {
        outcome = talk => outcome,
        _ = interrupt.recv() => Err("interrupted".into()),
        _ = terminate.recv() => Err("terminated".into()),
        _ = hangup.recv() => Err("hung up".into()),
        _ = quit.recv() => Err("quit".into()),
    };
    tokio::select! {
        reports = agents.shutdown() => {
            for (name, report) in reports {
                let _ = writeln!(stderr(), "[{name} ended by {:?}]", report.step);
            }
        }
        () = async { while interrupt.recv().await.is_some() { agents.hurry() } } => {}
    }
    outcome
}

/// Says the prompt to each of them, twice around.
async fn talk(agents: Supervisor, names: Vec<AgentName>, prompt: String) -> Result<(), Box<dyn Error>> {
    let cwd = std::env::current_dir()?;
    let directory = move |name: &AgentName| Some(AgentProfile::new(agents.agent(name.clone()), &cwd));
    let conversations = Conversations::new(directory, sidekicks_conversations::Options::default());
    let (mut events, mut out) = (conversations.subscribe(), stdout());
    for name in names.iter().chain(&names) {
        writeln!(out, "== {name}")?; // Not println, which panics where nobody reads any more: agents would be killed.
        let conversation = conversations.with(name).ok_or("the directory knows every name")?;
        conversation.send(&*prompt)?;
        while let Some(event) = events.next().await {
            match &*event {
                Event::MessageDelta { kind: PartKind::Text, text: Some(text), .. } => write!(out, "{text}")?,
                Event::MessageUpdated { message, .. } => {
                    message.error.iter().try_for_each(|error| writeln!(out, "[{}]", error.message))?;
                }
                Event::PermissionRequested(asked) => examples::say_no(&conversation, asked),
                Event::TurnChanged { turn, .. } if !turn.busy => break,
                _ => {}
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
