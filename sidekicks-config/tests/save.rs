//! Saving as an embedder does.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use sidekicks_config::{Digest, SaveError, SaveOptions, Severity, load, save, save_if_unchanged};

const GOOD: &str = r#"{ "version": 1, "agents": { "riker": { "command": "codex-acp" } } }"#;

/// A path in a folder, and options with a state folder beside.
fn place() -> (tempfile::TempDir, PathBuf, SaveOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sidekicks.jsonc");
    let options = SaveOptions::default().state_dir(folder.path().join("state"));
    (folder, path, options)
}

#[test]
fn a_text_with_errors_is_not_saved() {
    let (_folder, path, options) = place();
    fs::write(&path, GOOD).unwrap();
    for text in ["", "{", r#"{ "version": 1, "agents": { "riker": { "comand": "codex-acp" } } }"#] {
        let error = save(&path, text, &options).unwrap_err();
        let SaveError::Invalid(problems) = &error else { panic!("{error:?}") };
        assert!(problems.iter().any(|problem| problem.severity() == Severity::Error), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), GOOD);
    }
}

#[test]
fn a_text_that_could_not_be_loaded_again_is_not_saved() {
    let (_folder, path, options) = place();
    let padded = |len: usize| GOOD.to_owned() + &" ".repeat(len - GOOD.len());
    save(&path, &padded(1 << 20), &options).unwrap();
    load(&path).unwrap();
    let error = save(&path, &padded((1 << 20) + 1), &options).unwrap_err();
    assert!(matches!(error, SaveError::TooLarge), "{error:?}");
}

#[test]
fn a_text_is_saved_byte_for_byte_and_its_warnings_are_told() {
    let (_folder, path, options) = place();
    let text = "\u{feff}{ // why\r\n\t\"version\": 1,\r\n\t\"agents\": { \"b\": { \"command\": \"b\" }, \"a\": { \"command\": \"a\" } },\r\n\t\"workspaces\": { \"unused\": { \"path\": \"/\" } },\r\n}\r\n";
    let saved = save_if_unchanged(&path, text, None, &options).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(saved.atomic);
    let warnings: Vec<_> = saved.warnings.iter().map(|warning| &*warning.path).collect();
    assert_eq!(warnings, ["workspaces.unused"]);
    assert_eq!(saved.digest, load(&path).unwrap().digest);
}

#[test]
fn an_invalid_file_can_be_repaired_and_not_overwritten_unseen() {
    let (_folder, path, options) = place();
    fs::write(&path, b"{ \xff").unwrap();
    let read = load(&path).unwrap();
    for expected in [None, Some(&Digest::of(b"other"))] {
        let error = save_if_unchanged(&path, GOOD, expected, &options).unwrap_err();
        assert!(matches!(error, SaveError::ChangedOnDisk { now, .. } if now == Some(read.digest)), "{error:?}");
    }
    let saved = save_if_unchanged(&path, GOOD, Some(&read.digest), &options).unwrap();
    save_if_unchanged(&path, &format!("{GOOD}\n"), Some(&saved.digest), &options).unwrap();
}

#[test]
fn errors_say_what_is_still_true() {
    let (folder, path, options) = place();
    let said = |error: SaveError| {
        let source = error.source().map(ToString::to_string).unwrap_or_default();
        (error.to_string().replace(folder.path().to_str().unwrap(), "DIR"), source)
    };
    fs::create_dir(&path).unwrap();
    let cases = [
        (save(&path, GOOD, &options), "DIR/sidekicks.jsonc is not a regular file; it is untouched", ""),
        (
            save(&folder.path().join("none/config"), GOOD, &options),
            "could not make a temporary file to save DIR/none/config; the old file is untouched",
            "No such file or directory (os error 2)",
        ),
        (
            save_if_unchanged(&folder.path().join("none"), GOOD, Some(&Digest::of(b"")), &options),
            "the file was changed by somebody else; their text is untouched",
            "",
        ),
        (save(&path, "{", &options), "the text has errors; the file is untouched", ""),
    ];
    for (result, expected, source) in cases {
        assert_eq!(said(result.unwrap_err()), (expected.to_owned(), source.to_owned()));
    }
}
