//! The configuration file of sidekicks.
#![allow(dead_code)] // While it is being built.

mod contents;
mod digest;
#[cfg(test)]
mod drift;
mod effective;
mod entries;
mod environment;
mod expand;
mod language;
mod load;
mod model;
#[cfg(test)]
mod mutants;
mod nearest;
mod pointer;
mod position;
mod problem;
mod rules;
mod schema;
mod syntax;
mod units;
mod validate;

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
pub use schema::schema;
pub use validate::validate;
