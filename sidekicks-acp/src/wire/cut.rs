//! What the head of a line tells of a message whose rest was not kept.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Whose a message is that was too long to keep.
#[derive(Debug)]
pub(crate) enum Cut {
    /// A reply to the call of this id.
    Reply(Box<RawValue>),
    /// A request with this id.
    Request(Box<RawValue>),
    /// A notification, noise, or a message whose id comes after the cut.
    Unknown,
}

impl Cut {
    /// Reads the message that begins with `head`, as far as it goes.
    pub(crate) fn read(head: &[u8]) -> Self {
        let text = String::from_utf8_lossy(head);
        let mut seen = Seen::default();
        // The error is where the head is cut; what was read before it is in `seen`.
        let _ = (&mut seen).deserialize(&mut serde_json::Deserializer::from_str(&text));
        match (seen.id, seen.reply, seen.request) {
            (Some(id), true, _) => Self::Reply(id),
            (Some(id), false, true) => Self::Request(id),
            _ => Self::Unknown,
        }
    }
}

/// The fields that were begun before the cut.
#[derive(Default)]
struct Seen {
    id: Option<Box<RawValue>>,
    reply: bool,
    request: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Seen {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Seen {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => {
                    self.id = Some(map.next_value()?);
                    continue;
                }
                "result" | "error" => self.reply = true,
                "method" | "params" => self.request = true,
                _ => {}
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_tells_whose_it_is() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":3,"result":{"a":"x"#, "reply 3"),
            (r#"{"id":"3","error":{"#, r#"reply "3""#),
            (r#"{"id":3,"method":"session/prompt","result":[1"#, "reply 3"),
            (r#"{"id":7,"method":"fs/write_text_file","params":{"content":"x"#, "request 7"),
            (r#"{"method":"fs/write","id":null,"params":{"x"#, "request null"),
            (r#"{"jsonrpc":"2.0","method":"session/update","params":{"id":3,"x":"#, "unknown"),
            (r#"{"result":{"id":3,"x":"long"#, "unknown"),
            (r#"{"id":31"#, "unknown"),
            (r#"{"id":3,"re"#, "unknown"),
            ("{\"id\":3,\"result\":\"\u{FFFD}x", "reply 3"),
            ("[{\"id\":3,\"result\":1},", "unknown"),
            ("a log line that is long", "unknown"),
            ("", "unknown"),
        ];
        for (head, expected) in cases {
            let cut = match Cut::read(head.as_bytes()) {
                Cut::Reply(id) => format!("reply {id}"),
                Cut::Request(id) => format!("request {id}"),
                Cut::Unknown => "unknown".to_owned(),
            };
            assert_eq!(cut, expected, "{head}");
        }
    }
}
