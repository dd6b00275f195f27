//! No command is too much for the analysis: it ends soon, on a small stack, and never panics.

#![cfg(feature = "dangers")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use sidekicks_conversations::{DANGER_CODES, DangerLevel, dangers};

const LENGTH: usize = 64 * 1024;
/// The stack of a worker thread.
const STACK: usize = 2 * 1024 * 1024;
/// Far more than any of them takes.
const BOUND: Duration = Duration::from_secs(60);

/// As much of it as is read at all.
fn filled(piece: &str) -> String {
    piece.repeat(LENGTH / piece.len())
}

/// `sh -c 'sh -c …'`, each level quoted as it has to be.
fn nested(depth: usize) -> String {
    let mut command = "rm x".to_owned();
    for _ in 0..depth {
        command = format!("sh -c '{}'", command.replace('\'', r"'\''"));
    }
    command
}

/// Pieces that were seen to be costly for parsers, or that nest.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "(", "{ ", "$(", "`", "\"", "'", "((", "$((", "${", "${x:-", "[[ ", "[[ (", "case x in a) ", "case ", "for ((",
    "for ((;;))", "for x in ", "if ", "if true; then ", "while ", "until x; do ", "select ", "function f { ",
    "f() ", "coproc ", "time ", "! ", "<<\"\" ", "<<E ", "<<-E\n", "<<E\n$(", "<<<", "<(", ">(", "> ", ">&",
    "2>&1 ", "a | ", "a && ", "a || ", "a; ", "a & ", "a\n", "x=(", "x=$(", "a[", "a[$(", "\\", "\\\n", "$'", "$\"",
    "${a[", "${a//", "${a/(", "$[", "{a,", "{1..9}", "*", "?(", "@(a|", "~", "#", "# '\n", "\u{e9}", "\0", "\r\n",
    ";;", "&", "|", ")", "}", "]]", "))", "a(\")\"", "(\")\"", "$(\")\"", "{ \"}\"; ", "$(')'", "\"$(", "\"$(\")\"",
    "\"`", "`\\`", "eval '", "eval eval ", "sudo ", "env ", "xargs ", "xargs -I{} ", "xargs -I_ ", "find . -exec ",
    "echo rm | ", "cat | ", "printf '%s' a | ", "sh -c ", "sh <<E\n", "trap ", "docker exec x ", "ssh h ",
    "git -c alias.x=!", "rm x; ", "rm `", "$(rm x) ", "a=`", "-", "--", "1+", "$((1+", "((1+", "[[ a && ", "a=",
    "a=b ", "$x", "$x$", "x>", ">f ", "echo ${x#", "(cd a && ", "do ", "done ", "fi ", "esac ", "then ", "else ",
    "elif x; then ", "\"\\\"a\\\" $(b)\" ", "a=(b c)\n", "{ a; } >> f\n", "a}b ", "export A=$(b) ", "{1}", "parallel a {1} ::: b\n",
    "git -c core.pager=a b\n", "! ! a; ",
];

#[test]
fn nothing_takes_long_or_a_deep_stack() {
    let mut inputs: Vec<String> = PIECES.iter().map(|piece| filled(piece)).collect();
    inputs.extend(PIECES.iter().map(|piece| format!("echo {}", filled(piece))));
    inputs.extend((0..14).map(nested));
    inputs.push(format!("printf '{}%s' {}", "x".repeat(LENGTH / 2), "a ".repeat(LENGTH / 5)) + " | sh");
    inputs.push(format!("echo {}", "cat | ".repeat(LENGTH / 10)) + "sh");
    inputs.push(format!("psql -c '{}'", "$a$ ".repeat(LENGTH / 5)));
    inputs.push(format!("psql -c '{}'", "DROP TABLE x;".repeat(LENGTH / 14)));
    inputs.push(format!("find . {}", "-exec rm {} + ".repeat(LENGTH / 16)));
    let started = Instant::now();
    let run = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let mut worst = (Duration::ZERO, String::new());
        for input in &inputs {
            let began = Instant::now();
            let found = dangers(input);
            assert!(found.iter().all(|danger| danger.end <= input.len() && danger.start <= danger.end));
            let took = began.elapsed();
            if std::env::var_os("SIDEKICKS_TIMES").is_some() {
                println!("{took:?} {} {:?}", found.len(), input.chars().take(30).collect::<String>());
            }
            if took > worst.0 {
                worst = (took, input.chars().take(20).collect());
            }
        }
        worst
    });
    let worst = run.expect("a thread").join().expect("no panic and no end of the stack");
    println!("the worst: {worst:?}");
    assert!(started.elapsed() < BOUND, "{:?}; the worst: {worst:?}", started.elapsed());
}

#[test]
fn what_is_beyond_a_bound_is_unclear() {
    let beyond = [
        "rm x ".repeat(LENGTH / 5 + 1),
        "(".repeat(30) + "rm x" + &")".repeat(30),
        "time ".repeat(70) + "rm x",
        "sudo ".repeat(50) + "rm x",
        "echo \"".to_owned() + &"\\".repeat(9),
        "eval ".repeat(30) + "rm x",
        "cat <<E ".repeat(1001) + "\nE\n",
    ];
    for command in beyond {
        let found = dangers(&command);
        assert!(found.iter().any(|danger| danger.level == DangerLevel::Unclear), "{command:.40}: {found:?}");
    }
    // Below it the innermost command is found where it stands.
    let command = nested(6);
    let found = dangers(&command);
    assert_eq!(found.iter().map(|danger| &command[danger.start..danger.end]).collect::<Vec<_>>(), ["rm"]);
}

/// Words of commands that run others, and what they take.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "rm", "mv", "git", "sh", "-c", "bash", "sudo", "env", "-S", "xargs", "-I{}", "{}", "find", "-exec", ";", "\\;",
    "+", "psql", "DROP TABLE x", "eval", "trap", "ssh", "h", "cat", "echo", "printf", "%s", "reset", "--hard", "E",
    "\nE\n", " ", "\n", "x", "docker", "run", "exec", "kubectl", "--", "-", "é", "--help", "tee", "$x", "/dev/null",
    "'", "'\\''",
];

fn fragments() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        3 => proptest::sample::select(WORDS).prop_map(|name| format!("{name} ")),
        1 => ".{0,3}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn well_formed(command: &str) -> Result<(), TestCaseError> {
    let began = Instant::now();
    for danger in dangers(command) {
        prop_assert!(DANGER_CODES.contains(&&*danger.code));
        prop_assert!(danger.start <= danger.end && danger.end <= command.len());
        prop_assert!(command.is_char_boundary(danger.start) && command.is_char_boundary(danger.end));
    }
    prop_assert!(began.elapsed() < BOUND);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_much(command in ".{0,200}") {
        well_formed(&command)?;
    }

    #[test]
    fn no_bytes_are_too_much(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        well_formed(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn no_composition_is_too_much(command in fragments()) {
        well_formed(&command)?;
    }
}
