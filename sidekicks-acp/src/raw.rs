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

    /// The JSON as a tree, with half characters made U+FFFD; `null` where it cannot be one: nested deeper than
    /// `serde_json` reads (128 levels), or of so many values that the tree would take more than 64 MiB.
    pub fn to_value(&self) -> serde_json::Value {
        value(self.as_str())
    }

    /// The same, or why there is none.
    pub(crate) fn tree(&self) -> serde_json::Result<serde_json::Value> {
        lenient(self.as_str())
    }
}

/// The most that JSON may take in memory as values, in bytes.
const MAX_VALUES: usize = 64 << 20;

/// Refuses JSON that is small as text and huge as values: `[[],[],…]` takes thirty times its length.
pub(crate) fn fits(json: &str) -> serde_json::Result<()> {
    // Each has a place in a list or a map that may have as much room to spare.
    const EACH: usize = 2 * size_of::<serde_json::Value>();
    if json.len() > MAX_VALUES / EACH && values(json.as_bytes()).saturating_mul(EACH) > MAX_VALUES {
        return Err(serde::de::Error::custom("it has too many values"));
    }
    Ok(())
}

/// About how many values stand in `json`: its commas and opening brackets outside of strings.
fn values(mut json: &[u8]) -> usize {
    let marks = |text: &[u8]| text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    let mut count = 0;
    while let Some(quote) = memchr::memchr(b'"', json) {
        count += marks(&json[..quote]);
        json = &json[quote + 1..];
        loop {
            match memchr::memchr2(b'"', b'\\', json) {
                Some(at) if json[at] == b'\\' => json = json.get(at + 2..).unwrap_or_default(),
                Some(at) => break json = &json[at + 1..],
                None => return count,
            }
        }
    }
    count + marks(json)
}

/// The tree of `json`, as far as it can be had.
pub(crate) fn value(json: &str) -> serde_json::Value {
    lenient(json).unwrap_or_default()
}

/// Reads `json`; where that fails for half characters in its strings or fields that come twice, without the former and
/// with the last of the latter.
pub(crate) fn lenient<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    fits(json)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_as_text_and_huge_as_values_is_not_made_a_tree() {
        let text = |text: String| serde_json::from_str::<RawJson>(&text).unwrap();
        let many = text(format!("[{}[]]", "[],".repeat(2_000_000)));
        assert!(many.to_value().is_null());
        assert_eq!(many.tree().unwrap_err().to_string(), "it has too many values");
        let long = text(format!(r#"["{}"]"#, r#"a,[{\"\\"#.repeat(2_000_000)));
        assert_eq!(long.to_value()[0].as_str().map(str::len), Some(12_000_000));
        assert_eq!(values(br#"{"a,b":[1,"\\",{"c\"[":2}],"d":[]}"#), 7);
    }
}
