//! Setting aside a file that makes no sense.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::disk::{folder, named, stem};

/// How many are kept.
const KEPT: usize = 3;
const TAIL: &str = ".json";

/// Renames a file to `NAME.bad-SECONDS.json` beside it, and removes the oldest of those where there are more than 3.
pub(crate) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let folder = folder(path)?;
    let lead = format!("{}.bad-", stem(path));
    let mut older: Vec<(u64, PathBuf)> =
        named(folder, &lead, TAIL).into_iter().filter_map(|(time, path)| Some((time.parse().ok()?, path))).collect();
    older.sort();

    // Newer than all others, also if there is one of this second or the clock was put back.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let time = older.last().map_or(now, |(newest, _)| now.max(newest.saturating_add(1)));
    let to = folder.join(format!("{lead}{time}{TAIL}"));
    // A rename would replace what is there. What it replaces here is known to be ours.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to)?;
    if let Err(error) = fs::rename(path, &to) {
        let _ = fs::remove_file(&to);
        return Err(error);
    }
    for (_, path) in older.iter().rev().skip(KEPT - 1) {
        let _ = fs::remove_file(path);
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let mut found: Vec<_> = named(folder, "", "")
            .into_iter()
            .map(|(name, path)| (name, fs::read_to_string(path).unwrap_or_default()))
            .collect();
        found.sort();
        found
    }

    #[test]
    fn the_newest_three_are_kept_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("preferences.json");
        let others =
            ["preferences.bad-.json", "preferences.bad-1", "preferences.bad-x.json", "preferences.bad-1.jsonc"];
        for other in others {
            fs::write(folder.path().join(other), "other").unwrap();
        }
        let mut made = Vec::new();
        for text in ["one", "two", "three", "four", "five"] {
            fs::write(&path, text).unwrap();
            made.push(set_aside(&path).unwrap());
        }
        assert!(!path.exists());
        let mut expected: Vec<_> = others.map(|name| (name.to_owned(), "other".to_owned())).into();
        for (path, text) in made[2..].iter().zip(["three", "four", "five"]) {
            expected.push((path.file_name().unwrap().to_str().unwrap().to_owned(), text.to_owned()));
        }
        expected.sort();
        assert_eq!(contents(folder.path()), expected);
    }

    #[test]
    fn a_clock_that_was_put_back() {
        let folder = tempfile::tempdir().unwrap();
        for (time, text) in [(99_999_999_997_u64, "a"), (99_999_999_998, "b"), (99_999_999_999, "c")] {
            fs::write(folder.path().join(format!("p.bad-{time}.json")), text).unwrap();
        }
        let path = folder.path().join("p.json");
        fs::write(&path, "d").unwrap();
        assert_eq!(set_aside(&path).unwrap(), folder.path().join("p.bad-100000000000.json"));
        let texts: Vec<_> = contents(folder.path()).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["d", "b", "c"]);
    }

    #[test]
    fn where_it_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        assert!(set_aside(&folder.path().join("missing.json")).is_err());
        fs::write(folder.path().join(format!("p.bad-{}.json", u64::MAX)), "kept").unwrap();
        fs::write(folder.path().join("p.json"), "bad").unwrap();
        assert_eq!(set_aside(&folder.path().join("p.json")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let texts: Vec<_> = contents(folder.path()).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["kept", "bad"]);
    }
}
