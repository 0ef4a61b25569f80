//! `CronSpan` by trial: every minute of the time before an instant is asked for its wall clock in the zone.

use std::ops::Range;

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Timelike};
use chrono_tz::Tz;

const MINUTE: i64 = 60;
/// Long enough before a window to have seen every wall clock time that comes again: clocks have gone back by up to a day.
const MEMORY: i64 = 25 * 60 * MINUTE;

/// Whether `now`, in seconds since 1970, lies in a window that a fire has opened.
pub(crate) fn is_active(cron: &str, duration: &str, zone: &str, now: i64) -> bool {
    let zone: Tz = zone.parse().unwrap();
    let fields: Vec<&str> = cron.split(' ').collect();
    let opened = now - seconds(duration) + 1..now + 1;
    fires(&fields, zone, &opened)
}

/// Whether there is a fire at one of these instants. A wall clock time that does not exist fires at the first instant after
/// the gap, one that comes twice only when it comes first.
fn fires(fields: &[&str], zone: Tz, instants: &Range<i64>) -> bool {
    let minute = TimeDelta::minutes(1);
    let mut instant = (instants.start - MEMORY).div_euclid(MINUTE) * MINUTE;
    let mut latest = wall(zone, instant - MINUTE);
    while instant < instants.end {
        let here = wall(zone, instant);
        while latest < here {
            latest += minute;
            if instants.contains(&instant) && matches(fields, latest) {
                return true;
            }
        }
        instant += MINUTE;
    }
    false
}

/// What clocks in the zone show.
fn wall(zone: Tz, instant: i64) -> NaiveDateTime {
    DateTime::from_timestamp(instant, 0).unwrap().with_timezone(&zone).naive_local()
}

/// Whether a minute of the wall clock is meant. Two restricted fields for days mean either.
fn matches(fields: &[&str], wall: NaiveDateTime) -> bool {
    let holds = |place: usize, value: u32| has(fields[place], value);
    let (day, weekday) = (holds(2, wall.day()), holds(4, wall.weekday().num_days_from_sunday()));
    let is_day = if fields[2] != "*" && fields[4] != "*" { day || weekday } else { day && weekday };
    holds(0, wall.minute()) && holds(1, wall.hour()) && holds(3, wall.month()) && is_day
}

/// Whether a field of a cron text has a value: `*`, or a list of numbers and ranges.
fn has(field: &str, value: u32) -> bool {
    field.split(',').any(|item| match item.split_once('-') {
        _ if item == "*" => true,
        Some((first, last)) => (first.parse().unwrap()..=last.parse().unwrap()).contains(&value),
        None => item.parse() == Ok(value),
    })
}

/// The length of a duration such as `1d12h`.
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

/// Cron, duration, zone, and instants with what is true of them.
type Example = (&'static str, &'static str, &'static str, &'static [(&'static str, bool)]);

/// The examples of the specification, and days on which clocks change.
const EXAMPLES: [Example; 15] = [
    // Spring forward: eight hours of the night end at seven.
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
    // Fall back: they end at five.
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
    // Half past two does not exist: three is the first instant after the gap.
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
    // Half past one comes twice and fires when it comes first.
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
    // An hour that comes twice by half.
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
    // A whole day that was left out.
    (
        "0 9 30 12 *",
        "1h",
        "Pacific/Apia",
        &[("2011-12-29T23:59:00-10:00", false), ("2011-12-31T00:00:00+14:00", true)],
    ),
    // Either day.
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
    // One restricted day is not widened by the other.
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
    // The longest window, and one that has no gap.
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
fn windows_open_and_close() {
    for (cron, duration, zone, instants) in EXAMPLES {
        for (text, expected) in instants {
            let now = DateTime::parse_from_rfc3339(text).unwrap().timestamp();
            assert_eq!(is_active(cron, duration, zone, now), *expected, "{cron} {duration} {zone} at {text}");
        }
    }
}
