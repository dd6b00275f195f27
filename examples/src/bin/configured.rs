//! Talks to the agents of a configuration file, and follows the file: what is saved there counts at the next line.
//!
//! ```sh
//! cargo run -p examples --bin configured -- sidekicks.jsonc
//! @riker what is this project?
//! and what is missing?
//! ```

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Write, stderr};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use examples::Outcome;
use sidekicks_acp::AgentName;
use sidekicks_agents::{Specs, Supervisor};
use sidekicks_config::{Event, Language, Loaded, load, watch};
use sidekicks_conversations::{AgentProfile, Conversations, Options};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

/// The agents of the file. Each turn looks in here, so that a change takes effect at the next one.
#[derive(Clone)]
struct Team {
    supervisor: Supervisor,
    profiles: Arc<RwLock<HashMap<AgentName, AgentProfile>>>,
}

#[tokio::main]
async fn main() -> Outcome {
    let file = std::env::args_os().nth(1).ok_or("usage: configured FILE")?;
    let loaded = load(Path::new(&file))?;
    let supervisor = Supervisor::new(sidekicks_agents::Options::default());
    let team = Team { supervisor: supervisor.clone(), profiles: Arc::default() };
    team.follow(&loaded);

    let first = loaded.config.agents.iter().find(|(_, agent)| agent.enabled).map(|(name, _)| AgentName::from(name));
    let conversations = Conversations::new(team.profiles.clone(), Options::default());
    let watch = watch(loaded, move |event| match event {
        Event::Changed(loaded) => team.follow(&loaded),
        event => drop(writeln!(stderr(), "[{event:?}]")),
    });
    let outcome = examples::unless_interrupted(talk(conversations, first)).await;
    watch.stop(); // Before the agents are stopped: it would start none, but it would tell of them.
    supervisor.shutdown().await;
    outcome
}

impl Team {
    /// Does what the file says. It never has an agent with an error: that one is as it was, or not there.
    fn follow(&self, loaded: &Loaded) {
        let environment = || Language::of_environment(|name| std::env::var_os(name));
        let language = loaded.config.language.language().unwrap_or_else(environment);
        for problem in &loaded.problems {
            let at = problem.start;
            let place = format!("{}:{}:{}", loaded.path.display(), at.line, at.column);
            let _ = writeln!(stderr(), "{place}: {}: {}", problem.path, problem.message(language));
        }
        let env = |name: &str| -> Option<OsString> { std::env::var_os(name) };
        if let Err(error) = self.supervisor.apply(Specs::from_config(&loaded.config, &loaded.path, &env)) {
            let _ = writeln!(stderr(), "{error}");
        }
        let agents = loaded.config.agents.names().filter_map(|name| loaded.effective(name, &env));
        let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let profiles = agents.filter(|agent| agent.enabled).map(|agent| {
            let name = AgentName::from(agent.name.as_str());
            (name.clone(), AgentProfile::from_config(self.supervisor.agent(name), &agent, &here))
        });
        let profiles: HashMap<_, _> = profiles.collect();
        let mut names: Vec<&str> = profiles.keys().map(AgentName::as_str).collect();
        names.sort_unstable();
        let _ = writeln!(stderr(), "[agents: {}]", names.join(", "));
        *self.profiles.write().unwrap_or_else(PoisonError::into_inner) = profiles;
    }
}

/// Sends each line to the agent that it names, or else to the one before.
async fn talk(conversations: Conversations, mut agent: Option<AgentName>) -> Outcome {
    let mut lines = BufReader::new(stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let mut prompt = line.as_str();
        if let Some((name, rest)) = line.strip_prefix('@').and_then(|line| line.split_once(' ')) {
            (agent, prompt) = (Some(name.into()), rest);
        }
        let Some(conversation) = agent.as_ref().and_then(|name| conversations.with(name)) else {
            writeln!(stderr(), "there is no such agent")?;
            continue;
        };
        let events = conversation.follow();
        conversation.send(prompt)?;
        examples::print_answer(&conversation, events).await?;
    }
    Ok(())
}
