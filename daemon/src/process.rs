//! Process-wide settings: memory protection, and error output.

use std::error::Error;
use std::io::Write;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::set_name;

/// Prevents other users and core files from reading the memory of this process.
pub fn harden() {
    // Each call is a second line of defence, so the daemon also runs if the system rejects one.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // A daemon that was sealed has the name of the link that it was started by.
    let _ = set_name(c"quorated");
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    lock_memory();
}

/// Raises the limit of locked memory to its maximum, for keys. If there is no limit, all memory is locked;
/// otherwise, the first allocation beyond the limit would fail. Pages are locked when they are first used, so
/// that no additional memory is needed.
fn lock_memory() {
    let maximum = getrlimit(Resource::Memlock).maximum;
    let _ = setrlimit(Resource::Memlock, Rlimit { current: maximum, maximum });
    if maximum.is_none() {
        let _ = mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    }
}

/// Prints an error and its causes to standard error.
pub fn print_error(error: &dyn Error) {
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
    // If this fails, the error cannot be reported anywhere else.
    let _ = writeln!(std::io::stderr(), "quorated: {text}");
}
