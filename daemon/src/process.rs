//! What the process as a whole does: memory that stays private, errors for people.

use std::error::Error;
use std::io::Write;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// Keeps other users and core files away from this process' memory.
pub fn harden() {
    // Each is a second line of defence; a system that refuses one still serves.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    lock_memory();
}

/// Takes all the memory that it may lock, for keys. Where there is no limit, all memory stays out of the swap: with one, the
/// first allocation beyond it would fail. Pages are locked as they come into use, so that no more memory is taken than without.
fn lock_memory() {
    let maximum = getrlimit(Resource::Memlock).maximum;
    let _ = setrlimit(Resource::Memlock, Rlimit { current: maximum, maximum });
    if maximum.is_none() {
        let _ = mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    }
}

/// Says on standard error what went wrong, with its causes.
pub fn complain(error: &dyn Error) {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    // There is nobody left to tell if this fails.
    let _ = writeln!(std::io::stderr(), "quorated: {text}");
}
