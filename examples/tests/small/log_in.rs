//! `log_in`: what is offered, what is taken, and what is not.

use crate::stage::{Ended, Stage, agent};

fn log_in(arguments: &[&str]) -> Ended {
    Stage::new().run(env!("CARGO_BIN_EXE_log_in"), arguments)
}

#[test]
fn after_the_login_the_prompt_is_sent_by_itself() {
    insta::assert_snapshot!(log_in(&["hello", &agent("login", ""), "key"]), @"
    -- stdout
    You said: hello
    -- stderr
    the agent wants a login, by one of:
      key: API key
      page: A �[1mpage�[0m of the agent
    -- exit code 0
    ");
}

#[test]
fn one_who_chooses_none_sees_what_is_offered() {
    insta::assert_snapshot!(log_in(&["hello", &agent("login", "")]), @r#"
    -- stdout
    -- stderr
    the agent wants a login, by one of:
      key: API key
      page: A �[1mpage�[0m of the agent
    Error: "say by which of them, as the last argument"
    -- exit code 1
    "#);
}

#[test]
fn a_way_that_the_agent_does_not_know_is_an_error() {
    insta::assert_snapshot!(log_in(&["hello", &agent("login", ""), "magic"]), @r#"
    -- stdout
    -- stderr
    the agent wants a login, by one of:
      key: API key
      page: A �[1mpage�[0m of the agent
    Error: "not logged in: no such method"
    -- exit code 1
    "#);
}

#[test]
fn an_agent_that_wants_none_is_not_logged_in_to() {
    insta::assert_snapshot!(log_in(&["hello", &agent("echo", "Ann"), "key"]), @"
    -- stdout
    I am Ann in here; 1: hello
    -- stderr
    -- exit code 0
    ");
}

#[test]
fn an_agent_that_is_not_there_is_told() {
    insta::assert_snapshot!(log_in(&["hello", "/there/is/no/such/agent"]), @r#"
    -- stdout
    -- stderr
    Error: "there is no such file"
    -- exit code 1
    "#);
}
