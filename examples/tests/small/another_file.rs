//! `another_file`: who is spoken to where.

use std::fs;

use crate::stage::{Ended, Stage, agent};

/// Opens these files, each the only one of its folder, one after the other.
fn open(files: &[(&str, &[(&str, String)])]) -> Ended {
    let stage = Stage::new();
    let mut arguments = vec!["hello".to_owned()];
    for (folder, agents) in files {
        fs::create_dir_all(stage.folder().join(folder)).unwrap();
        let lines: String = agents.iter().map(|(name, command)| format!("{name} {command}\n")).collect();
        let path = format!("{folder}/agents");
        fs::write(stage.folder().join(&path), lines).unwrap();
        arguments.push(path);
    }
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    stage.run(env!("CARGO_BIN_EXE_another_file"), &arguments)
}

#[test]
fn each_file_has_its_agents_and_its_folder() {
    let shop: (&str, &[_]) = ("shop", &[("ann", agent("echo", "Ann")), ("bob", agent("echo", "Bob"))]);
    let blog: (&str, &[_]) = ("blog", &[("ann", agent("echo", "Another Ann"))]);
    insta::assert_snapshot!(open(&[shop, blog, shop]), @"
    -- stdout
    == ann
    I am Ann in shop; 1: hello
    == bob
    I am Bob in shop; 1: hello
    == ann
    I am Another Ann in blog; 1: hello
    == bob
    [there is no such agent]
    == ann
    I am Ann in shop; 1: hello
    == bob
    I am Bob in shop; 1: hello
    -- stderr
    [ann ended by Eof]
    [bob ended by Eof]
    [ann ended by Eof]
    [ann ended by Eof]
    [bob ended by Eof]
    -- exit code 0
    ");
}

#[test]
fn an_agent_that_was_gone_before_is_told_and_the_next_file_opens() {
    let old: (&str, &[_]) = ("old", &[("ann", agent("leave", ""))]);
    let new: (&str, &[_]) = ("new", &[("ann", agent("echo", "Ann"))]);
    insta::assert_snapshot!(open(&[old, new]), @"
    -- stdout
    == ann
    Half an ans[the agent exited (exit code 3)]
    == ann
    I am Ann in new; 1: hello
    -- stderr
    [ann ended by AlreadyExited]
    [ann ended by Eof]
    -- exit code 0
    ");
}

#[test]
fn a_file_that_cannot_be_read_ends_it_and_the_agents() {
    let shop: (&str, &[_]) = ("shop", &[("ann", agent("echo", "Ann"))]);
    let bad: (&str, &[_]) = ("bad", &[("bob", "'".to_owned())]);
    insta::assert_snapshot!(open(&[shop, bad]), @r#"
    -- stdout
    == ann
    I am Ann in shop; 1: hello
    -- stderr
    [ann ended by Eof]
    Error: "a quote is not closed"
    -- exit code 1
    "#);
}
