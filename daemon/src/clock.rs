//! The clocks: the only module that reads them for what is recorded or decided.
//!
//! Whatever expired stays expired, so recorded time never runs back: where the system's clock was set back, it goes on
//! from the newest time ever seen, at half speed, until the system's clock has caught up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use quorate_core::model::Millis;
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

/// How times are written for people.
const MOMENT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");

/// The newest time that was given out.
static NEWEST: AtomicU64 = AtomicU64::new(0);
/// The newest moment that was given out: its time in milliseconds times [`ORDERS`], plus its order.
static NEWEST_MOMENT: AtomicU64 = AtomicU64::new(0);
/// How many moments of one millisecond have an order of their own.
const ORDERS: u64 = 1 << 12;
/// From when on time runs at half speed; `None` while the system's clock leads.
static SLOW: Mutex<Option<(Instant, Millis)>> = Mutex::new(None);

/// Returns the time for records and expiry, in milliseconds since 1970. It never runs back.
pub fn now() -> Millis {
    let system = system();
    let newest = NEWEST.fetch_max(system, Ordering::AcqRel);
    if system >= newest { system } else { slowed(newest) }
}

/// Returns the time, as [`now`], and an order below 4,096 that is greater than all before it in the same millisecond.
pub fn ordered() -> (Millis, u16) {
    let earliest = now().saturating_mul(ORDERS);
    let next = |newest: u64| earliest.max(newest.saturating_add(1));
    let (Ok(newest) | Err(newest)) =
        NEWEST_MOMENT.fetch_update(Ordering::AcqRel, Ordering::Acquire, |newest| Some(next(newest)));
    let number = next(newest);
    (number / ORDERS, u16::try_from(number % ORDERS).unwrap_or_default())
}

/// Returns the time of the system's clock, in milliseconds since 1970, which may run back. A clock before 1970 counts
/// as 1970.
pub fn system() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    millis(since)
}

/// Makes time start no earlier than at the newest time that an earlier run has seen.
pub fn start_from(newest: Millis) {
    NEWEST.fetch_max(newest, Ordering::AcqRel);
}

/// Returns by how much the system's clock is behind the newest time, in milliseconds.
pub fn behind() -> Millis {
    NEWEST.load(Ordering::Acquire).saturating_sub(system())
}

/// Returns a time for people, in UTC.
pub fn text(time: Millis) -> String {
    let seconds = i64::try_from(time / 1000).ok();
    let moment = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    let text = moment.and_then(|moment| moment.format(MOMENT).ok());
    text.unwrap_or_else(|| format!("{time} ms after 1970"))
}

fn slowed(newest: Millis) -> Millis {
    let mut slow = SLOW.lock().unwrap_or_else(PoisonError::into_inner);
    let (since, from) = *slow.get_or_insert_with(|| (Instant::now(), newest));
    let time = from.saturating_add(millis(since.elapsed()) / 2);
    if time < newest {
        // The system's clock had caught up meanwhile, and was set back again.
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
    fn moments_are_in_order_also_within_a_millisecond() {
        let moments: Vec<_> = (0..10_000).map(|_| ordered()).collect();
        assert!(moments.is_sorted_by(|one, next| one < next));
        assert!(moments.iter().all(|(_, order)| u64::from(*order) < ORDERS));
    }

    #[test]
    fn time_goes_on_from_the_newest_ever_seen() {
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
