//! `CronSpan` by exhaustive search: computes the local time of every minute before an instant.

use std::ops::Range;

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Timelike};
use chrono_tz::Tz;

const MINUTE: i64 = 60;
/// Seconds to search before a window, so that repeated local times are recognized: clocks were set back by up
/// to a day.
const MEMORY: i64 = 25 * 60 * MINUTE;

/// Returns whether `now`, in seconds since 1970, is in an open window.
pub(crate) fn is_active(cron: &str, duration: &str, zone: &str, now: i64) -> bool {
    let zone: Tz = zone.parse().unwrap();
    let fields: Vec<&str> = cron.split(' ').collect();
    let opened = now - seconds(duration) + 1..now + 1;
    fires(&fields, zone, &opened)
}

/// Returns whether the schedule fires at one of these instants.
///
/// A skipped local time fires at the first instant after the gap. A repeated local time fires at its first
/// occurrence only.
fn fires(fields: &[&str], zone: Tz, instants: &Range<i64>) -> bool {
    let minute = TimeDelta::minutes(1);
    let mut instant = (instants.start - MEMORY).div_euclid(MINUTE) * MINUTE;
    let mut latest = local_time(zone, instant - MINUTE);
    while instant < instants.end {
        let current = local_time(zone, instant);
        while latest < current {
            latest += minute;
            if instants.contains(&instant) && matches(fields, latest) {
                return true;
            }
        }
        instant += MINUTE;
    }
    false
}

/// Returns the local time in a time zone.
fn local_time(zone: Tz, instant: i64) -> NaiveDateTime {
    DateTime::from_timestamp(instant, 0).unwrap().with_timezone(&zone).naive_local()
}

/// Returns whether a local minute matches. If both day fields are restricted, either one is enough.
fn matches(fields: &[&str], local: NaiveDateTime) -> bool {
    let holds = |index: usize, value: u32| has(fields[index], value);
    let (day, weekday) = (holds(2, local.day()), holds(4, local.weekday().num_days_from_sunday()));
    let is_day = if fields[2] != "*" && fields[4] != "*" { day || weekday } else { day && weekday };
    holds(0, local.minute()) && holds(1, local.hour()) && holds(3, local.month()) && is_day
}

/// Returns whether a cron field, `*` or a list of numbers and ranges, contains a value.
fn has(field: &str, value: u32) -> bool {
    field.split(',').any(|item| match item.split_once('-') {
        _ if item == "*" => true,
        Some((first, last)) => (first.parse().unwrap()..=last.parse().unwrap()).contains(&value),
        None => item.parse() == Ok(value),
    })
}

/// Returns the length of a duration such as `1d12h` in seconds.
fn seconds(duration: &str) -> i64 {
    let (mut total, mut number) = (0, 0);
    for character in duration.chars() {
        match character {
            'd' | 'h' | 'm' => {
                total += number * [24 * 60 * MINUTE, 60 * MINUTE, MINUTE]["dhm".find(character).unwrap()];
                number = 0;
            }
            digit => number = number * 10 + i64::from(digit.to_digit(10).unwrap()),
        }
    }
    total
}

/// Cron expression, duration, time zone, and instants with whether each is in a window.
type Example = (&'static str, &'static str, &'static str, &'static [(&'static str, bool)]);

/// Examples of the specification, and days with clock changes.
const EXAMPLES: [Example; 15] = [
    // Clocks are set forward: eight hours end at seven.
    (
        "0 22 * * *",
        "8h",
        "America/New_York",
        &[
            ("2026-03-07T21:59:59-05:00", false),
            ("2026-03-07T22:00:00-05:00", true),
            ("2026-03-08T06:59:59-04:00", true),
            ("2026-03-08T07:00:00-04:00", false),
        ],
    ),
    // Clocks are set back: eight hours end at five.
    (
        "0 22 * * *",
        "8h",
        "America/New_York",
        &[
            ("2026-10-31T22:00:00-04:00", true),
            ("2026-11-01T04:59:59-05:00", true),
            ("2026-11-01T05:00:00-05:00", false),
        ],
    ),
    // 02:30 is skipped: 03:00 is the first instant after the gap.
    (
        "30 2 * * *",
        "15m",
        "America/New_York",
        &[
            ("2026-03-08T01:59:59-05:00", false),
            ("2026-03-08T03:00:00-04:00", true),
            ("2026-03-08T03:14:59-04:00", true),
            ("2026-03-08T03:15:00-04:00", false),
            ("2026-03-08T03:30:00-04:00", false),
            ("2026-03-09T02:30:00-04:00", true),
        ],
    ),
    // 01:30 is repeated and fires at its first occurrence.
    (
        "30 1 * * *",
        "15m",
        "America/New_York",
        &[
            ("2026-11-01T01:30:00-04:00", true),
            ("2026-11-01T01:44:59-04:00", true),
            ("2026-11-01T01:45:00-04:00", false),
            ("2026-11-01T01:30:00-05:00", false),
            ("2026-11-02T01:30:00-05:00", true),
        ],
    ),
    // A gap of half an hour.
    (
        "15 2 * * *",
        "1m",
        "Australia/Lord_Howe",
        &[("2025-10-05T02:30:00+11:00", true), ("2025-10-05T02:31:00+11:00", false)],
    ),
    // Half an hour is repeated.
    (
        "45 1 * * *",
        "1m",
        "Australia/Lord_Howe",
        &[("2025-04-06T01:45:00+11:00", true), ("2025-04-06T01:45:00+10:30", false)],
    ),
    // A gap at midnight.
    (
        "0 0 * * *",
        "10m",
        "America/Sao_Paulo",
        &[("2018-11-03T23:59:59-03:00", false), ("2018-11-04T01:00:00-02:00", true)],
    ),
    // A whole day is skipped.
    (
        "0 9 30 12 *",
        "1h",
        "Pacific/Apia",
        &[("2011-12-29T23:59:00-10:00", false), ("2011-12-31T00:00:00+14:00", true)],
    ),
    // Both day fields are restricted, and either one is enough.
    (
        "0 0 13 * 5",
        "1d",
        "UTC",
        &[
            ("2026-11-13T12:00:00Z", true),
            ("2026-11-20T12:00:00Z", true),
            ("2026-10-13T12:00:00Z", true),
            ("2026-10-14T12:00:00Z", false),
        ],
    ),
    // An unrestricted day field does not widen the restricted one.
    ("0 0 13 * *", "1d", "UTC", &[("2026-11-20T12:00:00Z", false), ("2026-10-13T12:00:00Z", true)]),
    ("0 0 * * 5", "1d", "UTC", &[("2026-11-20T12:00:00Z", true), ("2026-10-13T12:00:00Z", false)]),
    // Sunday is zero.
    (
        "0 0 * * 0,6",
        "1d",
        "America/New_York",
        &[
            ("2026-11-21T00:00:00-05:00", true),
            ("2026-11-22T23:59:59-05:00", true),
            ("2026-11-23T00:00:00-05:00", false),
        ],
    ),
    // Ranges, lists and months.
    (
        "0,30 9-17 * 1-3,12 1-5",
        "10m",
        "Europe/Berlin",
        &[
            ("2026-12-01T09:35:00+01:00", true),
            ("2026-12-01T18:05:00+01:00", false),
            ("2026-11-30T09:35:00+01:00", false),
            ("2026-12-05T09:35:00+01:00", false),
        ],
    ),
    // The longest window, and windows without a gap between them.
    (
        "0 0 1 * *",
        "7d",
        "Asia/Kolkata",
        &[
            ("2026-05-01T00:00:00+05:30", true),
            ("2026-05-07T23:59:59+05:30", true),
            ("2026-05-08T00:00:00+05:30", false),
        ],
    ),
    ("0 * * * *", "60m", "Asia/Kathmandu", &[("2026-05-01T00:07:00Z", true)]),
];

#[test]
fn naive_windows_open_and_close_at_known_times() {
    for (cron, duration, zone, instants) in EXAMPLES {
        for (text, expected) in instants {
            let now = DateTime::parse_from_rfc3339(text).unwrap().timestamp();
            assert_eq!(is_active(cron, duration, zone, now), *expected, "{cron} {duration} {zone} at {text}");
        }
    }
}
