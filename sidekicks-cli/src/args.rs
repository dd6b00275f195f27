//! The arguments.

use std::path::PathBuf;

use clap::{Args as Arguments, Parser, Subcommand};

use crate::lang::Lang;
use crate::style::Color;

/// Talk to local coding agents from the terminal.
#[derive(Debug, Parser)]
#[command(name = "sidekicks", version, propagate_version = true)]
pub(crate) struct Args {
    /// Print events as JSON, one a line, instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Speak this language. By default SIDEKICKS_LANG, then the language of the system.
    #[arg(long, global = true, value_enum, value_name = "LANG")]
    pub(crate) lang: Option<Lang>,

    /// When to use colours. By default on a terminal, unless NO_COLOR is set or TERM is dumb.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, hide_default_value = true)]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask an agent one thing, print its answer, and end.
    ///
    /// Only the answer goes to stdout; everything else goes to stderr.
    #[command(after_help = ASK_HELP, override_usage = ASK_USAGE)]
    Ask(AskArgs),

    /// Be the built-in agent, on stdin and stdout: no network, no model.
    ///
    /// Usually started by `sidekicks ask demo`. Told `run: COMMAND` or `write: FILE` it asks for permission and does
    /// it; `fail`, `stall` and `long: N` try out an interface.
    DemoAgent,
}

#[derive(Debug, Arguments)]
pub(crate) struct AskArgs {
    /// The agent (`demo`, for now; left out with --agent-command), then what to ask it. Without a prompt, or with `-` as
    /// its last word, stdin is read (after the prompt and a blank line, where there is one).
    #[arg(value_name = "AGENT PROMPT")]
    pub(crate) words: Vec<String>,

    /// Start this program as the agent. Split into words like a shell would, without a shell.
    #[arg(long, value_name = "PROGRAM ARG…")]
    pub(crate) agent_command: Option<String>,

    /// The folder that the agent works in: that of its session. By default the current one, in which it is started in
    /// any case.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
}

const ASK_USAGE: &str = "\
sidekicks ask [OPTIONS] AGENT [PROMPT]...
       sidekicks ask [OPTIONS] --agent-command <PROGRAM ARG…> [PROMPT]...";

const ASK_HELP: &str = "\
Examples:
  sidekicks ask demo \"hello\"
  sidekicks ask demo \"run: ls -l\"
  git diff | sidekicks ask demo \"explain this\" -
  sidekicks ask --agent-command \"opencode acp\" \"what is this project?\"
  sidekicks ask demo -- \"- a prompt that begins with a dash\"

Exit codes:
  0  the agent answered               4  it could not be started, or wants a login
  1  the agent failed                 5  it stopped for another reason, or said nothing
  2  wrong usage                      130 (129, 131, 143)  interrupted by a signal";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        super::Args::command().debug_assert();
    }
}
