//! The line that comes most often.

use serde::de::IgnoredAny;

use super::cursor::Cursor;
use crate::raw::fits;
use crate::schema::SessionId;
use crate::session::{Known, Update, has_one_word};

/// A `session/update` that has the usual shape and is wholly understood, read in one pass.
///
/// Every other line goes through [`Message`](super::Message), where each layer is scanned before it is read.
#[derive(Debug, PartialEq)]
pub(crate) struct UpdateLine {
    pub(crate) session: SessionId,
    pub(crate) update: Update,
}

impl UpdateLine {
    pub(super) fn read(line: &str) -> Option<Self> {
        fits(line).ok()?;
        let (mut method, mut params) = (None, None);
        let mut session = None;
        let mut update = None;
        let mut json = Cursor::new(line);
        json.object(|json, key| match key {
            "jsonrpc" => json.value::<&str>().map(drop),
            "method" => once(&mut method, json.value()?.0),
            "params" if method == Some("session/update") => {
                once(&mut params, ())?;
                json.object(|json, key| match key {
                    "sessionId" => once(&mut session, json.value()?.0),
                    "update" => once(&mut update, json.value::<Known>()?),
                    "_meta" => json.value::<IgnoredAny>().map(drop),
                    _ => None,
                })
            }
            _ => None,
        })?;
        let (Known(typed), raw) = update?;
        (json.is_at_end() && has_one_word(raw)).then_some(Self { session: session?, update: Update::known(typed, raw) })
    }
}

/// Of a field that comes twice the last one counts, which is seen only when all are read.
fn once<T>(field: &mut Option<T>, value: T) -> Option<()> {
    field.replace(value).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::RawJson;
    use crate::wire::message::Parts;
    use crate::wire::{Addressed, Message};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    /// What the general path makes of a line.
    fn in_general(line: &str) -> Option<UpdateLine> {
        let message = serde_json::from_str::<Parts<'_>>(line).ok().and_then(Parts::message);
        let Some(Message::Notification { method, params: Some(params) }) = message else { return None };
        let to: Addressed<'_> = serde_json::from_str(params.get()).ok().filter(|_| method == "session/update")?;
        Some(UpdateLine { session: to.session_id, update: Update::new(RawJson::copied(to.update?)) })
    }

    const PIECES: &[&str] = &[
        "\"params\":{},",
        "\"params\":{\"sessionId\":\"t\"},",
        "\"sessionId\":\"t\",",
        "\"sessionUpdate\":\"tool_call\",",
        "\"sessionUpdate\":\"agent_thought_chunk\",",
        "\"update\":null,",
        "\"method\":\"session/update\",",
        "\"method\":\"other\",",
        "\"id\":1,",
        "\"_meta\":{\"a\":[1]},",
        "\\ud83d",
        "\\u0061",
        "\u{c}",
        " \t\r",
        "\"",
        "{",
        "}",
        ",",
        "1",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_in_one_pass_is_what_would_be_read_in_general(
            bends in proptest::collection::vec((0..200usize, prop::sample::select(PIECES), 0..12usize), 0..4),
        ) {
            let mut line = concat!(
                r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":"#,
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}"#
            ).to_owned();
            for (at, piece, gone) in bends {
                let at = at % line.len();
                line.replace_range(at..(at + gone / 6 * gone).min(line.len()), piece);
            }
            if let Some(read) = UpdateLine::read(&line) {
                prop_assert_eq!(Some(read), in_general(&line), "{}", line);
            }
        }
    }

    #[test]
    fn the_usual_shape_is_read_and_nothing_else() {
        let chunk = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\n"}}"#;
        let plan = r#"{"sessionUpdate":"plan","entries":[]}"#;
        let line = |method: &str, params: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        let params = format!(r#"{{"sessionId":"s","update":{chunk}}}"#);
        let usual = [
            line("session/update", &params),
            line("session/update", &format!(r#" {{ "update" : {chunk} , "_meta" : {{"a":[1]}}, "sessionId":"s" }} "#)),
            format!(r#"{{"method":"session\/update","params":{params}}}"#).replace("\\/", "/"),
        ];
        for line in usual {
            let read = UpdateLine::read(&line).expect(&line);
            let update = serde_json::from_str(chunk).map(Update::new).unwrap();
            assert_eq!(read, UpdateLine { session: SessionId::new("s"), update }, "{line}");
        }
        let other = [
            line("session/other", &params),
            line("session/update", &format!(r#"{{"sessionId":"s","update":{plan}}}"#).replace("plan", "hologram")),
            line("session/update", &format!(r#"{{"sessionId":"s","update":{chunk},"update":{chunk}}}"#)),
            line("session/update", &format!(r#"{{"sessionId":7,"update":{chunk}}}"#)),
            line("session/update", r#"{"sessionId":"s"}"#),
            line("session/update", &params).replace("\"method\"", "\"id\":1,\"method\""),
            line("session/update", &params) + "x",
            line("session/update", &format!(r#"{params},"params":{{}}"#)),
            line("session/update", &format!(r#"{{"sessionId":"s"}},"params":{{"update":{chunk}}}"#)),
            line("session/update", &params).replace(":\"2.0\"", ":\u{c}\"2.0\""),
            line("session/update", &params)
                .replace("{\"sessionUpdate\"", "{\"sessionUpdate\":\"tool_call\",\"sessionUpdate\""),
            line("session/update", &params).replace("a\\n", "\\ud83d"),
            format!(r#"{{"params":{params},"method":"session/update"}}"#),
            "{}".to_owned(),
            "{".to_owned(),
            r#"{"id":1,"result":{}}"#.to_owned(),
        ];
        for line in other {
            assert_eq!(UpdateLine::read(&line), None, "{line}");
        }
    }
}
