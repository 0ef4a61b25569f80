//! Retry schedule of failed deliveries: exponential back-off with full jitter, and a maximum number of
//! attempts.
//!
//! [`wait`] is pure; its randomness is an argument.

use std::time::Duration;

/// Maximum number of attempts to deliver a webhook.
pub const WEBHOOK_ATTEMPTS: u32 = 10;
/// Maximum number of attempts to send a mail. With an average wait of half an hour, the attempts last four
/// days, as RFC 5321 §4.5.4.1 recommends.
pub const MAIL_ATTEMPTS: u32 = 200;
/// Maximum number of attempts to send an SMS. They last about five minutes, as long as the codes in SMS are
/// usually valid.
pub const SMS_ATTEMPTS: u32 = 8;
/// Maximum wait after the first failure.
const FIRST: Duration = Duration::from_secs(5);
/// Maximum wait after any failure.
const LONGEST: Duration = Duration::from_hours(1);

/// Maximum pause of a receiver after its first missing answer; it doubles after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause of a silent receiver.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Returns the wait after attempt number `failed` of `attempts`, counted from 1; `None` after the last one.
/// `random` selects a wait between zero and its upper bound, uniformly, so that failed deliveries are not all
/// attempted again at the same time.
pub fn wait(failed: u32, attempts: u32, random: u64) -> Option<Duration> {
    if failed >= attempts {
        return None;
    }
    Some(fraction(doubled(FIRST, failed).min(LONGEST), random))
}

/// Returns when a receiver is called again after `silent` missing answers in a row, in milliseconds since
/// 1970. The pause is between half and all of its maximum, so that the receiver is not called constantly.
pub fn after_silence(silent: u32, now: u64) -> u64 {
    let half = doubled(FIRST_PAUSE, silent).min(LONGEST_PAUSE) / 2;
    let pause = half.saturating_add(fraction(half, random()));
    now.saturating_add(millis(pause))
}

fn doubled(first: Duration, times: u32) -> Duration {
    first.saturating_mul(1_u32.checked_shl(times.saturating_sub(1)).unwrap_or(u32::MAX))
}

/// Returns a uniformly distributed part of a duration.
fn fraction(bound: Duration, random: u64) -> Duration {
    // The high half of the product is uniformly distributed over the bound, unlike a remainder.
    let share = (bound.as_millis() + 1).saturating_mul(u128::from(random)) >> u64::BITS;
    Duration::from_millis(u64::try_from(share).unwrap_or(u64::MAX))
}

fn random() -> u64 {
    // If the random source fails, retries happen at the same time, which is harmless.
    getrandom::u64().unwrap_or_default()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns when the attempt after the failure number `failed` is due, in milliseconds since 1970.
pub fn next(failed: u32, attempts: u32, now: u64) -> Option<u64> {
    let wait = wait(failed, attempts, random())?;
    Some(now.saturating_add(millis(wait)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour_and_end() {
        for (failed, bound_seconds) in [
            (1, Some(5)),
            (2, Some(10)),
            (3, Some(20)),
            (4, Some(40)),
            (5, Some(80)),
            (6, Some(160)),
            (7, Some(320)),
            (8, Some(640)),
            (9, Some(1280)),
            (10, None),
            (11, None),
            (u32::MAX, None),
        ] {
            assert_eq!(
                wait(failed, WEBHOOK_ATTEMPTS, u64::MAX),
                bound_seconds.map(Duration::from_secs),
                "{failed}"
            );
            assert_eq!(wait(failed, WEBHOOK_ATTEMPTS, 0), bound_seconds.map(|_| Duration::ZERO), "{failed}");
        }
        assert_eq!(wait(1, WEBHOOK_ATTEMPTS, u64::MAX / 2), Some(Duration::from_millis(2500)));
        assert_eq!(wait(199, MAIL_ATTEMPTS, u64::MAX), Some(LONGEST));
        assert_eq!(wait(200, MAIL_ATTEMPTS, u64::MAX), None);
    }

    #[test]
    fn silent_receivers_pause_up_to_a_minute() {
        for (silent, bound) in [(1, 1000), (2, 2000), (3, 4000), (6, 32_000), (7, 60_000), (u32::MAX, 60_000)]
        {
            let pause = after_silence(silent, 5) - 5;
            assert!((bound / 2..=bound).contains(&pause), "{silent}: {pause}");
        }
    }
}
