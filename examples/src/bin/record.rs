//! Writes every event of a conversation to stdout, as lines of JSON, without losing one. `replay` reads them.
//!
//! ```sh
//! cargo run -p examples --bin record -- "opencode acp" "what is this project?" "and in one word?" >talk.jsonl
//! ```

use std::collections::HashMap;
use std::io::{Write, stdout};

use examples::Outcome;
use sidekicks_acp::{AgentName, SingleAgent};
use sidekicks_conversations::{AgentProfile, Conversations, Event, Options};

const USAGE: &str = "usage: record AGENT_COMMAND PROMPT...";

#[tokio::main]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let agent = SingleAgent::new(examples::command(&arguments.next().ok_or(USAGE)?)?);
    let prompts: Vec<String> = arguments.collect();
    if prompts.is_empty() {
        return Err(USAGE.into());
    }
    let outcome = examples::unless_interrupted(record(agent.clone(), prompts)).await;
    agent.stop().await;
    outcome
}

async fn record(agent: SingleAgent, prompts: Vec<String>) -> Outcome {
    let name = AgentName::from("agent");
    let agents = HashMap::from([(name.clone(), AgentProfile::new(agent, std::env::current_dir()?))]);
    let conversations = Conversations::new(agents, Options::default());
    let conversation = conversations.with(&name).ok_or("the directory knows it")?;

    // A `Subscription` that falls behind gets a reset, which is right for a screen and a gap in a record. For one who
    // follows the agent waits: however slow the disk or the reader of a pipe is, this keeps a few megabytes at most.
    let mut events = conversation.follow();
    for prompt in prompts {
        conversation.send(prompt)?; // The first begins a turn, the others wait for theirs.
    }
    while let Some(event) = events.next().await {
        // Stdout is written line by line: what is a whole line is there, even when this is killed. That this blocks is
        // no harm, since the future of `main` has a thread of its own.
        writeln!(stdout(), "{}", serde_json::to_string(&*event)?)?;
        match &*event {
            Event::PermissionRequested(asked) => examples::say_no(&conversation, asked),
            Event::TurnChanged { turn, .. } if !turn.busy && turn.queued == 0 => break,
            _ => {}
        }
    }
    Ok(())
}
