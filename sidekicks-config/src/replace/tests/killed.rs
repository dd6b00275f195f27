//! A process that is killed at a step of a save.

use std::io::{BufRead, BufReader, Read};

use super::*;

/// At which step, and whether the file can be replaced.
const STEP: &str = "SIDEKICKS_TEST_STEP";
const FIXED: &str = "SIDEKICKS_TEST_FIXED";

/// What the process says when it has come to its step.
const HERE: &str = "at the step";

/// Saves `new` over `old` in a process that is killed when it comes to this step.
fn kill_at(stage: &Stage, step: SaveStep, fixed: bool) {
    let mut process = stage.process("killed::saves_until_killed");
    process.env(STEP, format!("{step:?}")).stdin(Stdio::piped()).stdout(Stdio::piped());
    if fixed {
        process.env(FIXED, "");
    }
    let mut process = process.spawn().unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains(HERE)), "{step:?} was not reached");
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
#[ignore = "run by the other tests here, which kill it"]
fn saves_until_killed() {
    let Some(stage) = Stage::inherited() else { return };
    let (last, fixed) = (env::var(STEP).unwrap(), env::var_os(FIXED).is_some());
    let may = |step| {
        if format!("{step:?}") == last {
            println!("{HERE}");
            io::stdin().read_to_end(&mut Vec::new())?; // Until killed, or left alone.
        }
        if fixed && step == SaveStep::Rename { Err(Errno::EBUSY.into()) } else { Ok(()) }
    };
    let before = Before::Contents(Digest::of(b"old"));
    let _ = replace_asking(&stage.config(), b"new", before, Some(&stage.state()), &may);
}

#[test]
fn the_old_file_or_the_new_one_is_there() {
    for step in &STEPS[..9] {
        let stage = Stage::new();
        kill_at(&stage, *step, false);
        let expected = if *step == SaveStep::SyncDirectory { "new" } else { "old" };
        assert_eq!(stage.text(), expected, "{step:?}");
        // Neither the lock nor the temporary file that it left is in the way.
        stage.save("newer").unwrap();
        assert_eq!(stage.text(), "newer", "{step:?}");
    }
}

#[test]
fn in_place_the_old_text_is_there_or_its_copy_is() {
    for (step, expected, copies) in [
        (SaveStep::BackUp, "old", &[][..]),
        (SaveStep::Truncate, "old", &["old"]),
        (SaveStep::WriteInPlace, "", &["old"]),
    ] {
        let stage = Stage::new();
        kill_at(&stage, step, true);
        assert_eq!(
            (stage.text().as_str(), stage.copies()),
            (expected, copies.iter().map(ToString::to_string).collect())
        );
    }
}
