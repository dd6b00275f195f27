//! `take_turns` with agents of every temper: they share the room, and nothing is left in whatever way it ends.
//!
//! The agents are shell scripts; those of other people are used where they are installed, see [`real`].

mod ends;
#[path = "../common/marked.rs"]
mod marked;
mod real;
mod room;
mod stage;
