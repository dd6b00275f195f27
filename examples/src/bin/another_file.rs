//! Opens one file after the other: each lists other agents, a `NAME COMMAND` a line, which work in the folder of the file.
//!
//! ```sh
//! cargo run -p examples --bin another_file -- "what is this project?" ~/shop/agents ~/blog/agents
//! ```
//!
//! A window keeps its conversations while another file is opened. What was said is forgotten, the old agents are stopped,
//! and the handle of a conversation speaks to whoever has that name in the new file.

use std::collections::BTreeMap;
use std::io::{Write, stderr, stdout};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use examples::Outcome;
use sidekicks_acp::{AgentName, SingleAgent};
use sidekicks_conversations::{AgentDirectory, AgentProfile, Conversation, Conversations, Options, SendError};

/// What a file says.
#[derive(Default)]
struct File {
    folder: PathBuf,
    agents: BTreeMap<AgentName, SingleAgent>,
}

/// The file that is open. Conversations ask it at each turn who an agent is.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<File>>);

impl AgentDirectory for Open {
    fn find(&self, name: &AgentName) -> Option<AgentProfile> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.agents.get(name).map(|agent| AgentProfile::new(agent.clone(), &file.folder))
    }
}

impl Open {
    /// Opens another file; the old agents are gone when this returns.
    async fn switch(&self, to: File, conversations: &Conversations) {
        let old = mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), to);
        // In this order: what is sent from here on reaches the new agents, what was said is forgotten, and the old agents
        // may still end what they do in a civil way, and close their sessions, before they are stopped.
        conversations.forget().await;
        for (name, agent) in old.agents {
            if let Some(report) = agent.stop().await {
                let _ = writeln!(stderr(), "[{name} ended by {:?}]", report.step);
            }
        }
    }
}

fn read(path: &str) -> Outcome<File> {
    let path = Path::new(path).canonicalize()?; // The folder of an agent is an absolute path.
    let mut file = File { folder: path.parent().ok_or("a file is in a folder")?.to_owned(), ..File::default() };
    for line in std::fs::read_to_string(&path)?.lines() {
        let (name, command) = line.split_once(' ').ok_or("a line is NAME COMMAND")?;
        file.agents.insert(name.into(), SingleAgent::new(examples::command(command)?));
    }
    Ok(file)
}

#[tokio::main]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let prompt = arguments.next().ok_or("usage: another_file PROMPT FILE...")?;
    let open = Open::default();
    let conversations = Conversations::new(open.clone(), Options::default());
    let talk = async {
        let mut window = BTreeMap::new(); // The conversations that it shows, kept from file to file.
        for path in arguments {
            let file = read(&path)?; // Before anything of the old one is given up.
            let names: Vec<AgentName> = file.agents.keys().cloned().collect();
            open.switch(file, &conversations).await;
            window.extend(names.into_iter().filter_map(|name| Some((name.clone(), conversations.with(&name)?))));
            for conversation in window.values() {
                say(conversation, &prompt).await?;
            }
        }
        Ok(())
    };
    let outcome = examples::unless_interrupted(talk).await;
    open.switch(File::default(), &conversations).await; // Which is how one closes a file.
    outcome
}

async fn say(conversation: &Conversation, prompt: &str) -> Outcome {
    let mut out = stdout();
    writeln!(out, "== {}", conversation.agent())?;
    let events = conversation.follow();
    match conversation.send(prompt) {
        // It was in a file before, and is not in this one.
        Err(error @ SendError::NoSuchAgent) => return Ok(writeln!(out, "[{error}]")?),
        sent => sent?,
    };
    examples::print_answer(conversation, events).await
}
