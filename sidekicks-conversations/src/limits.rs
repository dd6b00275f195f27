//! How much of a part is kept. However a part comes to be, from fragments, from frames of them or as a whole, the same of
//! it is kept: a mirror that follows the events has what a snapshot has.

use serde_json::Value;

use crate::part::{Part, PartKind, ToolPart};
use crate::text::Text;

/// How many bytes of a text or thought are kept: the first.
const APPENDED: usize = 64 << 20;

/// How many bytes of a tool's output are kept at each of its ends, where it is longer than both.
const END: usize = 2 << 20;

/// How many levels of an agent's own JSON are kept: readers give up at 128, of which an event takes some.
const LEVELS: usize = 100;

/// `value` without what is nested so deeply that the event which holds it could not be read back.
pub(crate) fn readable(mut value: Value) -> Value {
    cut_below(LEVELS, &mut value);
    value
}

fn cut_below(levels: usize, value: &mut Value) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => *value = Value::Null,
        Value::Array(values) => values.iter_mut().for_each(|value| cut_below(levels - 1, value)),
        Value::Object(values) => values.values_mut().for_each(|value| cut_below(levels - 1, value)),
        _ => {}
    }
}

impl Part {
    pub(crate) fn text(text: &str) -> Self {
        let mut part = Self::Text { text: Text::new(), omitted: 0 };
        part.append(text);
        part
    }

    /// The part that a first fragment of this kind begins. `None` for a kind that is not appended to.
    pub(crate) fn begun_by(kind: PartKind, fragment: &str) -> Option<Self> {
        let mut part = match kind {
            PartKind::Text => Self::Text { text: Text::new(), omitted: 0 },
            PartKind::Thought => Self::Thought { text: Text::new(), omitted: 0 },
            _ => return None,
        };
        part.append(fragment);
        Some(part)
    }

    /// Adds `fragment` at the end of a text or thought.
    pub(crate) fn append(&mut self, fragment: &str) {
        self.append_within(APPENDED, fragment);
    }

    fn append_within(&mut self, most: usize, fragment: &str) {
        if let Self::Text { text, omitted } | Self::Thought { text, omitted } = self {
            // After a gap comes nothing more, though a short word may still fit.
            *omitted += if *omitted > 0 { fragment.len() } else { text.push_within(most, fragment) };
        }
    }
}

impl ToolPart {
    /// Adds `fragment` at the end of the output.
    pub(crate) fn append_output(&mut self, fragment: &str) {
        self.append_output_within(END, fragment);
    }

    /// Makes `text` the output. What only grew keeps its bytes: agents that tell all of a long output each time add to it.
    pub(crate) fn set_output(&mut self, text: &str) {
        self.set_output_within(END, text);
    }

    fn append_output_within(&mut self, end: usize, fragment: &str) {
        self.output.push_str(fragment);
        if self.omitted == 0 {
            if self.output.len() <= 2 * end {
                return;
            }
            self.omitted_at = self.output.floor(end);
        }
        self.omitted += self.output.cut_out(self.omitted_at, end);
    }

    fn set_output_within(&mut self, end: usize, text: &str) {
        let known = self.output.len() + self.omitted;
        match text.get(known..).filter(|_| self.output_begins(text.as_bytes())) {
            Some(more) => self.append_output_within(end, more),
            None => {
                (self.output, self.omitted, self.omitted_at) = (Text::new(), 0, 0);
                self.append_output_within(end, text);
            }
        }
    }

    /// Whether what is kept of the output is where it would be in these bytes, which are at least as many.
    fn output_begins(&self, bytes: &[u8]) -> bool {
        let (at, len) = (self.omitted_at, self.output.len());
        self.output.has(0..at, &bytes[..at]) && self.output.has(at..len, &bytes[at + self.omitted..len + self.omitted])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::message::{Message, Role};
    use crate::transcript::Transcript;
    use proptest::prelude::*;
    use serde_json::json;
    use std::sync::Arc;

    fn appended(most: usize, fragments: &[&str]) -> (String, usize) {
        let mut part = Part::text("");
        fragments.iter().for_each(|fragment| part.append_within(most, fragment));
        let Part::Text { text, omitted } = part else { panic!("it is a text") };
        (text.to_string(), omitted)
    }

    fn output(end: usize, told: &[&str], tell: fn(&mut ToolPart, usize, &str)) -> ToolPart {
        let mut tool = ToolPart::default();
        told.iter().for_each(|text| tell(&mut tool, end, text));
        tool
    }

    #[test]
    fn of_a_text_the_first_is_kept() {
        let cases: [(&[&str], &str, usize); 7] = [
            (&["abc", "d"], "abcd", 0),
            (&["abcd", ""], "abcd", 0),
            (&["abcde"], "abcd", 1),
            (&["abc", "de", "f"], "abcd", 2),
            (&["abcé"], "abc", 2),
            (&["abc", "é", "f"], "abc", 3),
            (&["🦀🦀"], "🦀", 4),
        ];
        for (fragments, text, omitted) in cases {
            assert_eq!(appended(4, fragments), (text.to_owned(), omitted), "{fragments:?}");
        }
    }

    #[test]
    fn of_an_output_both_ends_are_kept() {
        let cases = [
            ("abcdef", "abcdef", 0, 0),
            ("abcdefg", "abcefg", 1, 3),
            ("abcdefghijkl", "abcjkl", 6, 3),
            ("abécdefg", "abefg", 4, 2),
            ("abcdéfg", "abcfg", 3, 3),
            ("🦀🦀🦀", "", 12, 0),
        ];
        for (text, kept, omitted, omitted_at) in cases {
            let tool = output(3, &[text], ToolPart::append_output_within);
            assert_eq!((tool.output.to_string().as_str(), tool.omitted, tool.omitted_at), (kept, omitted, omitted_at));
        }
    }

    #[test]
    fn what_is_told_as_a_whole_each_time_is_kept_alike() {
        // What is told in turn; each time the last alone gives the same.
        let cases: [&[&str]; 7] = [
            &["abc", "abcdefgh", "abcdefghijkl"],
            &["abcdefgh", "abcdefgh"],
            &["abcdefgh", "abc--fghij"],
            &["abcdefgh", "---defghij"],
            &["abcdefgh", "abcde-ghij"],
            &["abcdefgh", "abc", ""],
            &["🦀🦀🦀", "abcdefghijké"],
        ];
        for told in cases {
            let (by_and_by, last) = (
                output(3, told, ToolPart::set_output_within),
                output(3, &told[told.len() - 1..], ToolPart::set_output_within),
            );
            assert_eq!(by_and_by, last, "{told:?}");
        }
    }

    #[test]
    fn json_tells_what_is_missing_and_only_then() {
        let mut text = Part::text("");
        text.append_within(2, "ab");
        assert_eq!(json!(text), json!({"kind": "text", "text": "ab"}));
        text.append_within(2, "cd");
        assert_eq!(json!(text), json!({"kind": "text", "text": "ab", "omitted": 2}));
        let mut read: Part = serde_json::from_value(json!(text)).unwrap();
        assert_eq!(read, text);
        for part in [&mut read, &mut text] {
            part.append("e"); // Far from the limit, but there is a gap.
        }
        assert_eq!((&read, json!(read)["omitted"].as_u64()), (&text, Some(3)));
        let tool = output(1, &["abc"], ToolPart::append_output_within);
        let json = json!(tool);
        assert_eq!((&json["output"], &json["omitted"], &json["omittedAt"]), (&json!("ac"), &json!(1), &json!(1)));
        assert_eq!(serde_json::from_value::<ToolPart>(json).unwrap(), tool);
        assert!(json!(ToolPart::default()).get("omitted").is_none());
    }

    /// The real size, once: by fragments, by one that joins them, and by way of JSON in the middle.
    #[test]
    fn a_mirror_keeps_what_is_kept() {
        let agent = || "a".into();
        let mut message = Message::new("m1".into(), Role::Agent, 0);
        message.parts = vec![Part::text("")];
        let added = Event::MessageUpdated { agent: agent(), message: Arc::new(message) };
        let mut mirrors = [(); 3].map(|()| Transcript::new(agent()));
        mirrors.iter_mut().for_each(|mirror| mirror.apply(&added));
        let fragment = "é".repeat((1 << 19) + 1);
        let delta = |text: String| Event::MessageDelta {
            agent: agent(),
            message_id: "m1".into(),
            index: 0,
            kind: PartKind::Text,
            text: Some(text),
            part: None,
        };
        let one = delta(fragment.clone());
        for at in 0..66 {
            mirrors[0].apply(&one);
            mirrors[2].apply(&one);
            if at == 64 {
                let json = serde_json::to_string(&Event::Reset(Arc::new(mirrors[2].clone()))).unwrap();
                mirrors[2].apply(&serde_json::from_str(&json).unwrap());
            }
        }
        mirrors[1].apply(&delta(fragment.repeat(66)));
        let Part::Text { text, omitted } = &mirrors[0].messages[0].parts[0] else { panic!("it is a text") };
        assert_eq!((text.len(), text.len() + omitted), (APPENDED, 66 * fragment.len()));
        assert!(mirrors[0] == mirrors[1] && mirrors[0] == mirrors[2]);
    }

    /// Characters of every length, and where they are cut into pieces.
    fn pieces() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a-cé€🦀]{0,12}", 0..30)
    }

    proptest! {
        #[test]
        fn how_it_is_cut_into_fragments_makes_no_difference(pieces in pieces(), most in 0..60usize) {
            let whole = pieces.concat();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(appended(most, &pieces), appended(most, &[&whole]));
            let tool = output(most, &pieces, ToolPart::append_output_within);
            prop_assert_eq!(&tool, &output(most, &[&whole], ToolPart::append_output_within));
            let sofar: Vec<String> = (0..=pieces.len()).map(|at| pieces[..at].concat()).collect();
            let sofar: Vec<&str> = sofar.iter().map(String::as_str).collect();
            prop_assert_eq!(&tool, &output(most, &sofar, ToolPart::set_output_within));
            prop_assert_eq!(tool.output.len() + tool.omitted, whole.len());
            prop_assert!(tool.output.len() <= 2 * most);
        }
    }
}
