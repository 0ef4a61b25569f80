//! The clock of the system: the only room that reads it for what is recorded.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quorate_core::model::Millis;

/// Now. A clock before 1970 counts as 1970.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
