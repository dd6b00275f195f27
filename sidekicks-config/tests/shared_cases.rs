//! Files whose problems are known: our own in `tests/cases`, and those of the folder that `SIDEKICKS_CASES` names.

use std::path::{Path, PathBuf};
use std::{env, fs};

use sidekicks_config::validate;

/// Each `NAME.jsonc` of the folder has its problems in `NAME.expected.tsv`: line:column, UTF-16 column, path.
fn check(folder: &Path) -> usize {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonc"))
        .collect();
    files.sort();
    let mut wrong = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("a case");
        let expected = fs::read_to_string(file.with_extension("expected.tsv")).expect("what is right");
        let found: String = validate(&text)
            .iter()
            .map(|p| format!("{}:{}\t{}\t{}\n", p.start.line, p.start.column, p.start.utf16, p.path))
            .collect();
        if found.trim_end() != expected.trim_end() {
            wrong.push(format!("{}\nexpected:\n{expected}found:\n{found}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    files.len()
}

#[test]
fn our_own_cases() {
    assert!(check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")) > 0);
}

#[test]
fn shared_cases() {
    let Some(cases) = env::var_os("SIDEKICKS_CASES") else {
        println!("skipped: SIDEKICKS_CASES names no folder of cases");
        return;
    };
    assert!(check(&Path::new(&cases).join("config")) > 0);
}
