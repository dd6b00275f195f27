//! What sidekicks remembers by itself: the configuration file that was opened last, and the eight recent ones.
//!
//! ```no_run
//! use sidekicks_prefs::{Store, choose, is_missing};
//!
//! fn main() {
//!     let env = |name: &str| std::env::var_os(name);
//!     let store = Store::standard(&env);
//!
//!     // Somebody opens another file: the next start opens it again.
//!     if let Some(path) = std::env::args_os().nth(1) {
//!         let updated = store.opened(path);
//!         updated.notices.iter().for_each(|notice| eprintln!("{notice}"));
//!         return;
//!     }
//!
//!     // A start: nobody named a file.
//!     let (preferences, notices) = store.read();
//!     notices.iter().for_each(|notice| eprintln!("{notice}"));
//!     let choice = choose(None, &env, &preferences);
//!     if let Some(gone) = choice.gone() {
//!         eprintln!("{} was opened last, and is gone", gone.display());
//!     }
//!     match choice.path() {
//!         Some(path) => println!("{} is read", path.display()),
//!         None => println!("there is nothing to read"),
//!     }
//!     for path in &preferences.recent {
//!         println!("{}{}", path.display(), if is_missing(path) { " (missing)" } else { "" });
//!     }
//! }
//! ```
//!
//! # What is here
//!
//! - [`Store`] is the file: [`read`](Store::read) it, tell it what was [`opened`](Store::opened),
//!   [`forget`](Store::forget).
//! - [`Preferences`] is what it holds.
//! - [`choose`] tells which configuration file a start opens, and [`standard_config`] where one is looked for.
//! - [`Notice`] is what a user should hear of.
//!
//! # What can be relied on
//!
//! - **Nothing here stops a start.** There are no errors, only notices: what cannot be read counts as empty, and what
//!   cannot be written is not remembered. Without a home folder nothing is, and nothing is said.
//! - **No change is lost unsaid.** Each change is made to what the file says at that moment, under a lock that all
//!   processes take (`preferences.json.lock`, beside the file). One that gets no lock within 2 seconds is not saved, and a
//!   notice says so. A disk that has no locks is used without.
//! - **Whole files.** Whoever reads the file sees the old or the new one, also when a process is killed or the system
//!   crashes. Where the file is a link, what it leads to is replaced and the link stays.
//! - **Nothing of others is lost.** Fields that this version does not know stay, in their order. A newer version's file
//!   is changed in `last` and `recent` only, and not where these have a type that is not known here. A file that makes
//!   no sense is renamed to `preferences.bad-SECONDS.json`, of which the newest three stay.
//! - **Private.** The file has mode 0600, and a folder that had to be made 0700.
//! - **Bounded.** A file of more than 1 MiB, a folder or a pipe in its place are not read, and not touched.
//!
//! # The file
//!
//! ```json
//! { "version": 1, "last": "/home/me/shop.jsonc", "recent": ["/home/me/shop.jsonc", "/home/me/blog.jsonc"] }
//! ```
//!
//! All fields may be missing. One that has a wrong type counts as missing, and so does a path that is not absolute.
//!
//! # Platforms
//!
//! Unix only. Rust 1.88 or newer.

mod aside;
mod choose;
mod disk;
mod document;
mod location;
mod lock;
mod notice;
mod preferences;
mod store;

pub use choose::{Choice, choose, is_missing};
pub use location::standard_config;
pub use notice::{NOTICES, Notice};
pub use preferences::Preferences;
pub use store::{Store, Updated};
