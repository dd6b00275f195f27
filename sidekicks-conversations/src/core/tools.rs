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
    /// How many refusals were of calls by a name that no tool has.
    refused_of_no_tool: usize,
}

impl Failing {
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.in_a_row.len()).unwrap_or(u32::MAX)
    }

    fn ended(&mut self, call: &str, status: &str) {
        match status {
            "completed" => self.in_a_row.clear(),
            "failed" if self.in_a_row.contains(call) || self.refused.contains(call) => {}
            "failed" if self.refused_of_no_tool > 0 => self.refused_of_no_tool -= 1,
            "failed" => _ = self.in_a_row.insert(call.to_owned()),
            _ => {}
        }
    }
}

impl Core {
    /// The person chose `option`; some options refuse.
    pub(super) fn refusal(&mut self, request: &PermissionRequest, option: &str) {
        let refuses = request.options.iter().any(|one| one.id == option && one.kind.starts_with("reject"));
        let Some(turn) = self.turn.as_mut().filter(|_| refuses) else { return };
        let params = request.raw.to_value();
        let call = params["toolCall"]["toolCallId"].as_str().map(str::to_owned);
        let known = |call: &String| {
            let transcript = self.common.hub.transcript(&self.agent);
            self.cursor.tool(&transcript, call).is_some()
        };
        match call.filter(known) {
            Some(call) => _ = turn.failing.refused.insert(call),
            None => turn.failing.refused_of_no_tool += 1,
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
        let mut failing = Failing { refused_of_no_tool: 1, ..Failing::default() };
        ["a", "b"].iter().for_each(|call| failing.ended(call, "failed"));
        assert_eq!(failing.count(), 1);
    }
}
