//! Which session a message is for.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::schema::SessionId;

/// The parameters of an update or a question, as far as they say whose it is; of a field that comes twice the last one.
#[derive(Debug)]
pub(crate) struct Addressed<'a> {
    pub(crate) session_id: SessionId,
    pub(crate) update: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Addressed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Addressed<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("parameters with a sessionId")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Addressed<'de>, A::Error> {
                let (mut session_id, mut update) = (None, None);
                while let Some(key) = map.next_key::<Key>()? {
                    match key {
                        Key::SessionId => session_id = Some(map.next_value()?),
                        Key::Update => update = Some(map.next_value()?),
                        Key::Other => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                let session_id = session_id.ok_or_else(|| serde::de::Error::missing_field("sessionId"))?;
                Ok(Addressed { session_id, update })
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    SessionId,
    Update,
    #[serde(other)]
    Other,
}
