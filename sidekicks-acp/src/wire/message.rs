//! One JSON-RPC message.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON-RPC message, borrowed from the line it stands on.
///
/// Reading is lenient: agents leave out `jsonrpc`, write `error: null` beside a result, or echo the method in a reply.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    /// Must be answered, with `id` exactly as it is written.
    Request {
        id: &'a RawValue,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// `Err` is the value of `error`, whatever its shape.
    Response {
        id: &'a RawValue,
        outcome: Result<&'a RawValue, &'a RawValue>,
    },
}

impl<'a> Message<'a> {
    /// The message that an object is, or `None` where the object is something else, such as a line of a log.
    fn of(parts: Parts<'a>) -> Option<Self> {
        let error = parts.error.filter(|error| error.get() != "null");
        let outcome = match (error, parts.result) {
            (Some(error), _) => Some(Err(error)),
            (None, Some(result)) => Some(Ok(result)),
            // `error: null` and no result: the call is over, with nothing to say.
            (None, None) => parts.error.map(Ok),
        };
        match (parts.id, outcome, parts.method) {
            // Some languages write every field of a message, those that it has not with null.
            (Some(id), Some(Ok(result)), Some(method)) if result.get() == "null" && parts.params.is_some() => {
                Some(Self::Request { id, method, params: parts.params })
            }
            (Some(id), Some(outcome), _) => Some(Self::Response { id, outcome }),
            // Nobody can be told of it: an agent could not read one of our lines, or one of its own. A log line may have
            // such a field too, but seldom an object in it.
            (None, Some(outcome @ Err(error)), None) if error.get().starts_with('{') => {
                Some(Self::Response { id: RawValue::NULL, outcome })
            }
            (Some(id), None, Some(method)) => Some(Self::Request { id, method, params: parts.params }),
            (None, _, Some(method)) => Some(Self::Notification { method, params: parts.params }),
            (None, Some(_), None) | (_, None, None) => None,
        }
    }
}

/// The fields of a message's object; of a field that comes twice the last one.
#[derive(Default)]
pub(super) struct Parts<'a> {
    id: Option<&'a RawValue>,
    method: Option<Cow<'a, str>>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Parts<'a> {
    pub(super) fn message(self) -> Option<Message<'a>> {
        Message::of(self)
    }
}

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Parts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'de>, A::Error> {
                let mut parts = Parts::default();
                while let Some(key) = map.next_key::<Key>()? {
                    match key {
                        Key::Id => parts.id = Some(map.next_value()?),
                        Key::Method => parts.method = text(map.next_value()?),
                        Key::Params => parts.params = Some(map.next_value()?),
                        Key::Result => parts.result = Some(map.next_value()?),
                        Key::Error => parts.error = Some(map.next_value()?),
                        Key::Other => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(parts)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// `raw` as a string, without a copy where it has no escapes.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    match serde_json::from_str::<&str>(json) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => serde_json::from_str::<String>(json).ok().map(Cow::Owned),
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> String {
        let raw = |raw: Option<&RawValue>| raw.map_or("-".to_owned(), |r| r.get().to_owned());
        match serde_json::from_str::<Parts<'_>>(line).unwrap().message() {
            Some(Message::Request { id, method, params }) => format!("request {id} {method} {}", raw(params)),
            Some(Message::Notification { method, params }) => format!("notification {method} {}", raw(params)),
            Some(Message::Response { id, outcome: Ok(result) }) => format!("result {id} {result}"),
            Some(Message::Response { id, outcome: Err(error) }) => format!("error {id} {error}"),
            None => "no message".to_owned(),
        }
    }

    #[test]
    fn what_each_object_is() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":0,"method":"m","params":{"a":1}}"#, r#"request 0 m {"a":1}"#),
            (r#"{"id":"5b-uuid","method":"m"}"#, r#"request "5b-uuid" m -"#),
            (r#"{"id":null,"method":"m"}"#, "request null m -"),
            (r#"{"id":12345678901234567890123.50,"method":"m"}"#, "request 12345678901234567890123.50 m -"),
            (r#"{"method":"a\/b","params":[]}"#, "notification a/b []"),
            (r#"{"id":3,"result":null}"#, "result 3 null"),
            (r#"{"id":3,"result":{},"error":null}"#, "result 3 {}"),
            (r#"{"id":3,"error":null}"#, "result 3 null"),
            (r#"{"id":3,"method":"m","result":7}"#, "result 3 7"),
            (r#"{"id":3,"error":"boom"}"#, r#"error 3 "boom""#),
            (r#"{"id":3,"result":{},"error":{"code":1}}"#, r#"error 3 {"code":1}"#),
            (r#"{"id":3,"method":"m","params":{},"result":null,"error":null}"#, "request 3 m {}"),
            (r#"{"error":{"code":-32700}}"#, r#"error null {"code":-32700}"#),
            (r#"{"id":1,"id":2,"result":1,"result":2}"#, "result 2 2"),
            (r#"{"id":3}"#, "no message"),
            (r#"{"id":3,"method":7}"#, "no message"),
            (r#"{"level":"info","msg":"started"}"#, "no message"),
            (r#"{"level":"error","msg":"no model","error":"timeout"}"#, "no message"),
            (r#"{"level":"info","msg":"done","error":null,"result":7}"#, "no message"),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), expected, "{line}");
        }
    }
}
