//! Maps that keep the order of the file.

use std::fmt;

use indexmap::{IndexMap, map};
use serde::{Deserialize, Serialize};

/// Things by name, in the order of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Entries<T>(IndexMap<String, T>);

impl<T> Entries<T> {
    /// What has this name. Upper and lower case differ.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.get(name)
    }

    /// Whether something has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and what they name, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> + DoubleEndedIterator {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The names, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.0.keys().map(String::as_str)
    }

    /// What has this name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.0.get_mut(name)
    }

    /// Adds something at the end, or puts it where this name is already.
    pub fn insert(&mut self, name: impl Into<String>, value: T) -> Option<T> {
        self.0.insert(name.into(), value)
    }

    /// Takes something out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        self.0.shift_remove(name)
    }
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(IndexMap::new())
    }
}

/// Two are equal if they have the same in the same order.
impl<T: PartialEq> PartialEq for Entries<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Entries<T> {}

impl<T, N: Into<String>> FromIterator<(N, T)> for Entries<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<T, N: Into<String>> Extend<(N, T)> for Entries<T> {
    fn extend<I: IntoIterator<Item = (N, T)>>(&mut self, entries: I) {
        self.0.extend(entries.into_iter().map(|(name, value)| (name.into(), value)));
    }
}

/// What [`IntoIterator`] of [`Entries`] gives.
#[derive(Debug)]
pub struct IntoEntries<T>(map::IntoIter<String, T>);

impl<T> Iterator for IntoEntries<T> {
    type Item = (String, T);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for IntoEntries<T> {}

impl<T> IntoIterator for Entries<T> {
    type Item = (String, T);
    type IntoIter = IntoEntries<T>;

    fn into_iter(self) -> Self::IntoIter {
        IntoEntries(self.0.into_iter())
    }
}

/// Environment variables or HTTP headers. Some of them are secrets: `Debug` shows their names only.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Variables(Entries<String>);

impl Variables {
    /// The value of this name. Upper and lower case differ.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Names and values, in the order of the file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> + DoubleEndedIterator {
        self.0.iter().map(|(name, value)| (name, value.as_str()))
    }

    /// Whether one has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.0.names()
    }

    /// Takes one out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Sets one, at the end or where its name is already.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name, value.into());
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_file() {
        let read: Entries<u8> = serde_json::from_str(r#"{"b": 1, "a": 2, "c": 3}"#).expect("a map");
        assert_eq!(read.names().collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!(serde_json::to_string(&read).expect("JSON"), r#"{"b":1,"a":2,"c":3}"#);
        let sorted: Entries<u8> = [("a", 2), ("b", 1), ("c", 3)].into_iter().collect();
        assert_ne!(read, sorted);
    }

    #[test]
    fn values_of_variables_are_not_shown() {
        let variables: Variables = [("API_KEY", "sk-secret")].into_iter().collect();
        assert_eq!(format!("{variables:?}"), r#"{"API_KEY"}"#);
    }
}
