//! The configuration file of sidekicks.
#![allow(dead_code)] // While it is being built.

mod language;
mod pointer;
mod position;
mod problem;
mod syntax;

pub use language::Language;
pub use position::Position;
pub use problem::{Advice, CODES, Code, Expected, MAX_PROBLEMS, Problem, Severity};
