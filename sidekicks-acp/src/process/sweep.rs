//! Ends what is left of an agent that has gone.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::family::Member;
use super::listing;

/// How long a killed process may take to disappear.
pub(super) const DISAPPEARING: Duration = Duration::from_millis(500);

/// How often is looked for more: a fork under way while its parent is killed is seen the next time.
const ROUNDS: usize = 8;

/// Kills `before` and whom `find` finds, waits until they are gone, and looks again; tells how many were there.
///
/// Blocks, for a few milliseconds usually, and for some seconds where processes cannot be ended.
pub(super) fn sweep(before: Vec<Member>, find: impl Fn() -> Vec<Member>) -> usize {
    let mut swept: Vec<Member> = Vec::new();
    let mut found = before;
    for _ in 0..ROUNDS {
        found.extend(find());
        let mut left: Vec<Member> = found.drain(..).filter(|member| member.kill()).collect();
        if left.is_empty() {
            break;
        }
        for member in &left {
            if !swept.contains(member) {
                swept.push(*member);
            }
        }
        let until = Instant::now() + DISAPPEARING;
        while !left.is_empty() && Instant::now() < until {
            sleep(listing::POLL);
            left.retain(|member| member.kill());
        }
    }
    swept.len()
}
