//! The preferences of sidekicks.
//!
//! This crate will keep what the program remembers by itself: the configuration file that was last opened and the
//! eight recent ones. Nothing is here yet.
