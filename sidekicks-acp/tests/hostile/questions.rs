//! What the agent asks.

use crate::stage::{Entry, answered, play, skipped};

/// A question of session `s1`.
fn ask(more: &str) -> String {
    format!(r#"{{"id":"q","method":"session/request_permission","params":{{"sessionId":"s1",{more}}}}}"#) + "\n"
}

fn asked(row: &'static str, more: &str, word: &'static str, outcome: &'static str) -> Entry {
    Entry { events: vec![word, "alive", "end_turn"], answers: vec![outcome], ..skipped(row, ask(more), "") }
}

const YES: &str = r#"{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"selected","optionId":"y"}}}"#;
const CANCELLED: &str = r#"{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}"#;

#[tokio::test(start_paused = true)]
async fn a_person_is_asked_whatever_the_question_looks_like() {
    let kind = "unknown permission option kind";
    let call = "a permission request whose `toolCall` is missing or broken";
    let options = r#""options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]"#;
    let with_options = |more: &str| format!("{more}{options}");
    let nothing = "asks about nothing: y Yes \"allow_once\"";
    play(vec![
        asked(
            kind,
            r#""toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Perhaps","kind":"allow_maybe"}]"#,
            "asks about t: y Perhaps \"allow_maybe\"",
            YES,
        ),
        asked(
            kind,
            r#""toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"","kind":7},{"optionId":"z"}]"#,
            "asks about t: y y \"\", z z \"\"",
            YES,
        ),
        asked(call, &with_options(""), nothing, YES),
        asked(call, &with_options(r#""toolCall":null,"#), nothing, YES),
        asked(call, &with_options(r#""toolCall":7,"#), nothing, YES),
        asked(call, &with_options(r#""toolCall":{},"#), nothing, YES),
        asked(call, &with_options(r#""toolCall":{"toolCallId":5},"#), nothing, YES),
        asked(
            call,
            &with_options(r#""toolCall":{"toolCallId":"t","kind":"teleport","status":3,"content":7},"#),
            "asks about t: y Yes \"allow_once\"",
            YES,
        ),
        // Nothing to choose: it is asked, and whoever cannot choose drops it.
        asked(call, r#""toolCall":{"toolCallId":"t"},"options":[]"#, "asks about t: ", CANCELLED),
        asked(call, r#""toolCall":{"toolCallId":"t"}"#, "asks about t: ", CANCELLED),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_request_is_echoed_as_it_was_written() {
    let row = "a request with an unknown method";
    let number = "numeric ids beyond 2^53, fractional ids";
    let unknown = |row, request: &str, answer: &'static str| answered(row, request.to_owned() + "\n", answer);
    macro_rules! not_found {
        ($id:literal) => {
            concat!(
                r#"{"jsonrpc":"2.0","id":"#,
                $id,
                r#","error":{"code":-32601,"message":"Method not found: craft/drain"}}"#
            )
        };
    }
    play(vec![
        unknown(row, r#"{"id":0,"method":"craft/drain","params":{}}"#, not_found!("0")),
        unknown(row, r#"{"id":"a-b","method":"craft/drain"}"#, not_found!("\"a-b\"")),
        unknown(row, r#"{"id":null,"method":"craft/drain"}"#, not_found!("null")),
        // Even one of ours, which is no reply.
        unknown(row, r#"{"id":1,"method":"craft/drain","params":{},"result":null,"error":null}"#, not_found!("1")),
        unknown(number, r#"{"id":9007199254740993,"method":"craft/drain"}"#, not_found!("9007199254740993")),
        unknown(
            number,
            r#"{"id":12345678901234567890123.50,"method":"craft/drain"}"#,
            not_found!("12345678901234567890123.50"),
        ),
        unknown(number, r#"{"id":-1.5e3,"method":"craft/drain"}"#, not_found!("-1.5e3")),
        unknown(row, r#"{"id":"\ud83d","method":"craft/drain"}"#, not_found!(r#""\ud83d""#)),
        // No id that JSON-RPC has. It must not break our line.
        unknown(row, "{\n\"id\": [\n1\r\n],\n\"method\": \"craft/drain\"\n}", not_found!("[ 1\r ]")),
        Entry {
            answers: vec![
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params: no sessionId"}}"#,
            ],
            ..skipped(row, r#"{"id":3,"method":"session/request_permission","params":{}}"#.to_owned() + "\n", "")
        },
    ])
    .await;
}
