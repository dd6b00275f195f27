//! How an embedder uses the sidekicks crates.
//!
//! The code of the README is compiled here, as a documentation test, so that it stays true:
#![doc = include_str!("../../README.md")]
