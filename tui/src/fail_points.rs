//! Points at which tests provoke a panic. Builds without debug assertions, such as release builds, have none.

/// Panics if the environment variable `QUORATE_PANIC` names this point.
#[cfg(debug_assertions)]
#[allow(clippy::panic, reason = "provoked by a test")]
pub(crate) fn reach(name: &str) {
    if std::env::var_os("QUORATE_PANIC").is_some_and(|point| point == name) {
        // The text is as hostile as one that quotes the daemon.
        std::panic::panic_any(format!("provoked at {name}\u{1b}[31m\u{202e}"));
    }
}

/// Does nothing.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) fn reach(_name: &str) {}
