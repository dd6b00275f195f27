//! Programs that cannot be executed, and why.

use std::ffi::OsStr;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use sidekicks_acp::{AgentCommand, ExitStatus, Isolation, Phase, StartError};

use crate::{ISOLATIONS, alone, start};

/// Made by a shell: a file that this program had open for writing while another test forks could not be executed yet.
const FILES: &str = r#"
    mkdir bin later bin/folder
    printf '#!/bin/sh\n' >bin/plain
    printf '#!/bin/sh\n' >bin/both
    printf '#!/bin/sh\nexit 3\n' >later/both
    printf '#!/no/such sh -e\n' >lost
    printf '#!/bin/sh\r\nexit 3\r\n' >dos
    printf '#!bin/plain\n' >indirect
    printf '#!/usr/bin/env no-such-agent\n' >by-name
    printf 'exit 3\n' >text
    printf '\177ELF and nothing else' >broken
    : >empty
    LC_ALL=C sed 's|/lib\(64\)\{0,1\}/ld-|/lib\1/no-|' /bin/sh >foreign
    chmod 755 later/both lost dos indirect by-name text broken empty foreign
    mkfifo -m 755 fifo
"#;

fn files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("sh").args(["-euc", FILES]).current_dir(dir.path()).status().unwrap();
    assert!(made.success());
    dir
}

/// What is expected of a start that fails.
struct Case {
    command: AgentCommand,
    code: &'static str,
    /// The file that it is found to be, in the folder of the test.
    resolved: Option<&'static str>,
    /// What the whole text has in it, with the folder of the test as `DIR`.
    says: &'static str,
    transient: bool,
}

impl Case {
    async fn check(&self, dir: &Path) {
        for isolation in ISOLATIONS {
            if self.code == "not-a-program" && isolation == Isolation::Session {
                continue; // It is handed to the shell there.
            }
            let error = start(self.command.clone().isolation(isolation)).await.unwrap_err();
            let told = format!("{isolation:?} {:?}: {}", self.command.program, whole(&error));
            assert_eq!(error.code(), self.code, "{told}");
            assert_eq!(error.phase() == Phase::Spawn, self.code != "agent-exited", "{told}");
            assert_eq!(error.resolved, self.resolved.map(|file| dir.join(file)), "{told}");
            assert!(told.contains(&self.says.replace("DIR", &dir.to_string_lossy())), "{told}");
            assert_eq!(error.is_transient(), self.transient, "{told}");
            assert!(!told.contains('\n'), "{told}");
        }
    }
}

/// The text of an error and of all behind it.
fn whole(error: &StartError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_executed_is_told_apart() {
    let dir = files();
    let dir = dir.path();
    let at = |file: &str| AgentCommand::new(dir.join(file));
    let on_path = |name: &str| {
        let path = std::env::join_paths([dir.join("bin"), dir.join("later")]).unwrap();
        AgentCommand::new(name).env("PATH", "/overridden").env("PATH", path)
    };
    let case = |command, code, resolved: &'static str, says| Case {
        command,
        code,
        resolved: (!resolved.is_empty()).then_some(resolved),
        says,
        transient: matches!(code, "agent-exited" | "system-busy"),
    };
    let cases = [
        case(on_path("none"), "program-not-found", "", "none: the program was not found in DIR/bin:DIR/later"),
        case(on_path(""), "program-not-found", "", "was not found in"),
        case(AgentCommand::new("none").env_remove("PATH"), "program-not-found", "", "not found in /usr/bin:/bin"),
        case(AgentCommand::new("plain").env("PATH", "").cwd(dir.join("bin")), "not-executable", "bin/plain", "denied"),
        case(on_path("plain"), "not-executable", "bin/plain", "bin/plain: the program cannot be executed: Permission"),
        case(on_path("folder"), "not-executable", "bin/folder", "is a directory"),
        case(on_path("both"), "agent-exited", "later/both", "exit code 3"),
        case(AgentCommand::new("both").env("PATH", "later").cwd(dir), "agent-exited", "later/both", "exit code 3"),
        case(at("none"), "program-missing", "none", "DIR/none: there is no such file"),
        case(at("bin/plain/none"), "program-missing", "bin/plain/none", "no such file"),
        case(AgentCommand::new("./none").cwd(dir), "program-missing", "none", "DIR/none: "),
        case(AgentCommand::new("later/both").cwd(dir), "agent-exited", "later/both", "exit code 3"),
        case(at("bin/plain"), "not-executable", "bin/plain", "Permission denied"),
        case(at("bin"), "not-executable", "bin", "is a directory"),
        case(at("fifo"), "not-executable", "fifo", "not a regular file"),
        case(
            at("lost"),
            "bad-interpreter",
            "lost",
            "the interpreter \"/no/such\" of the program cannot be used: No such",
        ),
        case(at("dos"), "bad-interpreter", "dos", r#"interpreter "/bin/sh\r" of"#),
        case(
            at("indirect").cwd(dir),
            "bad-interpreter",
            "indirect",
            "\"bin/plain\" of the program cannot be used: Perm",
        ),
        case(at("by-name"), "agent-exited", "by-name", "exit code 127); "),
        case(at("text"), "not-a-program", "text", "neither a program of this system nor a script"),
        case(at("broken"), "not-a-program", "broken", "neither"),
        case(at("empty"), "not-a-program", "empty", "neither"),
        case(at("later/both").cwd(dir.join("none")), "bad-workspace", "", "DIR/none cannot be used: No such file"),
        case(at("later/both").cwd(dir.join("text")), "bad-workspace", "", "DIR/text cannot be used: not a directory"),
        case(at("later/both").arg("a".repeat(8 << 20)), "too-many-arguments", "later/both", "too long"),
        case(at("later/both").env("A", "a".repeat(8 << 20)), "too-many-arguments", "later/both", "too long"),
    ];
    for case in &cases {
        case.check(dir).await;
    }

    let foreign = at("foreign");
    match std::fs::read(&foreign.program).unwrap().windows(4).any(|bytes| bytes == b"/no-") {
        true => case(foreign, "bad-interpreter", "foreign", "the interpreter (its loader)").check(dir).await,
        false => println!("skipped: the loader of /bin/sh is not in /lib"),
    }

    let writing = std::fs::OpenOptions::new().append(true).open(dir.join("later/both")).unwrap();
    if cfg!(target_os = "linux") {
        case(on_path("both"), "system-busy", "later/both", "at the moment: Text file busy").check(dir).await;
    } else {
        println!("skipped: only Linux keeps a program that is being written from being started");
    }
    drop(writing);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_program_can_be_given_is_refused() {
    for isolation in ISOLATIONS {
        for command in [
            AgentCommand::new("sh").arg("a\0b"),
            AgentCommand::new("sh").env("A\0B", "c"),
            AgentCommand::new("sh").env("A", "b\0c"),
            AgentCommand::new("sh\0"),
            AgentCommand::new("/bin/sh\0"),
            AgentCommand::new("sh").cwd("/\0"),
        ] {
            let error = start(command.clone().isolation(isolation)).await.unwrap_err();
            assert_eq!(error.code(), "start-failed", "{command:?}: {error:?}");
            assert!(whole(&error).contains("NUL"), "{command:?}: {}", whole(&error));
            assert!(!error.is_transient());
        }
        let strange = AgentCommand::new(OsStr::from_bytes(b"\xFFagent")).isolation(isolation);
        let error = start(strange).await.unwrap_err();
        assert_eq!(error.code(), "program-not-found");
        assert!(error.to_string().starts_with("\u{FFFD}agent: "), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_sees_the_name_it_was_called_by() {
    for isolation in ISOLATIONS {
        let error = start(AgentCommand::new("sh").args(["-c", "echo \"$0\""]).isolation(isolation)).await.unwrap_err();
        assert_eq!((error.exit, error.noise), (Some(ExitStatus::Code(0)), vec!["sh".to_owned()]));
    }
}

/// The superuser may enter every folder, so this is somebody else.
#[test]
fn a_folder_that_may_not_be_entered_is_no_workspace() {
    const NOBODY: u32 = 65_534;
    let name = "spawning::a_folder_that_may_not_be_entered_is_no_workspace";
    let begin = |program: &Path| {
        let mut command = Command::new(program);
        if is_superuser() {
            command.uid(NOBODY);
        }
        Some(command)
    };
    if !alone(name, begin) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("mkdir").args(["-m", "600", "closed"]).current_dir(dir.path()).status().unwrap();
    assert!(made.success());
    let case = Case {
        command: AgentCommand::new("sh").cwd(dir.path().join("closed")),
        code: "bad-workspace",
        resolved: None,
        says: "DIR/closed cannot be used: Permission denied",
        transient: false,
    };
    tokio::runtime::Runtime::new().unwrap().block_on(case.check(dir.path()));
}

fn is_superuser() -> bool {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("mkdir").args(["-m", "000", "closed"]).current_dir(dir.path()).status().unwrap();
    made.success() && std::fs::read_dir(dir.path().join("closed")).is_ok()
}

/// It takes descriptors from everybody, so it has a process of its own.
#[test]
fn without_descriptors_another_try_may_help() {
    if !alone("spawning::without_descriptors_another_try_may_help", |program| Some(Command::new(program))) {
        return;
    }
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        // What a start needs once for all is there before.
        let error = start(AgentCommand::new("sh").args(["-c", "exit 3"])).await.unwrap_err();
        assert_eq!(error.code(), "agent-exited");
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        for room in 0..2 {
            // A limit is on numbers, not on how many there are: below the lowest one that is free, nothing opens.
            setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
            let lowest = std::fs::File::open("/dev/null").unwrap().as_raw_fd() as u64;
            setrlimit(Resource::RLIMIT_NOFILE, lowest + room, hard).unwrap();
            for isolation in ISOLATIONS {
                let error = start(AgentCommand::new("sh").args(["-c", ":"]).isolation(isolation)).await.unwrap_err();
                assert_eq!(error.code(), "system-busy", "{room} {isolation:?} {error:?}");
                assert!(error.is_transient());
            }
        }
    });
}
