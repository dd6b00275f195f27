//! `sidekicks ask`: one prompt, its answer, and nothing left behind.

mod card;
mod circles;
mod output;
mod questions;
mod screen;
mod turn;

use std::ffi::OsString;
use std::io::{IsTerminal, Read, stderr, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sidekicks_acp::schema::Implementation;
use sidekicks_acp::{AgentCommand, AgentName, ConnectOptions, Guard, SingleAgent, StopPolicy};

use crate::args::AskArgs;
use crate::exit;
use crate::lang::Lang;
use crate::say::Say;
use crate::state;
use crate::style::Color;

use turn::Asking;

/// The built-in agent, which is always there.
const DEMO: &str = "demo";

/// How to speak with the person.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) json: bool,
    pub(crate) lang: Lang,
    pub(crate) color: Color,
}

pub(crate) fn main(args: AskArgs, manner: Manner) -> ExitCode {
    match prepare(args, manner.lang) {
        Ok(prepared) => run(prepared, manner),
        Err(code) => ExitCode::from(code),
    }
}

/// What is to be asked, of whom.
struct Prepared {
    name: AgentName,
    command: AgentCommand,
    cwd: PathBuf,
    prompt: String,
}

fn run(prepared: Prepared, manner: Manner) -> ExitCode {
    let lang = manner.lang;
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return ExitCode::from(complain(lang, Say::CannotStart { reason: &error.to_string() }, exit::FAILED));
        }
    };
    let Prepared { name, command, cwd, prompt } = prepared;
    let mut options = ConnectOptions::default();
    options.client = Implementation::new("sidekicks-cli", env!("CARGO_PKG_VERSION"));
    options.label = name.as_str().to_owned();
    let code = runtime.block_on(async {
        options.guard = guard(lang).await;
        let agent = SingleAgent::with(command, options, StopPolicy::default());
        match Asking::new(name, agent, cwd, manner) {
            Ok(asking) => asking.ask(prompt).await,
            Err(error) => complain(lang, Say::CannotStart { reason: &error.to_string() }, exit::FAILED),
        }
    });
    // Not the ordinary drop: a write that nobody reads would be waited for.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// Ends the agent even if we are killed. Where there can be none, an answer is worth more than that.
async fn guard(lang: Lang) -> Option<Guard> {
    match Guard::start(state::folder()?).await {
        Ok(guard) => Some(guard),
        Err(error) => {
            complain(lang, Say::NoGuard { reason: &error.to_string() }, exit::DONE);
            None
        }
    }
}

fn prepare(args: AskArgs, lang: Lang) -> Result<Prepared, u8> {
    let mut words = args.words;
    let usage = |say: Say<'_>| complain(lang, say, exit::USAGE);
    let (name, command) = match &args.agent_command {
        Some(line) => {
            let split = shlex::split(line).filter(|words| words.first().is_some_and(|program| !program.is_empty()));
            let mut parts = split.ok_or_else(|| usage(Say::BadAgentCommand))?.into_iter();
            let program = parts.next().unwrap_or_default();
            let name = Path::new(&program)
                .file_name()
                .map_or_else(|| program.clone(), |name| name.to_string_lossy().into_owned());
            (name, AgentCommand::new(program).args(parts))
        }
        None if words.is_empty() => return Err(usage(Say::NoAgent)),
        None => {
            let name = words.remove(0);
            if name != DEMO {
                return Err(unknown(&name, lang));
            }
            let own = std::env::current_exe().map(OsString::from);
            let own =
                own.map_err(|error| complain(lang, Say::CannotStart { reason: &error.to_string() }, exit::FAILED))?;
            (name, AgentCommand::new(own).arg("demo-agent"))
        }
    };
    let cwd = args.cwd.unwrap_or_else(|| PathBuf::from("."));
    let cwd = folder(&cwd).map_err(|reason| usage(Say::BadCwd { path: &cwd.to_string_lossy(), reason: &reason }))?;
    let prompt = prompt(words, lang)?;
    if prompt.trim().is_empty() {
        return Err(usage(Say::NoPrompt));
    }
    Ok(Prepared { name: AgentName::new(name), command, cwd, prompt })
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
fn prompt(mut words: Vec<String>, lang: Lang) -> Result<String, u8> {
    let read = words.is_empty() || words.last().is_some_and(|last| last == "-");
    if !read {
        return Ok(words.join(" "));
    }
    words.pop();
    if stdin().is_terminal() && stderr().is_terminal() {
        eprintln!("{}", Say::ReadingStdin.text(lang));
    }
    let mut bytes = Vec::new();
    if let Err(error) = stdin().lock().read_to_end(&mut bytes) {
        return Err(complain(lang, Say::BadStdin { reason: &error.to_string() }, exit::USAGE));
    }
    let piped = String::from_utf8_lossy(&bytes).into_owned();
    Ok(if words.is_empty() { piped } else { format!("{}\n\n{piped}", words.join(" ")) })
}

fn unknown(name: &str, lang: Lang) -> u8 {
    complain(lang, Say::UnknownAgent { name }, exit::USAGE);
    let near = strsim::damerau_levenshtein(&name.to_lowercase(), DEMO) <= 2;
    complain(lang, if near { Say::DidYouMean { name: DEMO } } else { Say::AgentsThereAre }, exit::USAGE)
}

fn complain(lang: Lang, say: Say<'_>, code: u8) -> u8 {
    eprintln!("sidekicks: {}", say.text(lang));
    code
}
