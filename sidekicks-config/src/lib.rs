//! The configuration file of sidekicks.
#![allow(dead_code)] // While it is being built.

mod entries;
mod language;
mod model;
mod nearest;
mod pointer;
mod position;
mod problem;
mod rules;
mod schema;
mod syntax;
mod units;
mod validate;

pub use entries::{Entries, IntoEntries, Variables};
pub use language::Language;
pub use model::{
    Action, Agent, Channel, Config, Decide, Defaults, IdleTimeout, LanguageSetting, Limits, McpServer, Permission,
    PermissionRule, Version, Workspace,
};
pub use position::Position;
pub use problem::{Advice, CODES, Code, Expected, MAX_PROBLEMS, Problem, Severity};
pub use schema::schema;
pub use validate::validate;
