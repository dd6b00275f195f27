//! What is remembered, and how it changes.

use std::path::{Path, PathBuf};

/// How many recent files are kept.
pub(crate) const MOST_RECENT: usize = 8;

/// What is remembered from one run to the next. The paths are absolute, and spelt as they were opened: links in them
/// are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Preferences {
    /// The configuration file that was opened last. It may be gone since.
    pub last: Option<PathBuf>,
    /// The configuration files that were opened, the newest first: at most 8, no file twice. Those that are gone stay
    /// listed, since a disk can come back; [`is_missing`](crate::is_missing) tells.
    pub recent: Vec<PathBuf>,
}

/// Where a path really leads, if it leads anywhere.
pub(crate) type Canonical<'a> = &'a dyn Fn(&Path) -> Option<PathBuf>;

impl Preferences {
    /// After this file was opened. The newest spelling of a file stays.
    pub(crate) fn opened(&self, config: &Path, canonical: Canonical<'_>) -> Self {
        let mut recent: Vec<PathBuf> = Vec::new();
        let mut places: Vec<Option<PathBuf>> = Vec::new();
        for path in std::iter::once(config).chain(self.recent.iter().map(PathBuf::as_path)) {
            let place = canonical(path);
            let known = recent.iter().zip(&places).any(|(one, at)| is_same((one, at), (path, &place)));
            if !known && recent.len() < MOST_RECENT {
                recent.push(path.to_owned());
                places.push(place);
            }
        }
        Self { last: Some(config.to_owned()), recent }
    }

    /// After this file was forgotten. Where it was the last one, there is none: a recent one never takes its place.
    pub(crate) fn forgot(&self, config: &Path, canonical: Canonical<'_>) -> Self {
        let place = canonical(config);
        let stays = |path: &&PathBuf| !is_same((path, &canonical(path)), (config, &place));
        Self {
            last: self.last.as_ref().filter(stays).cloned(),
            recent: self.recent.iter().filter(stays).cloned().collect(),
        }
    }
}

/// Whether two paths are one file: where they lead decides, and their text where that is not known of both. This sees
/// through links, and through capitals on a disk that does not tell them apart.
fn is_same(one: (&Path, &Option<PathBuf>), other: (&Path, &Option<PathBuf>)) -> bool {
    match (one.1, other.1) {
        (Some(one), Some(other)) => one == other,
        _ => one.0 == other.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A disk: `/link/a` leads to `/real/a`, and what is below `/gone` is not there.
    fn canonical(path: &Path) -> Option<PathBuf> {
        match path.strip_prefix("/link") {
            Ok(name) => Some(Path::new("/real").join(name)),
            Err(_) => path.starts_with("/real").then(|| path.to_owned()),
        }
    }

    fn after(opened: &[&str]) -> Preferences {
        opened.iter().fold(Preferences::default(), |before, path| before.opened(Path::new(path), &canonical))
    }

    fn texts(paths: &[PathBuf]) -> Vec<&str> {
        paths.iter().map(|path| path.to_str().unwrap()).collect()
    }

    #[test]
    fn opening() {
        for (opened, recent) in [
            (&["/real/a"][..], &["/real/a"][..]),
            (&["/real/a", "/real/b"], &["/real/b", "/real/a"]),
            (&["/real/a", "/real/b", "/real/a"], &["/real/a", "/real/b"]),
            (&["/real/a", "/real/b", "/link/a"], &["/link/a", "/real/b"]),
            (&["/gone/a", "/gone/A", "/gone/a"], &["/gone/a", "/gone/A"]),
            (
                &["/r/1", "/r/2", "/r/3", "/r/4", "/r/5", "/r/6", "/r/7", "/r/8", "/r/9"],
                &["/r/9", "/r/8", "/r/7", "/r/6", "/r/5", "/r/4", "/r/3", "/r/2"],
            ),
        ] {
            let preferences = after(opened);
            assert_eq!(texts(&preferences.recent), recent, "{opened:?}");
            assert_eq!(preferences.last, opened.last().map(PathBuf::from), "{opened:?}");
        }
    }

    #[test]
    fn forgetting() {
        for (opened, forgotten, last, recent) in [
            (&["/real/a", "/real/b"][..], "/real/a", Some("/real/b"), &["/real/b"][..]),
            (&["/real/a", "/real/b"], "/real/b", None, &["/real/a"]),
            (&["/real/a", "/real/b"], "/link/b", None, &["/real/a"]),
            (&["/gone/a", "/real/b"], "/gone/a", Some("/real/b"), &["/real/b"]),
            (&["/real/a"], "/real/c", Some("/real/a"), &["/real/a"]),
        ] {
            let preferences = after(opened).forgot(Path::new(forgotten), &canonical);
            assert_eq!(texts(&preferences.recent), recent, "{opened:?} without {forgotten}");
            assert_eq!(preferences.last, last.map(PathBuf::from), "{opened:?} without {forgotten}");
        }
    }

    #[derive(Debug, Clone)]
    enum Act {
        Open(PathBuf),
        Forget(PathBuf),
    }

    fn act() -> impl Strategy<Value = Act> {
        let path = || "/(real|link|gone)/[a-e]".prop_map(PathBuf::from);
        prop_oneof![4 => path().prop_map(Act::Open), 1 => path().prop_map(Act::Forget)]
    }

    proptest! {
        #[test]
        fn laws(acts in proptest::collection::vec(act(), 0..40)) {
            let key = |path: &Path| canonical(path).unwrap_or_else(|| path.to_owned());
            let mut preferences = Preferences::default();
            let mut expected: Vec<PathBuf> = Vec::new();
            for act in acts {
                match act {
                    Act::Open(path) => {
                        expected.retain(|known| key(known) != key(&path));
                        preferences = preferences.opened(&path, &canonical);
                        prop_assert_eq!(preferences.opened(&path, &canonical), preferences.clone(), "idempotent");
                        prop_assert_eq!(preferences.last.as_ref(), Some(&path));
                        expected.insert(0, path);
                        expected.truncate(MOST_RECENT);
                    }
                    Act::Forget(path) => {
                        expected.retain(|known| key(known) != key(&path));
                        preferences = preferences.forgot(&path, &canonical);
                        prop_assert_eq!(preferences.forgot(&path, &canonical), preferences.clone(), "idempotent");
                    }
                }
                prop_assert_eq!(&preferences.recent, &expected, "the newest first, no file twice, at most 8");
                prop_assert!(preferences.last.as_ref().is_none_or(|last| preferences.recent[0] == *last));
            }
        }
    }
}
