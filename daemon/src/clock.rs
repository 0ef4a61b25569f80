//! The clock of the daemon: the only module that reads the system clock for recorded times and decisions.
//!
//! Expired credentials and activities stay expired, so recorded time never runs backwards. If the system
//! clock was set back, time continues from the newest time ever seen, at half speed, until the system clock
//! has caught up.
//!
//! Where another clock confirms the system clock now and then, time is bounded by the time since the last confirmation. So a
//! system clock that jumps ahead is noticed before anything is recorded at a time that others would have to wait for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use quorate_core::model::Millis;
use rustix::time::ClockId;
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

/// Format of times in messages.
const TEXT_FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");

/// Newest time that was returned.
static NEWEST: AtomicU64 = AtomicU64::new(0);
/// Newest ordered time that was returned: milliseconds times [`ORDERS`], plus the order.
static NEWEST_ORDERED: AtomicU64 = AtomicU64::new(0);
/// Number of distinct orders within one millisecond.
const ORDERS: u64 = 1 << 12;
/// System time at which the machine was started, as of the last confirmation, in milliseconds since 1970. The greatest number
/// until the first one.
static CONFIRMED: AtomicU64 = AtomicU64::new(u64::MAX);
/// How far time may be ahead of the confirmed one, in milliseconds.
const MAX_LEAD: Millis = 2000;
/// Start of the period in which time runs at half speed; `None` while the system clock leads.
static SLOW: Mutex<Option<(Instant, Millis)>> = Mutex::new(None);

/// Returns the time for records and expiry, in milliseconds since 1970. It never runs backwards.
pub fn now() -> Millis {
    let system = bounded(system(), CONFIRMED.load(Ordering::Acquire), since_boot());
    let newest = NEWEST.fetch_max(system, Ordering::AcqRel);
    if system >= newest { system } else { slowed(newest) }
}

/// Returns the time as [`now`] does, with an order below 4,096 that is greater than every earlier one in the
/// same millisecond.
pub fn ordered() -> (Millis, u16) {
    let earliest = now().saturating_mul(ORDERS);
    let next = |newest: u64| earliest.max(newest.saturating_add(1));
    let (Ok(newest) | Err(newest)) =
        NEWEST_ORDERED.fetch_update(Ordering::AcqRel, Ordering::Acquire, |newest| Some(next(newest)));
    let number = next(newest);
    (number / ORDERS, u16::try_from(number % ORDERS).unwrap_or_default())
}

/// Returns the time of the system clock, in milliseconds since 1970. It may run backwards. A time before 1970
/// counts as 1970.
pub fn system() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    millis(since)
}

/// Bounds time from now on: another clock agrees with this `system` time, which was just read.
pub fn confirm(system: Millis) {
    CONFIRMED.store(system.saturating_sub(since_boot()), Ordering::Release);
}

/// Returns the time of the system clock, unless it is ahead of the confirmed one.
fn bounded(system: Millis, confirmed: Millis, since_boot: Millis) -> Millis {
    system.min(confirmed.saturating_add(since_boot).saturating_add(MAX_LEAD))
}

/// Returns the time since the machine was started, with the time in which it was suspended, in milliseconds. Nothing sets
/// this clock.
pub fn since_boot() -> Millis {
    let time = rustix::time::clock_gettime(ClockId::Boottime);
    let part = |number| u64::try_from(number).unwrap_or_default();
    part(time.tv_sec).saturating_mul(1000).saturating_add(part(time.tv_nsec) / 1_000_000)
}

/// Makes time start no earlier than the newest time that an earlier run has seen.
pub fn start_from(newest: Millis) {
    NEWEST.fetch_max(newest, Ordering::AcqRel);
}

/// Returns how far the system clock is behind the newest time, in milliseconds.
pub fn behind() -> Millis {
    NEWEST.load(Ordering::Acquire).saturating_sub(system())
}

/// Formats a time for messages, in UTC.
pub fn text(time: Millis) -> String {
    let seconds = i64::try_from(time / 1000).ok();
    let time_of_day = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let text = time_of_day.and_then(|time| time.format(TEXT_FORMAT).ok());
    text.unwrap_or_else(|| format!("{time} ms after 1970"))
}

fn slowed(newest: Millis) -> Millis {
    let mut slow = SLOW.lock().unwrap_or_else(PoisonError::into_inner);
    let (since, from) = *slow.get_or_insert_with(|| (Instant::now(), newest));
    let time = from.saturating_add(millis(since.elapsed()) / 2);
    if time < newest {
        // The system clock caught up in the meantime and was set back again.
        *slow = Some((Instant::now(), newest));
    }
    NEWEST.fetch_max(time, Ordering::AcqRel).max(time)
}

fn millis(duration: Duration) -> Millis {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ordered_within_a_millisecond() {
        let times: Vec<_> = (0..10_000).map(|_| ordered()).collect();
        assert!(times.is_sorted_by(|one, next| one < next));
        assert!(times.iter().all(|(_, order)| u64::from(*order) < ORDERS));
    }

    #[test]
    fn confirmed_time_bounds_a_system_clock_that_is_ahead() {
        assert!(0 < since_boot() && since_boot() < system());
        assert_eq!(bounded(7_200_000, u64::MAX, 5), 7_200_000);
        let confirmed = 1_000_000;
        assert_eq!(bounded(1_000_700, confirmed, 600), 1_000_700);
        assert_eq!(bounded(8_200_600, confirmed, 600), 1_002_600);
        assert_eq!(bounded(900_000, confirmed, 600), 900_000);
    }

    #[test]
    fn time_continues_from_the_newest_time_ever_seen() {
        let ahead = system() + 3_600_000;
        start_from(ahead);
        let first = now();
        assert!(first >= ahead && behind() >= 3_590_000);
        start_from(0);
        let mut last = first;
        while now() == first {
            std::thread::yield_now();
        }
        for _ in 0..1000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }
}
