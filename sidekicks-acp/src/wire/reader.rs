//! Finding the messages among everything an agent writes.

use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::cleaning::{decoration, undecorated};
use super::gathering::{Gathering, Progress};
use super::lines::{Line, Lines};
use super::message::{Message, Parts};
use super::update_line::UpdateLine;

/// What was heard on an agent's output.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is nearly every one, and none is kept")]
pub(crate) enum Heard<'a> {
    /// What an agent says most. It is no [`Message`] since all of it is read already.
    Update { line: UpdateLine, text: &'a [u8] },
    Message {
        message: Message<'a>,
        /// All of it as it was written, but for broken bytes.
        text: &'a [u8],
    },
    /// A line that is no message, and is never answered.
    Noise(&'a [u8]),
    /// A line over the limit: its first bytes and its whole length.
    TooLong { head: &'a [u8], length: u64 },
}

/// Turns chunks of bytes into messages and noise, in order.
#[derive(Debug)]
pub(crate) struct MessageReader {
    lines: Lines,
    /// The lines so far of one pretty-printed message.
    gathering: Option<Gathering>,
}

impl MessageReader {
    pub(crate) fn new(max_line: usize) -> Self {
        Self { lines: Lines::new(max_line), gathering: None }
    }

    /// Hands everything that `chunk` completes to `each`, in order.
    pub(crate) fn push(&mut self, chunk: &[u8], each: &mut impl FnMut(Heard<'_>)) {
        let gathering = &mut self.gathering;
        self.lines.push(chunk, &mut |line| hear(gathering, line, each));
    }

    /// Hands over what is left when the stream ends.
    pub(crate) fn finish(&mut self, each: &mut impl FnMut(Heard<'_>)) {
        let gathering = &mut self.gathering;
        self.lines.finish(&mut |line| hear(gathering, line, each));
        give_up(gathering, each);
    }
}

fn hear(gathering: &mut Option<Gathering>, line: Line<'_>, each: &mut impl FnMut(Heard<'_>)) {
    let line = match line {
        Line::Whole(line) => line,
        Line::TooLong { head, length } => {
            give_up(gathering, each);
            return each(Heard::TooLong { head: undecorated(head), length });
        }
    };
    let bytes = undecorated(line);
    if let Some(gathered) = gathering {
        // A line that is a message by itself shows that the lone brace before it was none.
        if !complete(bytes) {
            return match gathered.add(line) {
                Progress::Open => {}
                Progress::TooMuch => give_up(gathering, each),
                Progress::Balanced => {
                    let text = std::mem::take(&mut gathered.text);
                    *gathering = None;
                    values(&text, &text, each);
                }
            };
        }
        give_up(gathering, each);
    }
    match bytes.first() {
        None => each(Heard::Noise(line)), // A blank line, or one of decoration alone.
        Some(b'{') if bytes == b"{" => *gathering = Some(Gathering::begun()),
        Some(b'{' | b'[') => values(bytes, line, each),
        Some(_) => each(Heard::Noise(line)),
    }
}

/// What was gathered turned out to be no message.
fn give_up(gathering: &mut Option<Gathering>, each: &mut impl FnMut(Heard<'_>)) {
    if let Some(gathered) = gathering.take() {
        each(Heard::Noise(&gathered.text));
    }
}

/// Whether `bytes` begin with a message that is whole.
fn complete(bytes: &[u8]) -> bool {
    let lossy = String::from_utf8_lossy(bytes);
    let mut stream = serde_json::Deserializer::from_str(&lossy).into_iter::<Parts<'_>>();
    stream.next().and_then(Result::ok).and_then(Parts::message).is_some()
}

/// One object or batch on the line, or several, perhaps with escape sequences between and after them.
fn values(bytes: &[u8], line: &[u8], each: &mut impl FnMut(Heard<'_>)) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        // Broken bytes inside a string cost that string, not the message. The copy is valid, so this ends.
        return values(String::from_utf8_lossy(bytes).as_bytes(), line, each);
    };
    // Nearly every line is exactly one message, and nearly every message an update.
    if let Some(line) = UpdateLine::read(text) {
        return each(Heard::Update { line, text: bytes });
    }
    if let Ok(parts) = serde_json::from_str::<Parts<'_>>(text) {
        let heard = parts.message().map(|message| Heard::Message { message, text: bytes });
        return each(heard.unwrap_or(Heard::Noise(line)));
    }
    // What is from `unheard` to `at` was no message.
    let (mut unheard, mut at) = (0, 0);
    loop {
        let mut stream = serde_json::Deserializer::from_slice(&bytes[at..]).into_iter::<&RawValue>();
        let Some(Ok(value)) = stream.next() else { break };
        let end = at + stream.byte_offset();
        let next = end + decoration(&bytes[end..]);
        let message = serde_json::from_str::<Parts<'_>>(value.get()).ok().and_then(Parts::message);
        if message.is_some() || is_batch(value) {
            if unheard < at {
                each(Heard::Noise(&bytes[unheard..at]));
            }
            match message {
                Some(message) => each(Heard::Message { message, text: value.get().as_bytes() }),
                None => elements(value, each),
            }
            unheard = next;
        }
        at = next;
    }
    if unheard == 0 {
        each(Heard::Noise(line));
    } else if unheard < bytes.len() {
        each(Heard::Noise(&bytes[unheard..]));
    }
}

/// Whether this is a JSON-RPC batch: an array of messages, or of anything.
fn is_batch(value: &RawValue) -> bool {
    value.get().strip_prefix('[').is_some_and(|rest| !rest.trim_start().starts_with(']'))
}

/// Each element of a batch, one after the other, however many there are.
fn elements(batch: &RawValue, each: &mut impl FnMut(Heard<'_>)) {
    struct Each<'a, F>(&'a mut F);

    impl<'de, F: FnMut(Heard<'_>)> Visitor<'de> for Each<'_, F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a batch")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
            while let Some(element) = elements.next_element::<&'de RawValue>()? {
                let text = element.get().as_bytes();
                let message = serde_json::from_str::<Parts<'_>>(element.get()).ok().and_then(Parts::message);
                (self.0)(message.map_or(Heard::Noise(text), |message| Heard::Message { message, text }));
            }
            Ok(())
        }
    }

    // It was read as JSON before, so this does not fail.
    let _ = serde_json::Deserializer::from_str(batch.get()).deserialize_seq(Each(each));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heard_in(chunks: &[&[u8]], max: usize) -> Vec<String> {
        let mut seen = Vec::new();
        let mut each = |heard: Heard<'_>| {
            seen.push(match heard {
                Heard::Update { line, .. } => format!("update of {}", line.session),
                Heard::Message { message, .. } => match message {
                    Message::Request { id, method, .. } => format!("request {id} {method}"),
                    Message::Notification { method, .. } => format!("notification {method}"),
                    Message::Response { id, outcome: Ok(result) } => format!("result {id} {result}"),
                    Message::Response { id, outcome: Err(error) } => format!("error {id} {error}"),
                },
                Heard::Noise(bytes) => format!("noise {}", String::from_utf8_lossy(bytes)),
                Heard::TooLong { length, .. } => format!("too long {length}"),
            });
        };
        let mut reader = MessageReader::new(max);
        for chunk in chunks {
            reader.push(chunk, &mut each);
        }
        reader.finish(&mut each);
        seen
    }

    fn heard(text: &[u8]) -> Vec<String> {
        heard_in(&[text], 1000)
    }

    #[test]
    fn messages_are_found_among_everything_else() {
        let cases: &[(&[u8], &[&str])] = &[
            (b"Welcome!\n{\"id\":1,\"result\":2}\n", &["noise Welcome!", "result 1 2"]),
            (b"42\n\"text\"\n[]\n[1]\n", &["noise 42", "noise \"text\"", "noise []", "noise 1"]),
            (b"\n  \n\r\n", &["noise ", "noise   ", "noise \r"]),
            (b"{\"id\":1,\"result\":2}\r\n", &["result 1 2"]),
            (b"\xEF\xBB\xBF{\"id\":1,\"result\":2}", &["result 1 2"]),
            (b"\x1b[2K{\"id\":1,\"result\":2}\x1b[0m\n", &["result 1 2"]),
            (
                b"{\"method\":\"a\"}{\"method\":\"b\"} \x1b[0m{\"method\":\"c\"}\n",
                &["notification a", "notification b", "notification c"],
            ),
            (b"{\"method\":\"a\"} and a word\n", &["notification a", "noise and a word"]),
            (b"[{\"method\":\"a\"},{\"id\":0,\"method\":\"b\"},7]\n", &["notification a", "request 0 b", "noise 7"]),
            (b"{\"id\":1,\"result\":\"a\xFFb\"}\n", &["result 1 \"a\u{FFFD}b\""]),
            (b"broken \xFF log\n", &["noise broken \u{FFFD} log"]),
            (b"{\"level\":\"info\"}\n{\"id\":3}\n", &["noise {\"level\":\"info\"}", "noise {\"id\":3}"]),
            (b"{\"id\":1,\"result\":\n", &["noise {\"id\":1,\"result\":"]),
            (
                b"{\n  \"id\": 1,\n  \"result\": {\n    \"a\": 2\n  }\n}\n{\"method\":\"a\"}\n",
                &["result 1 {\n    \"a\": 2\n  }", "notification a"],
            ),
            (b"{\nnot json\n{\"method\":\"a\"}\n", &["noise {\nnot json", "notification a"]),
            (b"{\nleft open\n", &["noise {\nleft open"]),
        ];
        for (text, expected) in cases {
            assert_eq!(heard(text), *expected, "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_line_too_long_is_passed_over() {
        let mut text = vec![b'x'; 2000];
        text.extend_from_slice(b"\n{\"method\":\"a\"}\n");
        assert_eq!(heard(&text), ["too long 2000", "notification a"]);
    }

    #[test]
    fn what_never_closes_is_given_up() {
        let mut text = b"{\n".to_vec();
        for _ in 0..2000 {
            text.extend_from_slice(&[b'y'; 999]);
            text.push(b'\n');
        }
        text.extend_from_slice(b"{\"method\":\"a\"}\n");
        let seen = heard(&text);
        assert_eq!(seen.last().unwrap(), "notification a");
        assert!(seen[0].len() < 1024 * 1024 + 2000, "bounded");
    }

    proptest! {
        #[test]
        fn no_input_panics_and_no_message_after_it_is_lost(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..300usize) {
            let mut text = bytes.clone();
            text.extend_from_slice(b"\n{\"id\":77,\"result\":1}\n");
            let at = at.min(text.len());
            let seen = heard_in(&[&text[..at], &text[at..]], 1000);
            prop_assert!(seen.contains(&"result 77 1".to_owned()), "{:?}", seen);
        }
    }
}
