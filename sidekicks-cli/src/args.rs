//! The arguments.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as Arguments, Parser, Subcommand};

use crate::lang::Lang;
use crate::style::Color;

/// Talk to local coding agents from the terminal.
#[derive(Debug, Parser)]
#[command(name = "sidekicks", version, propagate_version = true)]
pub(crate) struct Args {
    /// Use this configuration file. By default SIDEKICKS_CONFIG, then the one that was opened last, then the one in the
    /// standard place.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON instead of text: events, one a line, or one document.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Speak this language. By default SIDEKICKS_LANG, then what the configuration says, then the language of the system.
    #[arg(long, global = true, value_name = "LANG", value_parser = languages())]
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

    /// Show the agents of the configuration: name, command, folder, and the program that the command is here.
    #[command(after_help = AGENTS_HELP)]
    Agents,

    /// Look after the configuration file.
    #[command(after_help = CONFIG_HELP, subcommand_required = true, arg_required_else_help = true)]
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },

    /// Use this configuration file from now on, and show what is wrong with it.
    #[command(after_help = OPEN_HELP)]
    Open {
        /// The file. One of which nothing can be used is not opened.
        file: PathBuf,
    },

    /// Show the configuration files that were opened, the newest first.
    #[command(after_help = OPEN_HELP)]
    Recent {
        /// Forget this one, whether or not it is still there.
        #[arg(long, value_name = "FILE")]
        forget: Option<PathBuf>,
    },

    /// Be the built-in agent, on stdin and stdout: no network, no model.
    ///
    /// Usually started by `sidekicks ask demo`. Told `run: COMMAND` or `write: FILE` it asks for permission and does
    /// it; `fail`, `stall` and `long: N` try out an interface.
    DemoAgent,
}

impl Command {
    /// The configuration file that it is about, where that is one of its own.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Config { command: ConfigCommand::Check { file } } => file.as_deref(),
            Self::Open { file } => Some(file),
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show everything that is wrong with a file, at its place. Of its lines only keys are shown, and no value.
    ///
    /// Ends with 3 if there is an error, and with 0 if there are warnings alone.
    Check {
        /// The file. By default the one that would be used.
        file: Option<PathBuf>,
    },

    /// Print the JSON Schema of the file, described in the language that is spoken.
    Schema,

    /// Print which file would be used, and why.
    Path,

    /// Change the file in $VISUAL or $EDITOR. It is saved when it has no errors.
    Edit,
}

#[derive(Debug, Arguments)]
pub(crate) struct AskArgs {
    /// The agent (one of the configuration, or `demo`; left out with --agent-command), then what to ask it. Without a prompt, or with `-` as
    /// its last word, stdin is read (after the prompt and a blank line, where there is one).
    #[arg(value_name = "AGENT PROMPT")]
    pub(crate) words: Vec<String>,

    /// Start this program as the agent. Split into words like a shell would, without a shell.
    #[arg(long, value_name = "PROGRAM ARG…")]
    pub(crate) agent_command: Option<String>,

    /// The folder that the agent works in. By default the one that the configuration says, else the current one.
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
  sidekicks ask riker --cwd ../api \"is there a test for this?\"
  sidekicks ask --agent-command \"opencode acp\" \"what is this project?\"
  sidekicks ask demo -- \"- a prompt that begins with a dash\"

Exit codes:
  0  the agent answered               4  it could not be started, or wants a login
  1  the agent failed                 5  it stopped for another reason, or said nothing
  2  wrong usage                      130 (129, 131, 143)  interrupted by a signal
  3  the configuration has errors that prevent this";

const CONFIG_HELP: &str = "\
Examples:
  sidekicks config edit
  sidekicks config check
  sidekicks config check ./sidekicks.jsonc --json
  sidekicks config schema > sidekicks.schema.json
  $EDITOR \"$(sidekicks config path)\"";

const AGENTS_HELP: &str = "\
Examples:
  sidekicks agents
  sidekicks agents --config ./sidekicks.jsonc --json";

const OPEN_HELP: &str = "\
Examples:
  sidekicks open ./sidekicks.jsonc
  sidekicks recent
  sidekicks recent --forget ./sidekicks.jsonc";

fn languages() -> impl TypedValueParser<Value = Lang> {
    PossibleValuesParser::new(["fr", "en"]).map(|tag| Lang::of_tag(&tag))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }

    /// Those of the help texts.
    #[test]
    fn examples_are_right() {
        let helps = [ASK_HELP, AGENTS_HELP, CONFIG_HELP, OPEN_HELP].join("\n");
        let commands: Vec<&str> = helps.lines().filter_map(|line| Some(line.split_once("  sidekicks ")?.1)).collect();
        let piped = helps.lines().filter_map(|line| Some(line.split_once("| sidekicks ")?.1));
        let nested = helps.lines().filter_map(|line| Some(line.split_once("(sidekicks ")?.1.split_once(')')?.0));
        let all: Vec<&str> = commands.into_iter().chain(piped).chain(nested).collect();
        assert!(all.len() > 12, "{all:?}");
        for command in all {
            let words = shlex::split(command.split('>').next().unwrap()).unwrap();
            let args = Args::try_parse_from(["sidekicks".to_owned()].into_iter().chain(words));
            assert!(args.is_ok(), "{command}: {args:?}");
        }
    }

    #[test]
    fn options_stand_anywhere() {
        /// The words, and what they say: the configuration, a file of the command's own, the language.
        type Case = (&'static [&'static str], Option<&'static str>, Option<&'static str>, Option<Lang>);
        let cases: [Case; 6] = [
            (&["agents"], None, None, None),
            (&["--config", "a", "agents", "--lang", "fr"], Some("a"), None, Some(Lang::Fr)),
            (&["config", "check", "--config", "a"], Some("a"), None, None),
            (&["config", "check", "b", "--config", "a", "--lang", "en"], Some("a"), Some("b"), Some(Lang::En)),
            (&["open", "b"], None, Some("b"), None),
            (&["recent", "--forget", "b"], None, None, None),
        ];
        for (words, config, file, lang) in cases {
            let args = Args::try_parse_from(["sidekicks"].iter().chain(words)).unwrap();
            assert_eq!(args.config.as_deref(), config.map(Path::new), "{words:?}");
            assert_eq!(args.command.file(), file.map(Path::new), "{words:?}");
            assert_eq!(args.lang, lang, "{words:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cases: [&[&str]; 6] =
            [&[], &["config"], &["config", "chek"], &["open"], &["agents", "x"], &["--lang", "de", "agents"]];
        for words in cases {
            assert!(Args::try_parse_from(["sidekicks"].iter().chain(words)).is_err(), "{words:?}");
        }
    }
}
