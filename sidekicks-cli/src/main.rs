//! The `sidekicks` command line: arguments in, sentences out. What an embedder would want is in the libraries.

mod agents;
mod args;
mod ask;
mod columns;
mod config;
mod demo_agent;
mod exit;
mod harmless;
mod lang;
mod manner;
mod open;
mod recent;
mod say;
mod signals;
mod start;
mod state;
mod style;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use manner::Manner;
use start::Start;

fn main() -> ExitCode {
    let Args { config, json, lang, color, command } = Args::parse();
    if let Command::DemoAgent = command {
        return demo_agent::main();
    }
    let start = Start::read(command.file().or(config.as_deref()));
    let manner = Manner { json, lang: start.lang(lang), color };
    start.tell_notices(manner);
    ExitCode::from(match command {
        Command::Ask(ask) => ask::main(ask, &start, manner),
        Command::Agents => agents::main(&start, manner),
        Command::Config { command } => config::main(&command, &start, manner),
        Command::Open { .. } => open::main(&start, manner),
        Command::Recent { forget } => recent::main(forget.as_deref(), &start, manner),
        Command::DemoAgent => exit::DONE, // It was run above: it reads no configuration.
    })
}
