//! The only room that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Clocks of two hosts that are further apart than this are reported.
pub(crate) const CLOCKS_APART_MILLIS: u64 = 60_000;

/// Milliseconds since 1970.
pub(crate) fn now_millis() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
