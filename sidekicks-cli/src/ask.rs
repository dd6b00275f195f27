//! `sidekicks ask`: one prompt, its answer, and nothing left behind.

mod agent;
mod card;
mod circles;
mod output;
mod questions;
mod screen;
mod turn;

use std::io::{IsTerminal, Read, stderr, stdin};
use std::path::{Path, PathBuf};

use sidekicks_acp::Guard;
use sidekicks_acp::schema::Implementation;
use sidekicks_agents::{Options, Specs, Supervisor};

use crate::args::AskArgs;
use crate::exit;
use crate::manner::Manner;
use crate::say::Say;
use crate::start::Start;
use crate::state;

use agent::Asked;
use turn::Asking;

pub(crate) fn main(args: AskArgs, start: &Start, manner: Manner) -> u8 {
    match prepare(args, start, manner) {
        Ok((asked, prompt)) => run(asked, prompt, manner),
        Err(code) => code,
    }
}

fn run(mut asked: Asked, prompt: String, manner: Manner) -> u8 {
    let cannot_start = |reason: &dyn std::fmt::Display| {
        manner.complain(Say::CannotStart { reason: &reason.to_string() }, exit::FAILED)
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cannot_start(&error),
    };
    asked.spec.connect.client = Implementation::new("sidekicks-cli", env!("CARGO_PKG_VERSION"));
    let code = runtime.block_on(async {
        let mut options = Options::default();
        options.guard = guard(manner).await;
        let agents = Supervisor::new(options);
        if let Err(error) = agents.apply(Specs::new().agent(asked.name.clone(), asked.spec.clone())) {
            return cannot_start(&error);
        }
        let profile = asked.profile(agents.agent(asked.name.clone()));
        match Asking::new(asked.name, agents, profile, manner) {
            Ok(asking) => asking.ask(prompt).await,
            Err(error) => cannot_start(&error),
        }
    });
    // Not the ordinary drop: a write that nobody reads would be waited for.
    runtime.shutdown_background();
    code
}

/// Ends the agent even if we are killed. Where there can be none, an answer is worth more than that.
async fn guard(manner: Manner) -> Option<Guard> {
    match Guard::start(state::folder()?).await {
        Ok(guard) => Some(guard),
        Err(error) => {
            manner.complain(Say::NoGuard { reason: &error.to_string() }, exit::DONE);
            None
        }
    }
}

/// Who is asked, and what.
fn prepare(args: AskArgs, start: &Start, manner: Manner) -> Result<(Asked, String), u8> {
    let AskArgs { mut words, agent_command, cwd } = args;
    let usage = |say: Say<'_>| manner.complain(say, exit::USAGE);
    let mut asked = match &agent_command {
        Some(line) => Asked::command_line(line).ok_or_else(|| usage(Say::BadAgentCommand))?,
        None if words.is_empty() => return Err(usage(Say::NoAgent { example: agent::example(start) })),
        None => agent::find(&words.remove(0), start, manner)?,
    };
    let here = Path::new(".");
    let given = cwd.as_deref();
    let cwd = folder(given.unwrap_or(here))
        .map_err(|reason| usage(Say::BadCwd { path: &given.unwrap_or(here).to_string_lossy(), reason: &reason }))?;
    asked.work_in(cwd, given.is_some());
    let prompt = prompt(words, manner)?;
    if prompt.trim().is_empty() {
        return Err(usage(Say::NoPrompt));
    }
    Ok((asked, prompt))
}

/// An absolute path of a folder that is there.
fn folder(path: &Path) -> Result<PathBuf, String> {
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    match path.is_dir() {
        true => Ok(path),
        false => Err(std::io::Error::from(std::io::ErrorKind::NotADirectory).to_string()),
    }
}

/// The prompt of these words. Stdin is read where they say so or there are none, and otherwise left alone: an open pipe
/// that was inherited must not be waited for.
fn prompt(mut words: Vec<String>, manner: Manner) -> Result<String, u8> {
    let read = words.is_empty() || words.last().is_some_and(|last| last == "-");
    if !read {
        return Ok(words.join(" "));
    }
    words.pop();
    if stdin().is_terminal() && stderr().is_terminal() {
        manner.note(&format!("{}\n", Say::ReadingStdin.text(manner.lang)));
    }
    let mut bytes = Vec::new();
    if let Err(error) = stdin().lock().read_to_end(&mut bytes) {
        return Err(manner.complain(Say::BadStdin { reason: &error.to_string() }, exit::USAGE));
    }
    let piped = String::from_utf8_lossy(&bytes).into_owned();
    Ok(if words.is_empty() { piped } else { format!("{}\n\n{piped}", words.join(" ")) })
}
