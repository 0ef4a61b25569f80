//! Formats times for display. Takes milliseconds since the Unix epoch and never reads a clock.

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

const DATE_TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
const RFC_3339: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
const CLOCK: &[BorrowedFormatItem<'_>] = format_description!("[hour]:[minute]:[second]");

/// Formats date and time: `2026-11-21 06:28:04 UTC`.
pub(crate) fn date_time(millis: u64) -> String {
    formatted(millis, DATE_TIME)
}

/// Formats date and time for scripts (RFC 3339, in UTC): `2026-11-21T06:28:04Z`. A time that is not a whole second has
/// its milliseconds.
pub(crate) fn rfc3339(millis: u64) -> String {
    let seconds = formatted(millis, RFC_3339);
    match millis % 1000 {
        0 => format!("{seconds}Z"),
        rest => format!("{seconds}.{rest:03}Z"),
    }
}

/// Formats the date in UTC: `2026-11-21`.
pub(crate) fn date(millis: u64) -> String {
    formatted(millis, DATE)
}

/// Parses the beginning of a date in UTC, such as `2026-11-21`, in milliseconds since the Unix epoch.
pub(crate) fn parsed_date(text: &str) -> Option<u64> {
    let midnight = Date::parse(text, DATE).ok()?.midnight().assume_utc();
    u64::try_from(midnight.unix_timestamp()).ok()?.checked_mul(1000)
}

/// Formats the time of day in UTC: `06:28:04`.
pub(crate) fn clock(millis: u64) -> String {
    formatted(millis, CLOCK)
}

/// Formats a duration in its two largest units: `2h56m`, `19m`, `3d04h`, `12s`.
pub(crate) fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    if days > 0 {
        format!("{days}d{:02}h", hours % 24)
    } else if hours > 0 {
        format!("{hours}h{:02}m", minutes % 60)
    } else if minutes > 0 {
        format!("{minutes}m")
    } else {
        format!("{seconds}s")
    }
}

/// Formats the distance of a time from `now`: `19m ago`, or `19m ahead` if it lies in the future.
pub(crate) fn ago(time_millis: u64, now: u64) -> String {
    if time_millis > now.saturating_add(1000) {
        format!("{} ahead", duration(time_millis - now))
    } else {
        format!("{} ago", duration(now.saturating_sub(time_millis)))
    }
}

fn formatted(millis: u64, format: &[BorrowedFormatItem<'_>]) -> String {
    i64::try_from(millis / 1000)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
        .and_then(|time_millis| time_millis.format(format).ok())
        .unwrap_or_else(|| format!("{millis} ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_times() {
        assert_eq!(date_time(1_700_000_000_000), "2023-11-14 22:13:20 UTC");
        assert_eq!(clock(1_700_000_000_000), "22:13:20");
        assert_eq!(date_time(u64::MAX), "18446744073709551615 ms");
        for (millis, expected) in [
            (0, "0s"),
            (59_999, "59s"),
            (60_000, "1m"),
            (3_600_000 * 3 - 240_000, "2h56m"),
            (90_000_000, "1d01h"),
        ] {
            assert_eq!(duration(millis), expected);
        }
        assert_eq!(ago(10_000, 70_000), "1m ago");
        assert_eq!(ago(70_000, 10_000), "1m ahead");
    }
}
