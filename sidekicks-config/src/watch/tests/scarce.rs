//! No watches left, in a user namespace where that can be arranged.

use std::env;

use super::*;

/// Set in the namespace.
const SCARCE: &str = "SIDEKICKS_TEST_SCARCE";

fn run_limited(limit: &str) {
    let line = format!("echo 0 > /proc/sys/user/{limit} && exec \"$@\"");
    let namespace = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-c", &line, "sh", program]).args(arguments).env(SCARCE, "").stdin(Stdio::null());
        command.output()
    };
    if !namespace("true", &[]).is_ok_and(|output| output.status.success()) {
        println!("skipped: no user namespace where `{limit}` can be set");
        return;
    }
    let exe = env::current_exe().unwrap();
    let test = "watch::tests::scarce::reloads_by_the_timer";
    let output = namespace(exe.to_str().unwrap(), &["--exact", "--ignored", "--nocapture", test]).unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("test result: ok. 1 passed"), "{output:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn without_watches_the_timer_is_enough() {
    for limit in ["max_inotify_instances", "max_inotify_watches"] {
        run_limited(limit);
    }
}

#[test]
#[ignore = "run by without_watches_the_timer_is_enough"]
fn reloads_by_the_timer() {
    if env::var_os(SCARCE).is_none() {
        return;
    }
    let room = Room::new(Timing { blind_timer: Duration::from_millis(10), ..BY_HINTS });
    assert_eq!(room.next(), "degraded: no more files can be watched; changes are looked for once a second");
    for number in 1..=3 {
        fs::write(room.path("new"), format!("{{{number}}}")).unwrap();
        fs::rename(room.path("new"), room.config()).unwrap();
        assert_eq!(room.next(), format!("{{{number}}}"));
    }
    let reads = room.reads.try_iter().count();
    assert!(reads <= 9, "{reads}");
}
