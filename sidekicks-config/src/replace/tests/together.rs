//! Several that save one file at the same time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

const ROUNDS: u32 = 100;

#[test]
fn two_processes_lose_nothing_of_each_other() {
    let stage = Stage::empty();
    fs::write(stage.config(), "0").unwrap();
    let processes = [(); 2].map(|()| stage.process("together::counts").stdout(Stdio::null()).spawn().unwrap());
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(stage.text(), (2 * ROUNDS).to_string());
    assert_eq!(stage.names(), ["config"]);
}

#[test]
#[ignore = "run by two_processes_lose_nothing_of_each_other"]
fn counts() {
    let Some(stage) = Stage::inherited() else { return };
    for _ in 0..ROUNDS {
        loop {
            let text = stage.text();
            let more = text.parse::<u32>().unwrap() + 1;
            match stage.save_if(Before::Contents(Digest::of(text.as_bytes())), &more.to_string()) {
                Ok(_) => break,
                Err(SaveError::ChangedOnDisk { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

#[test]
fn one_of_several_creators_wins_without_a_lock_too() {
    let stage = Stage::empty();
    let start = Barrier::new(8);
    let won = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let (stage, start) = (&stage, &start);
                scope.spawn(move || {
                    let text = number.to_string();
                    start.wait();
                    replace(&stage.config(), text.as_bytes(), Before::Nothing, None).is_ok().then_some(text)
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!((won, stage.names()), (vec![stage.text()], vec!["config".into()]));
}

#[test]
fn a_reader_never_sees_a_part() {
    let stage = Stage::empty();
    let texts = ["a".repeat(100_000), "b".repeat(50_000)];
    fs::write(stage.config(), &texts[0]).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                assert!(texts.contains(&stage.text()));
            }
        });
        for round in 0..50 {
            stage.save(&texts[round % 2]).unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
}
