//! Writing a file, and showing beforehand what that changes.

use std::io::ErrorKind;
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{Diff, ToolCallContent};
use tokio::fs::{self, File};
use tokio::io::AsyncReadExt;

use super::directive::{code, code_block};

/// An older text longer than this is not shown.
const LONGEST_SHOWN: u64 = 256 * 1024;

/// A file as it is, and as it shall be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) path: PathBuf,
    before: Before,
    after: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    Text(String),
    /// Something that a diff cannot hold; the words say what.
    Other(String),
}

impl Edit {
    /// Looks at the file. The error is a sentence for the person: nothing can be written there.
    pub(super) async fn prepare(path: PathBuf, after: String) -> Result<Self, String> {
        let before = match fs::metadata(&path).await {
            Ok(found) if found.is_dir() => return Err("it is a folder".to_owned()),
            // Opening a pipe or a device could block or do things that a diff does not show.
            Ok(found) if !found.is_file() => return Err("it is no ordinary file".to_owned()),
            Ok(found) if found.len() > LONGEST_SHOWN => {
                Before::Other(format!("{} bytes, too many to show", found.len()))
            }
            Ok(_) => read(&path).await.map_err(|error| format!("what is there cannot be read: {error}"))?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match path.parent() {
                    Some(folder) if !fs::metadata(folder).await.is_ok_and(|folder| folder.is_dir()) => {
                        return Err(format!("there is no folder {}", code(&folder.to_string_lossy())));
                    }
                    _ => {}
                }
                Before::Nothing
            }
            Err(error) => return Err(error.to_string()),
        };
        Ok(Self { path, before, after })
    }

    /// The change as a client shows it.
    pub(super) fn content(&self) -> Vec<ToolCallContent> {
        let old = match &self.before {
            Before::Nothing => None,
            Before::Text(text) => Some(text.clone()),
            // No old text in a diff means a new file, and an invented one would be a lie: so no diff here.
            Before::Other(what) => {
                return vec![format!("Replaces {what}, with:").into(), code_block(&self.after).into()];
            }
        };
        vec![Diff::new(self.path.clone(), self.after.clone()).old_text(old).into()]
    }

    /// Writes the file, unless it is not any more what was shown. Makes no folders.
    pub(super) async fn write(&self) -> Result<usize, String> {
        let now = Self::prepare(self.path.clone(), String::new()).await?;
        if now.before != self.before {
            return Err("it changed since you were asked".to_owned());
        }
        fs::write(&self.path, &self.after).await.map_err(|error| error.to_string())?;
        Ok(self.after.len())
    }
}

async fn read(path: &PathBuf) -> std::io::Result<Before> {
    let mut bytes = Vec::new();
    // The file may have grown since, or be one of those that never end.
    File::open(path).await?.take(LONGEST_SHOWN + 1).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > LONGEST_SHOWN {
        return Ok(Before::Other(format!("more than {LONGEST_SHOWN} bytes, too many to show")));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Before::Text(text),
        Err(error) => Before::Other(format!("{} bytes that are no text", error.as_bytes().len())),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn what_nobody_was_shown_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        for before in [None, Some("old")] {
            let _ = before.map(|old| std::fs::write(&path, old));
            let edit = Edit::prepare(path.clone(), "new".to_owned()).await.unwrap();
            std::fs::write(&path, "somebody else's").unwrap();
            assert_eq!(edit.write().await, Err("it changed since you were asked".to_owned()));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "somebody else's");
        }
    }

    async fn shown(path: PathBuf) -> Value {
        let edit = Edit::prepare(path, "new\n".to_owned()).await.unwrap();
        assert_eq!(edit.write().await, Ok(4));
        assert_eq!(std::fs::read_to_string(&edit.path).unwrap(), "new\n");
        serde_json::to_value(edit.content()).unwrap()
    }

    #[tokio::test]
    async fn a_diff_holds_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let diff = shown(path.clone()).await;
        assert_eq!(diff, json!([{"type": "diff", "path": path, "newText": "new\n"}]));
        std::fs::write(&path, "old").unwrap();
        let diff = shown(path.clone()).await;
        assert_eq!(diff, json!([{"type": "diff", "path": path, "oldText": "old", "newText": "new\n"}]));
        std::fs::write(&path, "").unwrap();
        assert_eq!(shown(path.clone()).await[0]["oldText"], "");
    }

    #[tokio::test]
    async fn what_no_diff_can_hold_is_said_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (old, words) in [
            (b"\xFF\xFE".to_vec(), "Replaces 2 bytes that are no text, with:"),
            (vec![b'x'; 300_000], "Replaces 300000 bytes, too many to show, with:"),
        ] {
            std::fs::write(&path, old).unwrap();
            let content = shown(path.clone()).await;
            assert_eq!(content[0]["content"]["text"], words);
            assert_eq!(content[1]["content"]["text"], "```\nnew\n```");
        }
    }

    #[tokio::test]
    async fn some_places_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such/file");
        let no_folder = format!("there is no folder `{}`", folder.path().join("no/such").display());
        for (path, why) in [
            (folder.path().to_owned(), "it is a folder"),
            ("/dev/null".into(), "it is no ordinary file"),
            (missing, no_folder.as_str()),
        ] {
            assert_eq!(Edit::prepare(path, String::new()).await.unwrap_err(), why);
        }
    }
}
