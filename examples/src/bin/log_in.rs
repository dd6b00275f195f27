//! An agent that wants a login first: shows the ways to log in, logs in by one of them, and prints the answer.
//!
//! ```sh
//! cargo run -p examples --bin log_in -- "what is this project?" "gemini --acp"
//! cargo run -p examples --bin log_in -- "what is this project?" "gemini --acp" oauth-personal
//! ```

use std::collections::HashMap;
use std::io::{Write, stderr, stdout};

use examples::{Outcome, harmless};
use sidekicks_acp::schema::AuthMethod;
use sidekicks_acp::{AgentName, SingleAgent};
use sidekicks_conversations::{AgentProfile, Conversations, Event, Message, Options, PartKind};

const USAGE: &str = "usage: log_in PROMPT AGENT_COMMAND [LOGIN_METHOD]";

#[tokio::main]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let (prompt, line) = arguments.next().zip(arguments.next()).ok_or(USAGE)?;
    let agent = SingleAgent::new(examples::command(&line)?);
    let outcome = examples::unless_interrupted(talk(agent.clone(), prompt, arguments.next())).await;
    agent.stop().await;
    outcome
}

async fn talk(agent: SingleAgent, prompt: String, method: Option<String>) -> Outcome {
    let name = AgentName::from("agent");
    let agents = HashMap::from([(name.clone(), AgentProfile::new(agent, std::env::current_dir()?))]);
    let conversations = Conversations::new(agents, Options::default());
    let conversation = conversations.with(&name).ok_or("the directory knows it")?;
    let mut events = conversations.subscribe();
    conversation.send(prompt)?;

    // The ways to log in, once the agent has said that it wants a login.
    let mut wanted = None;
    let mut out = stdout();
    while let Some(event) = events.next().await {
        match &*event {
            Event::MessageDelta { kind: PartKind::Text, text: Some(text), .. } => write!(out, "{}", harmless(text))?,
            Event::MessageUpdated { message, .. } if message.code.as_deref() == Some("login-required") => {
                wanted = Some(methods(message)?);
            }
            // What waits for a login has an error too, and keeps it when it was sent again as another message.
            Event::MessageUpdated { message, .. } => {
                if let Some(error) = message.error.as_ref().filter(|error| error.code != "login-required") {
                    return Err(harmless(&error.message).into());
                }
            }
            Event::PermissionRequested(asked) => examples::say_no(&conversation, asked),
            // The turn that was not taken ends too. Only then there is something to send again.
            Event::TurnChanged { turn, .. } if !turn.busy => match wanted.take() {
                None => break,
                Some(methods) => {
                    show(&methods)?;
                    let method = method.as_deref().ok_or("say by which of them, as the last argument")?;
                    // It takes as long as a person needs to visit a page. After it the prompt is sent again by itself, so
                    // that the loop goes on with the answer. Where it fails the prompt still waits, for another try.
                    conversation.authenticate(method).await.map_err(|error| format!("not logged in: {error}"))?;
                }
            },
            _ => {}
        }
    }
    writeln!(out)?;
    Ok(())
}

/// What a `login-required` offers. The same is in the `Failure` of the message that waits.
fn methods(message: &Message) -> Outcome<Vec<AuthMethod>> {
    let methods = message.params.as_ref().and_then(|params| params.get("methods")).ok_or("it has methods")?;
    Ok(serde_json::from_value(methods.clone())?)
}

fn show(methods: &[AuthMethod]) -> Outcome {
    writeln!(stderr(), "the agent wants a login, by one of:")?;
    for method in methods {
        writeln!(stderr(), "  {}: {}", harmless(&method.id().0), harmless(method.name()))?;
    }
    Ok(())
}
