//! The only module that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Clock difference between this host and the daemon above which the console warns.
pub(crate) const CLOCK_DIFFERENCE_MILLIS: u64 = 60_000;

/// Returns the current time in milliseconds since the Unix epoch.
pub(crate) fn now_millis() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
