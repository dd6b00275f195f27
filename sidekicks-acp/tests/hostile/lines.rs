//! Lines that are no message, and messages among them.

use crate::stage::{Entry, answered, delivered, play, skipped, turn};

#[tokio::test(start_paused = true)]
async fn noise_is_passed_over_and_counted() {
    let row = "a banner, a log line, a blank line, `42`, `\"text\"`, `[]` as a line";
    play(vec![
        skipped(row, "Welcome to the agent!\n", "noise 1"),
        skipped(row, "[2025-01-01T00:00:00Z INFO agent] started\nready (3)\n", "noise 2"),
        skipped(row, "{\"level\":\"info\",\"msg\":\"started\",\"error\":null}\n{\"error\":\"no model\"}\n", "noise 2"),
        skipped(row, "{\"level\":\"info\",\"msg\":\"started\"}\n", "noise 1"),
        skipped(row, "\n\r\n  \t \n\x1b[2K\x1b[0m\n", "noise 4"),
        skipped(row, "42\n\"text\"\n[]\nnull\ntrue\n{}\n[{}]\n[[]]\n", "noise 8"),
        skipped(row, "}\n]\n{]\n[}\n{\"id\":\n{\"method\"\n", "noise 6"),
        skipped(row, "Thinking {\"id\":ID,\"result\":{\"stopReason\":\"refusal\"}}\n", "noise 1"),
        skipped("`{\"id\":3}` alone", "{\"id\":ID}\n{\"id\":99}\n{\"jsonrpc\":\"2.0\",\"id\":\"x\"}\n", "noise 3"),
        skipped("`{\"id\":3}` alone", "{\"jsonrpc\":\"2.0\"}\n{\"id\":ID,\"method\":7}\n", "noise 2"),
        skipped("invalid UTF-8 in a log line", b"caf\xE9 \xFF\xFE opened\n", "noise 1"),
        skipped("invalid UTF-8 in a log line", b"\xFF\n\xF0\x9F\n\0\n", "noise 3"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_first_few_lines_of_noise_are_kept_and_cut() {
    let long = "z".repeat(1_000);
    let lines: String = (0..20).map(|n| format!("{n} {long}\n")).collect();
    let (_, traffic, answers) = turn(lines.into_bytes()).await;
    assert_eq!((traffic.noise, traffic.noise_lines.len(), answers.len()), (20, 8, 0));
    for (line, n) in traffic.noise_lines.iter().zip(0..) {
        assert_eq!((line.len(), line.starts_with(&format!("{n} z"))), (200, true), "{line}");
    }
    let (_, traffic, _) = turn([&b"\xE9"[..], "é".repeat(150).as_bytes(), b"\n"].concat()).await;
    assert_eq!(traffic.noise_lines[0].chars().filter(|c| *c == 'é').count(), 99, "{:?}", traffic.noise_lines);
}

/// A fragment of the answer.
macro_rules! say {
    ($text:literal) => {
        concat!(
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":"#,
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#,
            $text,
            r#""}}}}"#
        )
    };
}
pub(crate) use say;

#[tokio::test(start_paused = true)]
async fn decoration_is_stripped() {
    let row = "ANSI or OSC sequences, a BOM, or carriage returns before or after a JSON object on its line";
    let said = |writes: &str| delivered(row, writes, &["a"]);
    play(vec![
        said(concat!("\u{FEFF}", say!("a"), "\n")),
        said(concat!(say!("a"), "\u{FEFF}\n")),
        said(concat!("\x1b[2K\x1b[1G", say!("a"), "\x1b[0m\n")),
        said(concat!("\x1b[38;5;9m", say!("a"), "\x1b[0m\x1b[K\r\n")),
        said(concat!("\x1b]0;title\x07", say!("a"), "\x1b]0;\x1b\\\n")),
        said(concat!("\x1b(B\x1b7\x1b=", say!("a"), "\x1b8\n")),
        said(concat!("\r\r\r", say!("a"), "\r\r\n")),
        said(concat!("\u{FEFF}\x1b[0m\r \u{FEFF}", say!("a"), " \x1b[0m\r\u{FEFF} \n")),
        said(concat!("\x1b[0m[", say!("a"), "]\x1b[0m\n")),
        said(concat!("\x1b]0;a title without an end", say!("a"), "\n")),
        delivered("CRLF line ends; spaces around", concat!(say!("a"), "\r\n", say!("b"), "\r\n"), &["a", "b"]),
        delivered("CRLF line ends; spaces around", concat!(" \t", say!("a"), "\t  \n"), &["a"]),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn broken_bytes_in_a_string_cost_only_themselves() {
    let row = "invalid UTF-8 inside a JSON string";
    let said = |text: &[u8], word| {
        let (before, after) = say!("TEXT").split_once("TEXT").unwrap();
        delivered(row, [before.as_bytes(), text, after.as_bytes(), b"\n"].concat(), &[word])
    };
    play(vec![
        said(b"caf\xE9", "caf\u{FFFD}"),
        said(b"\xF0\x9F\x98", "\u{FFFD}"),
        said(b"a\xFF\xFEb", "a\u{FFFD}\u{FFFD}b"),
        said(b"\xED\xA0\xBD", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        said(br"half \ud83d", "half \u{FFFD}"),
        delivered(row, [b"[", say!("a").as_bytes(), b",", say!("b").as_bytes(), b"]\xFF\n"].concat(), &["a", "b"])
            .counting("noise 1"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn several_messages_share_a_line() {
    let row = "several complete JSON objects on one line";
    let noise = |writes: &str, events: &[&'static str], counted| Entry { counted, ..delivered(row, writes, events) };
    play(vec![
        delivered(row, concat!(say!("a"), say!("b"), say!("c"), "\n"), &["a", "b", "c"]),
        delivered(row, concat!(say!("a"), " \t", say!("b"), "\x1b[0m\r", say!("c"), "\r\n"), &["a", "b", "c"]),
        noise(concat!(say!("a"), " done\n"), &["a"], "noise 1"),
        noise(concat!(say!("a"), "{\"cut\":\n"), &["a"], "noise 1"),
        noise(concat!(say!("a"), "[", say!("b"), ",7]\n"), &["a", "b"], "noise 1"),
        // An object that is no message beside one that is.
        noise(concat!("{\"level\":\"info\"}", say!("a"), "\n"), &["a"], "noise 1"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_each_of_its_elements() {
    let row = "a batch array";
    let reply = r#"{"id":ID,"result":{"stopReason":"refusal"}}"#;
    play(vec![
        delivered(row, concat!("[", say!("a"), "]\n"), &["a"]),
        delivered(row, concat!("[ ", say!("a"), " , ", say!("b"), " ]\r\n"), &["a", "b"]),
        Entry { counted: "noise 3", ..delivered(row, concat!("[1,", say!("a"), ",[],{\"id\":3}]\n"), &["a"]) },
        Entry {
            events: vec!["a", "refusal", "alive (late)"],
            ..skipped(row, format!("[{},{reply}]\n", say!("a")), "stray 1")
        },
        answered(
            row,
            "[{\"id\":8,\"method\":\"x/y\"}]\n",
            r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"Method not found: x/y"}}"#,
        ),
        // One that is cut is no batch.
        skipped(row, concat!("[", say!("a"), ",\n"), "noise 1"),
        Entry { counted: "noise 1", ..delivered(row, concat!("[", say!("a"), "] done\n"), &["a"]) },
        delivered(row, concat!("[", say!("a"), "][", say!("b"), "]\n"), &["a", "b"]),
    ])
    .await;
}
