//! Random rests before an attempt is repeated, so that rivals do not meet again.

use std::time::Duration;

/// Returns a random time below this many milliseconds.
pub fn random(most: u64) -> Duration {
    let mut random = [0; 8];
    // Without randomness, there is no rest.
    let _ = getrandom::fill(&mut random);
    Duration::from_millis(u64::from_be_bytes(random).checked_rem(most).unwrap_or(0))
}
