//! JSON exactly as it was written.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::wire::mended;

/// A piece of JSON exactly as the agent wrote it: spacing, number forms and unknown fields kept.
///
/// Two values are equal when their text is.
#[derive(Clone)]
pub struct RawJson(Box<str>);

impl RawJson {
    pub(crate) fn copied(raw: &RawValue) -> Self {
        Self::was_read(raw.get())
    }

    /// A copy of text that was read as JSON before, and so need not be scanned again.
    pub(crate) fn was_read(json: &str) -> Self {
        Self(json.into())
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the JSON as a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// The JSON as a tree, with half characters made U+FFFD; `null` where it cannot be one (nested deeper than
    /// `serde_json` reads, 128 levels).
    pub fn to_value(&self) -> serde_json::Value {
        value(self.as_str())
    }
}

/// The tree of `json`, as far as it can be had.
pub(crate) fn value(json: &str) -> serde_json::Value {
    lenient(json).unwrap_or_default()
}

/// Reads `json`; where that fails for half characters in its strings or fields that come twice, without the former and
/// with the last of the latter.
pub(crate) fn lenient<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(json).or_else(|error| {
        let mended = mended(json);
        // Of fields that come twice a tree keeps the last one, where a struct wants no second.
        let tree = serde_json::from_str::<serde_json::Value>(mended.as_deref().unwrap_or(json));
        tree.and_then(serde_json::from_value).map_err(|_| error)
    })
}

/// The elements of a list that can be read; one that cannot be costs only itself.
pub(crate) fn listed<T: DeserializeOwned>(list: &serde_json::Value) -> Vec<T> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|element| serde_json::from_value(element.clone()).ok()).collect()
}

impl From<&serde_json::Value> for RawJson {
    fn from(value: &serde_json::Value) -> Self {
        // A tree of JSON can always be written.
        serde_json::to_string(value).map(|json| Self(json.into())).unwrap_or_default()
    }
}

impl Default for RawJson {
    /// `null`.
    fn default() -> Self {
        Self::copied(RawValue::NULL)
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(self.as_str()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.into()))
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
