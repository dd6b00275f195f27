//! The file in which a person lists their agents: read so that one mistake costs one entry and not the file, judged with
//! problems that name line, column and remedy in English and French, saved without losing anything, and watched.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use sidekicks_config::{Event, Language, Loaded, load, watch};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let loaded = load(Path::new("sidekicks.jsonc"))?; // Fails only where the file cannot be read.
//!     show(&loaded);
//!     let watch = watch(loaded, |event| match event {
//!         Event::Changed(loaded) => show(&loaded),
//!         other => eprintln!("{other:?}"),
//!     });
//!     std::io::stdin().read_line(&mut String::new())?;
//!     watch.stop();
//!     Ok(())
//! }
//!
//! fn show(loaded: &Loaded) {
//!     let env = |name: &str| std::env::var_os(name);
//!     let language = loaded.config.language.language().unwrap_or_else(|| Language::of_environment(env));
//!     for problem in &loaded.problems {
//!         let at = problem.start;
//!         eprintln!("{}:{}:{}: {}", loaded.path.display(), at.line, at.column, problem.message(language));
//!     }
//!     for agent in loaded.config.agents.names().filter_map(|name| loaded.effective(name, &env)) {
//!         println!("{} runs {} {:?} in {:?}", agent.display_name, agent.command, agent.args, agent.cwd);
//!     }
//! }
//! ```
//!
//! # What is here
//!
//! - [`validate`] finds all [`Problem`]s of a text at once; [`check_environment`] those that this machine has with it.
//! - [`load`] reads a file, and [`reload`] another text of it: [`Loaded`] is the text with its problems and the [`Config`]
//!   that can be used.
//! - [`Config::effective`] is an agent with everything that counts for it: defaults, folder, variables.
//! - [`save`] and [`save_if_unchanged`] write a text, and [`watch`] tells of each change.
//! - [`schema`] is the JSON Schema, for editors.
//!
//! # The file
//!
//! JSON (RFC 8259) with comments and commas at the end, `sidekicks.jsonc` by name, at most 1 MiB. `version` and `agents`
//! have to be there; all keys with what they mean are in the [`schema`].
//!
//! ```
//! let text = r#"{
//!   "version": 1,
//!   "defaults": { "permission": "ask", "idle_timeout": "10min" },
//!   "workspaces": { "shop": { "path": "~/src/shop" } },
//!   "mcp_servers": { "bugs": { "type": "http", "url": "https://example.com/mcp" } },
//!   "agents": {
//!     "riker": { "command": "codex-acp", "workspace": "shop", "env": { "OPENAI_API_KEY": "${OPENAI_API_KEY}" } },
//!     "data": {
//!       "command": "gemini", "args": ["--acp"], "mcp_servers": ["bugs"], // the next comma is one of those
//!       "permission_rules": [{ "decide": "allow", "command": "cargo test *" }],
//!     },
//!   },
//! }"#;
//! assert!(sidekicks_config::validate(text).is_empty());
//! ```
//!
//! # What can be relied on
//!
//! - **Everything at once.** One reading tells all problems, in the order of the text, up to [`MAX_PROBLEMS`]. A slip is
//!   told once: nothing is said of what follows from it.
//! - **No values.** Neither a [`Problem`] nor its sentences repeat a value of the file, only names, and of a program that is
//!   not found the name. The `Debug` form of what was read shows no text, argument, address or value of a variable.
//! - **A mistake takes nothing away**, and allows nothing. What has an error stays as it last was, see [`reload`]; a file
//!   that is half written never looks like one without agents. Where no last state is known and the default permission
//!   cannot be read, agents that have none of their own are refused everything.
//! - **What is saved is the text**, byte for byte: comments, order and line ends stay. There is the old file or the new
//!   one, see [`save_if_unchanged`].
//! - **Linear.** Judging takes time in proportion to the text, whatever is in it.
//! - **No network.** No schema and no server is ever looked up.
//!
//! Everything blocks, mostly for less than a millisecond; in an async program, call it from a blocking task. Other crates
//! make their types of it with their feature `config`: `sidekicks-agents` its specs, `sidekicks-conversations` its
//! profiles, policies and rules.
//!
//! # Platforms
//!
//! Unix only. Rust 1.88 or newer.

mod contents;
mod digest;
#[cfg(test)]
mod drift;
mod effective;
mod entries;
mod environment;
mod expand;
mod language;
mod links;
mod load;
mod model;
#[cfg(test)]
mod mutants;
mod nearest;
mod pointer;
mod position;
mod problem;
mod replace;
mod rules;
mod save;
mod schema;
mod syntax;
mod units;
mod validate;
mod watch;

pub use digest::Digest;
pub use effective::EffectiveAgent;
pub use entries::{Entries, IntoEntries, Variables};
pub use environment::check_environment;
pub use language::Language;
pub use load::{Kept, LoadError, Loaded, load, reload};
pub use model::{
    Action, Agent, Channel, Config, Decide, Defaults, IdleTimeout, LanguageSetting, Limits, McpServer, Permission,
    PermissionRule, Version, Workspace,
};
pub use position::Position;
pub use problem::{Advice, CODES, Code, Expected, MAX_PROBLEMS, Problem, Severity};
pub use save::{SaveError, SaveOptions, SaveStep, Saved, can_save, save, save_if_unchanged};
pub use schema::schema;
pub use validate::validate;
pub use watch::{Event, Watch, WatchWarning, watch, watch_unloaded};
