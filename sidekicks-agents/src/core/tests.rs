//! The decisions, watched from outside.

mod laws;
mod scripts;
mod world;
