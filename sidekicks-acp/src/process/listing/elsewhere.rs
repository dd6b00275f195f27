//! Elsewhere nobody is listed yet: the group is signalled all the same, and nobody is swept.

use super::Process;

pub(in crate::process) const COMPLETE: bool = false;

pub(in crate::process) fn all() -> Vec<Process> {
    Vec::new()
}

pub(in crate::process) fn find(_pid: i32) -> Option<Process> {
    None
}

pub(in crate::process) fn holders(_entry: &str) -> Vec<i32> {
    Vec::new()
}

pub(in crate::process) fn memory(_pids: &[i32]) -> Option<u64> {
    None
}

pub(in crate::process) fn boot() -> String {
    String::new()
}
