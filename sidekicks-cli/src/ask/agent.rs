//! Who is asked.

use std::ffi::OsString;
use std::io::stderr;
use std::path::{Path, PathBuf};

use sidekicks_acp::{AgentCommand, AgentName, Connector};
use sidekicks_agents::AgentSpec;
use sidekicks_config::{Code, EffectiveAgent, Loaded, Problem, Severity};
use sidekicks_conversations::AgentProfile;

use crate::agents::{DEMO, dropped, has_entry, is_dropped, nothing_known};
use crate::config::place::{entry, is_in, name_of};
use crate::config::problems::{Look, Problems};
use crate::exit;
use crate::manner::Manner;
use crate::say::{About, Say};
use crate::start::{Start, env};

/// Who is asked, and how they are started.
pub(super) struct Asked {
    pub(super) name: AgentName,
    pub(super) spec: AgentSpec,
    /// What the configuration says of it, if it is from there.
    entry: Option<EffectiveAgent>,
    cwd: PathBuf,
}

impl Asked {
    fn new(name: impl Into<AgentName>, spec: AgentSpec, entry: Option<EffectiveAgent>) -> Self {
        Self { name: name.into(), spec, entry, cwd: PathBuf::new() }
    }

    /// The program of `--agent-command`; `None` where that is none.
    pub(super) fn command_line(line: &str) -> Option<Self> {
        let mut words = shlex::split(line)?.into_iter();
        let program = words.next().filter(|program| !program.is_empty())?;
        let file = Path::new(&program).file_name();
        let name = file.map_or_else(|| program.clone(), |name| name.to_string_lossy().into_owned());
        Some(Self::new(name, AgentSpec::new(AgentCommand::new(program).args(words)), None))
    }

    /// The built-in agent, which is this program.
    fn demo(manner: Manner) -> Result<Self, u8> {
        let own = std::env::current_exe()
            .map(OsString::from)
            .map_err(|error| manner.complain(Say::CannotStart { reason: &error.to_string() }, exit::FAILED))?;
        Ok(Self::new(DEMO, AgentSpec::new(AgentCommand::new(own).arg("demo-agent")), None))
    }

    /// Lets it work in this folder, whatever the configuration says if it was `given`, and else if that says nothing.
    pub(super) fn work_in(&mut self, cwd: PathBuf, given: bool) {
        if let Some(entry) = self.entry.as_mut().filter(|_| given) {
            entry.cwd = Some(cwd.clone());
            self.spec.command.cwd = Some(cwd.clone());
        }
        self.cwd = cwd;
    }

    /// How it is talked to.
    pub(super) fn profile(&self, connector: impl Connector) -> AgentProfile {
        match &self.entry {
            Some(entry) => AgentProfile::from_config(connector, entry, &self.cwd),
            None => AgentProfile::new(connector, &self.cwd),
        }
    }
}

/// An agent that can be asked.
pub(super) fn example(start: &Start) -> &str {
    start.readable().and_then(|loaded| enabled(loaded).next()).unwrap_or(DEMO)
}

/// The agent of this name; the exit code where there is none that can be asked, which is told.
pub(super) fn find(name: &str, start: &Start, manner: Manner) -> Result<Asked, u8> {
    start.tell_gone(manner);
    let Some(loaded) = start.loaded(manner)? else {
        return if name == DEMO { Asked::demo(manner) } else { Err(unknown(name, None, manner)) };
    };
    match loaded.effective(name, &env) {
        Some(agent) if !agent.enabled => Err(manner.complain(About::AgentDisabled { name }, exit::USAGE)),
        Some(agent) => {
            start.tell_errors(loaded, manner);
            tell_doubts(&agent, loaded, manner);
            Ok(Asked::new(name, AgentSpec::from(&agent), Some(agent)))
        }
        None if is_dropped(loaded, name) => Err(broken(name, loaded, manner)),
        None if name == DEMO => {
            start.tell_errors(loaded, manner);
            Asked::demo(manner)
        }
        // It may be there, and could not be read.
        None if nothing_known(loaded) => Err(broken(name, loaded, manner)),
        None => {
            let code = unknown(name, Some(loaded), manner);
            start.tell_errors(loaded, manner);
            Err(code)
        }
    }
}

/// Shows why an agent cannot be used: the errors of its entry, or those outside of entries like it.
fn broken(name: &str, loaded: &Loaded, manner: Manner) -> u8 {
    let problems = Problems::of(loaded, &loaded.path);
    let entry = entry("agents", name);
    let errors = || problems.all.iter().filter(|problem| problem.severity() == Severity::Error);
    let own: Vec<&Problem> = errors().filter(|problem| is_in(&problem.path, &entry)).collect();
    // It needs something that has errors, or stands among them.
    let other = |path: &str| ["agents", "channels"].iter().any(|section| name_of(section, path).is_some());
    let shared: Vec<&Problem> = errors().filter(|problem| !other(&problem.path)).collect();
    let shown = if own.is_empty() { shared } else { own };
    manner.note(&problems.shown(shown, Look::of(&stderr(), manner)));
    manner.complain(About::AgentBroken { name }, exit::CONFIG)
}

/// Tells what the agent, or what it refers to, will not get as it was meant: variables, and a program of this name.
fn tell_doubts(agent: &EffectiveAgent, loaded: &Loaded, manner: Manner) {
    let servers = agent.mcp_servers.names().map(|server| entry("mcp_servers", server));
    let workspace = agent.workspace.iter().map(|workspace| entry("workspaces", workspace));
    let concerned: Vec<String> =
        ["defaults".to_owned(), entry("agents", &agent.name)].into_iter().chain(servers).chain(workspace).collect();
    let problems = Problems::of(loaded, &loaded.path);
    for problem in &problems.all {
        let concerns_it = concerned.iter().any(|entry| is_in(&problem.path, entry));
        if concerns_it
            && matches!(problem.code, Code::VariableNotSet { .. } | Code::NotAVariable | Code::CommandWithArguments)
        {
            manner.note(&format!(
                "sidekicks: {}: {}\n",
                problems.place(problem),
                problems.message(problem, manner.lang)
            ));
        }
    }
}

fn enabled(loaded: &Loaded) -> impl Iterator<Item = &str> {
    loaded.config.agents.iter().filter(|(_, agent)| agent.enabled).map(|(name, _)| name)
}

fn unknown(name: &str, loaded: Option<&Loaded>, manner: Manner) -> u8 {
    let demo = Some(DEMO).filter(|demo| !loaded.is_some_and(|loaded| has_entry(loaded, demo)));
    let names: Vec<&str> = loaded.into_iter().flat_map(enabled).chain(demo).collect();
    // Of one that cannot be asked, the next try tells why.
    let others =
        loaded.into_iter().flat_map(|loaded| loaded.config.agents.names().map(str::to_owned).chain(dropped(loaded)));
    let all = others.chain(demo.map(str::to_owned));
    manner.complain(Say::UnknownAgent { name }, exit::USAGE);
    let distance = |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    // Of a short name little is left where two letters are others.
    let most = (name.chars().count() / 2).min(2);
    match all.map(|other| (distance(&other), other)).min_by_key(|(distance, _)| *distance) {
        Some((distance, name)) if distance <= most => manner.complain(Say::DidYouMean { name: &name }, exit::USAGE),
        _ => manner.complain(Say::AgentsThereAre(&names), exit::USAGE),
    }
}
