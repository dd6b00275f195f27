//! The configuration file of sidekicks.
//!
//! This crate will read, check and save the file in which a person lists the agents they use: a JSON Schema, rules
//! across entries, every problem with its line and column in French or English, atomic saving and watching.
//! Nothing is here yet.
