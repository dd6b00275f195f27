//! Laws that hold whatever an agent writes: valid traffic that was cut, bent, doubled and mixed with noise.
//!
//! `fuzz/` drives the same laws from coverage.

#[path = "hostile_driver/mod.rs"]
mod driver;

use driver::{Outcome, QUEUE, flood, survive};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Messages that mean something, in the middle of a turn.
const TRAFFIC: &[&str] = &[
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"é \"} \ud83d\ude00"}}}}"#,
    r#"{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"edit","status":"pending","content":[{"type":"diff","path":"/a","oldText":null,"newText":"b"}]}}}"#,
    r#"{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan","entries":[{"content":"c","priority":"low","status":"pending"}]}}}"#,
    r#"{"method":"session/update","params":{"sessionId":"new","update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}}"#,
    r#"{"id":"5-b","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/a"}}"#,
    r#"{"method":"$/cancel_request","params":{"requestId":0}}"#,
    r#"{"jsonrpc":"2.0","id":ID0,"result":{"stopReason":"end_turn"}}"#,
    r#"{"jsonrpc":"2.0","id":ID1,"result":{"a":[1,2.50,"x",null,true]}}"#,
    r#"{"jsonrpc":"2.0","id":"ID1","error":{"code":-32603,"message":"Internal error","data":{"error":"why"}}}"#,
    r#"{"jsonrpc":"2.0","id":ID2,"result":{"sessionId":"new","modes":{"currentModeId":"a","availableModes":[]}}}"#,
    "{\n  \"id\": ID1,\n  \"result\": {\n    \"a\": [\n      1\n    ]\n  }\n}",
    r#"[{"method":"vendor/a"},{"id":7,"method":"vendor/b","params":[]}]"#,
    "\x1b[2K\u{FEFF}{\"method\":\"vendor/note\"}\x1b[0m\r",
];

const NOISE: &[&[u8]] = &[
    b"Welcome!",
    b"42",
    b"[]",
    b"{\"level\":\"info\"}",
    b"{\"id\":3}",
    b"caf\xE9 \xFF",
    b"\"text\"",
    b"[2025-01-01] {\"id\":ID1}",
];

/// Garbage that is put into a message.
const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b",",
    b":",
    b"\0",
    b"\xFF",
    b"\xF0\x9F",
    b"\x1b[",
    b"\x1b]0;",
    b"\xEF\xBB\xBF",
    b"null",
    b"1e999",
    b"-0.0",
    b"ID0",
    b"\n\x1b\n",
    b"\n\x1b[\n",
    b"\n\x1b]0;\x1b\n",
    b"\n\x1b(\n",
    b"\n{\n",
    b"\n[\n",
    b"\"id\":ID1,",
    b"{\"id\":ID1}",
];

/// One bend, at places that are taken modulo the length.
#[derive(Debug, Clone)]
enum Bend {
    Flip(usize, u8),
    Delete(usize, usize),
    Double(usize, usize),
    Swap(usize, usize, usize),
    Insert(usize, &'static [u8]),
    /// This many of these brackets.
    Nest(usize, &'static str, usize),
    Truncate(usize),
}

fn bend() -> impl Strategy<Value = Bend> {
    let (at, length) = (0..4_000usize, 1..200usize);
    prop_oneof![
        3 => (at.clone(), 0..8u8).prop_map(|(at, bit)| Bend::Flip(at, bit)),
        2 => (at.clone(), length.clone()).prop_map(|(at, n)| Bend::Delete(at, n)),
        2 => (at.clone(), length.clone()).prop_map(|(at, n)| Bend::Double(at, n)),
        2 => (at.clone(), at.clone(), length).prop_map(|(a, b, n)| Bend::Swap(a, b, n)),
        4 => (at.clone(), prop::sample::select(PIECES)).prop_map(|(at, piece)| Bend::Insert(at, piece)),
        1 => (at.clone(), prop::sample::select(&["[", "{\"a\":", "{\n", "]", "}"][..]), 1..3_000usize)
            .prop_map(|(at, bracket, n)| Bend::Nest(at, bracket, n)),
        1 => at.prop_map(Bend::Truncate),
    ]
}

impl Bend {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: usize| at % (bytes.len() + 1);
        let range = |at: usize, n: usize| place(at)..(place(at) + n).min(bytes.len());
        match *self {
            Self::Flip(at, bit) => {
                let at = place(at);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Delete(at, n) => drop(bytes.drain(range(at, n))),
            Self::Double(at, n) => {
                let piece = bytes[range(at, n)].to_vec();
                let at = place(at);
                bytes.splice(at..at, piece);
            }
            Self::Swap(a, b, n) => {
                let piece: Vec<u8> = bytes[range(a, n)].to_vec();
                bytes.drain(range(a, n));
                let b = b % (bytes.len() + 1);
                bytes.splice(b..b, piece);
            }
            Self::Insert(at, piece) => {
                let at = place(at);
                bytes.splice(at..at, piece.iter().copied());
            }
            Self::Nest(at, bracket, n) => {
                let at = place(at);
                bytes.splice(at..at, bracket.repeat(n).into_bytes());
            }
            Self::Truncate(at) => bytes.truncate(place(at)),
        }
    }
}

fn traffic() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(TRAFFIC), 1..8)
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1..4usize, 1..60usize, 1..5_000usize], 1..6)
}

fn lines<T: AsRef<[u8]>>(lines: &[T]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_ref(), b"\n"].concat()).collect()
}

/// The same cases each time: `fuzz/` looks for new ones.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() }
}

/// Everything at once.
const WHOLE: &[usize] = &[usize::MAX];

proptest! {
    #![proptest_config(cases(250))]

    /// Bent traffic: nothing panics, nothing hangs, every call ends, and the next message is delivered.
    #[test]
    fn everything_ends_and_what_comes_after_is_heard(
        traffic in traffic(),
        bends in prop::collection::vec(bend(), 0..12),
        sizes in sizes(),
    ) {
        let mut bytes = lines(&traffic);
        for bend in &bends {
            bend.apply(&mut bytes);
        }
        survive(&bytes, &sizes);
    }

    /// However the same bytes are cut, the same comes of them.
    #[test]
    fn cutting_changes_nothing(traffic in traffic(), bends in prop::collection::vec(bend(), 0..4), sizes in sizes()) {
        let mut bytes = lines(&traffic);
        for bend in &bends {
            bend.apply(&mut bytes);
        }
        prop_assert_eq!(survive(&bytes, &sizes), survive(&bytes, WHOLE));
    }

    /// Lines of noise among the messages are counted, and change nothing else.
    #[test]
    fn noise_between_messages_changes_nothing(
        traffic in traffic(),
        noise in prop::collection::vec((0..8usize, prop::sample::select(NOISE)), 0..12),
        sizes in sizes(),
    ) {
        let mut noisy: Vec<&[u8]> = traffic.iter().map(|line| line.as_bytes()).collect();
        for (at, line) in &noise {
            noisy.insert(at % (noisy.len() + 1), line);
        }
        let with = survive(&lines(&noisy), &sizes);
        let without = survive(&lines(&traffic), WHOLE);
        prop_assert_eq!(with.traffic.noise, without.traffic.noise + noise.len() as u64);
        prop_assert_eq!(with.traffic.noise_lines.len(), noise.len().min(8));
        let mut quiet = with;
        (quiet.traffic.noise, quiet.traffic.noise_lines) = (without.traffic.noise, without.traffic.noise_lines.clone());
        prop_assert_eq!(quiet, without);
    }

}

proptest! {
    // It writes much each time.
    #![proptest_config(cases(50))]

    /// While nobody reads a session, what is held of it is bounded, whatever the traffic is made of.
    #[test]
    fn what_nobody_reads_is_bounded(traffic in traffic(), bends in prop::collection::vec(bend(), 0..3)) {
        let mut bytes = lines(&traffic);
        for bend in &bends {
            bend.apply(&mut bytes);
        }
        flood(&bytes, 8 * QUEUE);
    }
}

#[test]
fn the_outcome_of_plain_traffic() {
    // What the laws speak of is not nothing.
    let Outcome { events, call, traffic } = survive(&lines(TRAFFIC), WHOLE);
    assert_eq!(events.len(), 6, "{events:#?}");
    assert_eq!(call.unwrap()["a"][1], 2.5);
    assert!(flood(&lines(TRAFFIC), 8 * QUEUE) > QUEUE / 8);
    // The noise is the blank line that the driver adds.
    assert_eq!((traffic.noise, traffic.stray_replies, traffic.unknown), (1, 2, 4), "{traffic:?}");
}
