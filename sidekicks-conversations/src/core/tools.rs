//! Whether an agent goes in circles: how many of its tool calls failed in a row.

use std::collections::HashSet;

use sidekicks_acp::PermissionRequest;

use super::{Core, Stage, Turn};
use crate::event::Event;
use crate::part::Part;
use crate::transcript::Transcript;

/// The failures of one turn.
#[derive(Debug, Default)]
pub(super) struct Failing {
    /// The calls that failed since the last success; each counts once.
    in_a_row: HashSet<String>,
    /// The calls that the person refused: that they fail is no surprise.
    refused: HashSet<String>,
    /// The ids of those that no call has, or has yet: some agents ask under an id of their own.
    refused_of_no_call: Vec<String>,
}

impl Failing {
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.in_a_row.len()).unwrap_or(u32::MAX)
    }

    fn ended(&mut self, call: &str, status: &str) {
        match status {
            "completed" => self.in_a_row.clear(),
            "failed" if self.was_refused(call) => {}
            "failed" => _ = self.in_a_row.insert(call.to_owned()),
            _ => {}
        }
    }

    fn was_refused(&mut self, call: &str) -> bool {
        if self.refused.contains(call) {
            return true;
        }
        if self.in_a_row.contains(call) || self.refused_of_no_call.is_empty() {
            return false;
        }
        // The one that was asked about by this id, or else any.
        let at = self.refused_of_no_call.iter().position(|id| id == call).unwrap_or_default();
        self.refused_of_no_call.remove(at);
        self.refused.insert(call.to_owned())
    }
}

impl Core {
    /// The person chose `option`; some options refuse.
    pub(super) fn refusal(&mut self, request: &PermissionRequest, option: &str) {
        let refuses = request.options.iter().any(|one| one.id == option && one.kind.starts_with("reject"));
        let Some(turn) = self.turn.as_mut().filter(|_| refuses) else { return };
        let params = request.raw.to_value();
        let call = params["toolCall"]["toolCallId"].as_str().unwrap_or_default();
        match self.cursor.is_called(call) {
            true => _ = turn.failing.refused.insert(call.to_owned()),
            false => turn.failing.refused_of_no_call.push(call.to_owned()),
        }
    }

    /// Counts the calls that these events end, and tells whether that changed something. What fails after a cancel does so
    /// because of it.
    pub(super) fn count_tools(&mut self, transcript: &Transcript, events: &[Event]) -> bool {
        let Some(turn @ Turn { stage: Stage::Prompting(_), cancelled: false, .. }) = &mut self.turn else {
            return false;
        };
        let count = turn.failing.count();
        for event in events {
            let Event::MessageDelta { message_id, index, part: Some(Part::Tool(tool)), .. } = event else { continue };
            let before = match transcript.message(message_id).and_then(|message| message.parts.get(*index)) {
                Some(Part::Tool(before)) => before.status.as_str(),
                _ => "",
            };
            if before != tool.status {
                turn.failing.ended(&tool.id, &tool.status);
            }
        }
        turn.failing.count() != count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row() {
        let cases: [(&[(&str, &str)], u32); 6] = [
            (&[("a", "failed"), ("b", "failed"), ("c", "failed")], 3),
            (&[("a", "failed"), ("a", "failed"), ("a", "pending"), ("a", "failed")], 1),
            (&[("a", "failed"), ("b", "completed"), ("c", "failed")], 1),
            (&[("refused", "failed"), ("a", "failed")], 1),
            (&[("a", "cancelled"), ("b", "unfinished"), ("c", "in_progress")], 0),
            (&[("a", "failed"), ("a", "completed")], 0),
        ];
        for (ends, expected) in cases {
            let mut failing = Failing { refused: HashSet::from(["refused".to_owned()]), ..Failing::default() };
            ends.iter().for_each(|(call, status)| failing.ended(call, status));
            assert_eq!(failing.count(), expected, "{ends:?}");
        }
        for (asked, failed, count) in
            [("", ["a", "b"], 1), ("b", ["a", "b"], 1), ("b", ["b", "b"], 0), ("q", ["a", "a"], 0)]
        {
            let mut failing = Failing { refused_of_no_call: vec![asked.to_owned()], ..Failing::default() };
            failed.iter().for_each(|call| failing.ended(call, "failed"));
            assert_eq!(failing.count(), count, "{asked} {failed:?}");
        }
    }
}
