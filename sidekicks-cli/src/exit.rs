//! Exit codes.

use sidekicks_conversations::{Failure, Message};

pub(crate) const DONE: u8 = 0;
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
/// The configuration has errors that prevent this command.
pub(crate) const CONFIG: u8 = 3;
pub(crate) const NOT_REACHED: u8 = 4;
pub(crate) const OTHER_END: u8 = 5;

/// The code after a signal, as shells have it.
pub(crate) fn after_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(FAILED)
}

/// The code of a turn: `question` is what was asked, `answer` what came of it.
pub(crate) fn of_turn(question: &Message, answer: Option<&Message>) -> u8 {
    match answer {
        _ if question.error.is_some() => question.error.as_ref().map_or(FAILED, of_failure),
        Some(Message { error: Some(failure), .. }) => of_failure(failure),
        Some(Message { stop_reason: Some(reason), empty: false, .. }) if reason == "end_turn" => DONE,
        Some(_) => OTHER_END,
        None => FAILED,
    }
}

fn of_failure(failure: &Failure) -> u8 {
    match failure.phase {
        _ if failure.code == "login-required" => NOT_REACHED,
        sidekicks_acp::Phase::Spawn | sidekicks_acp::Phase::Initialize | sidekicks_acp::Phase::Open => NOT_REACHED,
        _ => FAILED,
    }
}
