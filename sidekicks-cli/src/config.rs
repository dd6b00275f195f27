//! `sidekicks config`: looking after the configuration file.

mod check;
mod edit;
mod excerpt;
mod path;
pub(crate) mod place;
pub(crate) mod problems;
mod skeleton;

use sidekicks_config::schema;

use crate::args::ConfigCommand;
use crate::exit;
use crate::manner::Manner;
use crate::start::Start;

pub(crate) fn main(command: &ConfigCommand, start: &Start, manner: Manner) -> u8 {
    match command {
        ConfigCommand::Check { .. } => check::main(start, manner),
        ConfigCommand::Schema => manner.print(schema(manner.lang), exit::DONE),
        ConfigCommand::Path => path::main(start, manner),
        ConfigCommand::Edit => edit::main(start, manner),
    }
}
