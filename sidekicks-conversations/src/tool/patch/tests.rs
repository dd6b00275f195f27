use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// Each file, with `-` before one that is deleted.
fn shown(changes: &[FileChange]) -> Vec<String> {
    changes.iter().map(|change| format!("{}{}", if change.is_deleted { "-" } else { "" }, change.path)).collect()
}

#[test]
fn envelopes() {
    let cases: &[(&str, &[&str])] = &[
        ("*** Begin Patch\n*** Add File: a/b c.txt\n+x\n*** End Patch", &["a/b c.txt"]),
        ("\n*** Begin Patch\r\n*** Delete File: a \r\n*** End Patch\r\n", &["-a"]),
        ("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch\n", &["a", "b"]),
        // It need not end.
        ("*** Begin Patch\n*** Delete File: a", &["-a"]),
        ("<<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF", &["-a"]),
        // In a file that is updated stands what looks like a line of ours; after one that is added, blanks are let pass.
        ("*** Begin Patch\n*** Update File: a\n@@\n *** Delete File: b\n+*** Delete File: c\n*** End Patch", &["a"]),
        ("*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n  *** Delete File: c\n*** End Patch", &["a", "-c"]),
        ("*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Delete File: b", &["-a"]),
        ("*** Begin Patch\n*** Delete File:\n*** Delete File: \n*** Rename File: a\n***\n*** End of File", &[]),
        ("\u{feff}*** Begin Patch\n*** Delete File: a\n*** End Patch", &["-a"]),
        ("See:\n*** Begin Patch\n*** Delete File: a\n*** End Patch", &["-a"]),
        ("*** Begin Patch\n*** Delete File:a\n*** End Patch it\n*** Delete File: b:c\n*** End Patch", &["-a", "-b:c"]),
        // No patch.
        ("*** Delete File: a", &[]),
        ("*** Begin Patch: *** Delete File: a", &[]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(&patched(text)), *expected, "{text}");
    }
}

#[test]
fn envelopes_in_a_command() {
    let cases: &[(&str, &[&str])] = &[
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF", &["-a"]),
        ("cd x && /opt/bin/apply_patch << \"E\"\n\n*** Begin Patch\n*** Update File: a\n*** End Patch\nE\nls", &["a"]),
        ("cat <<E | apply_patch\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE", &["a"]),
        (
            "apply_patch <<E\n*** Begin Patch\n*** Add File: a\n*** End Patch\nE\nls\napply_patch <<E\n*** Begin Patch\n*** Delete File: b\n*** End Patch\nE",
            &["a", "-b"],
        ),
        ("apply_patch '*** Begin Patch\n*** Delete File: it'\\''s\n*** End Patch'", &["-it's"]),
        ("applypatch \"*** Begin Patch\n*** Delete File: a\n*** End Patch\"", &["-a"]),
        // Only words.
        ("cat > notes <<E\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE", &[]),
        ("echo '*** Begin Patch\n*** Delete File: a\n*** End Patch'", &[]),
        ("echo apply_patch\nls\n*** Begin Patch\n*** Delete File: a\n*** End Patch", &[]),
        ("apply_patch < a.patch", &[]),
        ("git apply <<E\n--- a/x\n+++ /dev/null\nE", &[]),
    ];
    for (command, expected) in cases {
        let found = in_envelopes(command);
        assert_eq!(shown(&found), *expected, "{command}");
        for change in found {
            let line = &command[change.at];
            assert!(line.starts_with("*** ") && !line.ends_with('\n'), "{line:?} in {command}");
        }
    }
    let command = "apply_patch <<E\n*** Begin Patch\n *** Delete File: é \r\n*** End Patch\nE";
    assert_eq!(&command[in_envelopes(command)[0].at.clone()], "*** Delete File: é");
}

#[test]
fn unified_diffs() {
    let cases: &[(&str, &[&str])] = &[
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n", &["x"]),
        ("--- x.orig\t2026-01-01 00:00:00\n+++ x\t2026-01-02 00:00:00\n@@ -1 +1 @@\n-1\n+2", &["x.orig", "x"]),
        ("Index: /w/x\n=======\n--- /w/x\n+++ /w/x\n@@ -1 +1 @@\n-1\n+2", &["/w/x"]),
        ("--- /dev/null\n+++ b/x y\n@@ -0,0 +1 @@\n+1", &["x y"]),
        ("--- a/x\r\n+++ /dev/null\r\n@@ -1 +0,0 @@\r\n-1\r\n", &["-x"]),
        ("--- a/x\n+++ c/x", &["a/x", "c/x"]),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-1", &["x", "-y"]),
        // As Git writes it.
        ("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2", &["x"]),
        ("diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", &["-x"]),
        ("diff --git x y x y\ndeleted file mode 100644\nBinary files differ", &["-x y"]),
        ("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1", &["-x", "-x"]),
        ("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n", &["x"]),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", &["x", "y"]),
        ("--- \"a/\\303\\251\\t\\\"\"\n+++ \"b/\\303\\251\\t\\\"\"", &["é\t\""]),
        ("diff --git \"a/\\303\\251\" \"b/\\303\\251\"\ndeleted file mode 100644", &["-é"]),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", &[]),
        // Lines of a file.
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n 1\n--- a/y\n+++ /dev/null\n", &["x"]),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1 @@\n-deleted file mode 1\n--- a/y\n-+++ b/y\n+z", &["x"]),
        // A hunk that is shorter than it says ends where no line of it can be.
        ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n 1\ndiff --git a/y b/y\ndeleted file mode 100644\n", &["x", "-y"]),
        ("--- a/x\n+++ b/x\n@@ @@\n-1\n+2\n--- a/y\n+++ b/y\n", &["x", "y"]),
        // So some tools may see another file there.
        ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n 1\n--- a/y\n+++ /dev/null\n", &["x", "-y"]),
        ("\u{feff}--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1", &["-x"]),
        // No diff.
        ("--- a/x\n\n+++ b/x", &[]),
        ("--- a/x", &[]),
        ("---\n+++\n", &[]),
        ("--- \n+++ \n", &[]),
        ("--- /dev/null\n+++ /dev/null", &[]),
        ("deleted file mode 100644\nrename from x\nrename to y", &[]),
        ("- x\n+ y\n", &[]),
        ("diff --git\ndiff --git \ndiff --git a\ndeleted file mode 1", &[]),
    ];
    for (text, expected) in cases {
        let found = patched(text);
        assert_eq!(shown(&found), *expected, "{text}");
        assert!(found.iter().all(|change| change.at == (0..0)), "{found:?}");
    }
}

#[test]
fn long_texts_take_no_longer_than_they_are() {
    let lines = [
        "*** Begin Patch\n*** Delete File: a\n*** End Patch\n",
        "*** Begin Patch\n",
        "apply_patch ",
        "apply_patch\n*** Begin Patch\n",
        "--- a/x\n+++ b/x\n@@ -1,999999999 +1,999999999 @@\n",
        "--- ",
        "diff --git a/x b/x\ndeleted file mode 1\n",
        "\"\\\\",
        "\n",
    ];
    for line in lines {
        let text = line.repeat((2 << 20) / line.len());
        let begin = Instant::now();
        patched(&text);
        in_envelopes(&text);
        assert!(begin.elapsed() < Duration::from_secs(30), "{line:?} took {:?}", begin.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(
        pieces in prop::collection::vec(
            prop_oneof![
                Just("*** Begin Patch\n"), Just("*** End Patch\n"), Just("*** Delete File: "), Just("*** Move to: "),
                Just("*** Update File: "), Just("apply_patch <<E\n"), Just("--- "), Just("+++ "), Just("/dev/null\n"),
                Just("a/"), Just("b/"), Just("diff --git "), Just("deleted file mode "), Just("rename from "),
                Just("@@ -1,2 +1 @@\n"), Just("@@ -18446744073709551615 +9,18446744073709551615 @@\n"), Just("\\377"),
                Just("\""), Just("'"), Just(" "), Just("\n"), Just("\r\n"), Just("é"), Just("\\"), Just("+"), Just("-")
            ],
            0..60,
        ),
        any in "\\PC{0,20}",
    ) {
        let text = pieces.concat() + &any;
        for change in patched(&text) {
            prop_assert!(!change.path.is_empty());
        }
        for change in in_envelopes(&text) {
            prop_assert!(text[change.at].contains("*** "));
        }
    }
}
