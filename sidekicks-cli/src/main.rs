//! The `sidekicks` command line: arguments in, sentences out. What an embedder would want is in the libraries.

mod args;
mod ask;
mod columns;
mod demo_agent;
mod exit;
mod harmless;
mod lang;
mod say;
mod signals;
mod state;
mod style;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use ask::Manner;
use lang::Lang;

fn main() -> ExitCode {
    let args = Args::parse();
    let lang = args.lang.unwrap_or_else(|| Lang::of_environment(|name| std::env::var(name).ok()));
    match args.command {
        Command::DemoAgent => demo_agent::main(),
        Command::Ask(ask) => ask::main(ask, Manner { json: args.json, lang, color: args.color }),
    }
}
