//! Lets an agent work with nobody there: rules of the user decide, then code, and each decision is told on stderr.
//!
//! ```sh
//! cargo run -p examples --bin unattended -- "run the tests" "gemini --acp" \
//!   '[{"decide": "deny", "path": "**/.env"}, {"decide": "allow", "command": "cargo test *"}]'
//! ```

use std::collections::HashMap;
use std::io::{Write, stderr, stdout};
use std::sync::Arc;

use examples::{Outcome, harmless};
use sidekicks_acp::{AgentName, SingleAgent};
use sidekicks_conversations::{
    Action, AgentProfile, Conversations, Decision, Event, Options, PartKind, Permission, ResolvedBy, Rule,
};

const USAGE: &str = "usage: unattended PROMPT AGENT_COMMAND RULES";

#[tokio::main]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let (prompt, line) = arguments.next().zip(arguments.next()).ok_or(USAGE)?;
    let rules: Vec<Rule> = serde_json::from_str(&arguments.next().ok_or(USAGE)?)?;
    let agent = SingleAgent::new(examples::command(&line)?);
    let outcome = examples::unless_interrupted(work(agent.clone(), prompt, rules)).await;
    agent.stop().await;
    outcome
}

/// What no rule says anything of. Whatever is left open here would wait for a person.
async fn decide(permission: Arc<Permission>) -> Decision {
    let looks = matches!(permission.action, Action::ReadFile | Action::Search);
    if looks && permission.dangers.is_empty() { Decision::Allow } else { Decision::Deny }
}

async fn work(agent: SingleAgent, prompt: String, rules: Vec<Rule>) -> Outcome {
    let name = AgentName::from("agent");
    let profile = AgentProfile::new(agent, std::env::current_dir()?).rules(rules);
    let options = Options::default().decider(decide);
    let conversations = Conversations::new(HashMap::from([(name.clone(), profile)]), options);
    let conversation = conversations.with(&name).ok_or("the directory knows it")?;
    let mut events = conversation.follow();
    conversation.send(prompt)?;
    let mut out = stdout();
    while let Some(event) = events.next().await {
        match &*event {
            Event::MessageDelta { kind: PartKind::Text, text: Some(text), .. } => write!(out, "{}", harmless(text))?,
            Event::MessageUpdated { message, .. } => {
                if let Some(error) = &message.error {
                    return Err(harmless(&error.to_string()).into());
                }
            }
            // A rule wants a person to be asked, or the agent offers no single answer that is meant.
            Event::PermissionRequested(question) => {
                writeln!(stderr(), "[{}: nobody is there]", harmless(&question.title))?;
                examples::say_no(&conversation, question);
            }
            // With the question itself, since nobody was asked.
            Event::PermissionResolved { permission: Some(question), option, by, rule, .. } => {
                let chosen = question.options.iter().find(|choice| Some(&choice.id) == option.as_ref());
                let kind = chosen.map_or("cancelled", |choice| choice.kind.as_str());
                let why = match (by, rule) {
                    (ResolvedBy::Rule, Some(rule)) => serde_json::to_string(rule)?,
                    (by, _) => format!("{by:?}"),
                };
                writeln!(stderr(), "[{}: {kind}, by {why}]", harmless(&question.title))?;
            }
            Event::TurnChanged { turn, .. } if !turn.busy => break,
            _ => {}
        }
    }
    Ok(writeln!(out)?)
}
