//! The literals of `CronSpan`: their form and their ranges. Computes no windows and knows no time zones.

use std::ops::RangeInclusive;

use crate::flaw::CronSpanFlaw;

/// Minute, hour, day of month, month, day of week with 0 for Sunday.
const FIELDS: [RangeInclusive<u32>; 5] = [0..=59, 0..=23, 1..=31, 1..=12, 0..=6];
/// Units of a duration in the order in which they may appear, in minutes.
const UNITS: [(char, u64); 3] = [('d', 1_440), ('h', 60), ('m', 1)];
/// Seven days, the longest duration, in minutes.
const LONGEST_MINUTES: u64 = 10_080;
/// Longest name of a time zone that is looked at.
const ZONE_LIMIT_BYTES: usize = 64;

/// Checks five fields of numbers, ranges, lists and `*`.
pub(super) fn check_schedule(text: &str) -> Result<(), CronSpanFlaw> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(CronSpanFlaw::FieldCount);
    }
    for (field, range) in fields.iter().zip(FIELDS) {
        if *field == "*" {
            continue;
        }
        for part in field.split(',') {
            check_part(part, &range)?;
        }
    }
    Ok(())
}

fn check_part(part: &str, range: &RangeInclusive<u32>) -> Result<(), CronSpanFlaw> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last) = (field_number(first)?, field_number(last)?);
    if first <= last && range.contains(&first) && range.contains(&last) {
        Ok(())
    } else {
        Err(CronSpanFlaw::FieldRange)
    }
}

fn field_number(text: &str) -> Result<u32, CronSpanFlaw> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CronSpanFlaw::FieldForm);
    }
    text.parse().map_err(|_| CronSpanFlaw::FieldRange)
}

/// Checks a duration such as `1d12h`: whole numbers with `d`, `h`, `m` in that order, above zero, at most seven days.
pub(super) fn check_duration(text: &str) -> Result<(), CronSpanFlaw> {
    let mut rest = text;
    let mut minutes = Some(0_u64);
    for (unit, length) in UNITS {
        let Some((number, after)) = rest.split_once(unit) else {
            continue;
        };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(CronSpanFlaw::DurationForm);
        }
        let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(length));
        minutes = minutes.and_then(|sum| sum.checked_add(part?));
        rest = after;
    }
    if !rest.is_empty() || text.is_empty() {
        return Err(CronSpanFlaw::DurationForm);
    }
    match minutes {
        Some(1..=LONGEST_MINUTES) => Ok(()),
        _ => Err(CronSpanFlaw::DurationRange),
    }
}

/// Checks that a name could be one of the IANA time zone database.
pub(super) fn check_zone(text: &str) -> Result<(), CronSpanFlaw> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+');
    if (1..=ZONE_LIMIT_BYTES).contains(&text.len()) && text.bytes().all(legal) {
        Ok(())
    } else {
        Err(CronSpanFlaw::ZoneForm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CronSpanFlaw::{DurationForm, DurationRange, FieldCount, FieldForm, FieldRange, ZoneForm};

    #[test]
    fn schedules_have_five_plain_fields() {
        for (text, expected) in [
            ("* * * * *", Ok(())),
            ("0 22 * * *", Ok(())),
            ("0,30 9-17 1,15-20 1-12 0-6", Ok(())),
            ("*/5 * * * *", Err(FieldForm)),
            ("0 9 * * MON", Err(FieldForm)),
            ("@daily", Err(FieldCount)),
            ("0 0 9 * * *", Err(FieldCount)),
            ("", Err(FieldCount)),
            ("60 * * * *", Err(FieldRange)),
            ("* 24 * * *", Err(FieldRange)),
            ("* * 0 * *", Err(FieldRange)),
            ("* * * 13 *", Err(FieldRange)),
            ("* * * * 7", Err(FieldRange)),
            ("* 17-9 * * *", Err(FieldRange)),
            ("99999999999 * * * *", Err(FieldRange)),
            ("1, * * * *", Err(FieldForm)),
            ("1-2-3 * * * *", Err(FieldForm)),
            ("-1 * * * *", Err(FieldForm)),
        ] {
            assert_eq!(check_schedule(text), expected, "{text}");
        }
    }

    #[test]
    fn durations_are_whole_and_at_most_seven_days() {
        for (text, expected) in [
            ("8h", Ok(())),
            ("90m", Ok(())),
            ("1d12h", Ok(())),
            ("1d2h3m", Ok(())),
            ("7d", Ok(())),
            ("168h", Ok(())),
            ("7d1m", Err(DurationRange)),
            ("8d", Err(DurationRange)),
            ("0m", Err(DurationRange)),
            ("99999999999999999999d", Err(DurationRange)),
            ("12h1d", Err(DurationForm)),
            ("1.5h", Err(DurationForm)),
            ("8", Err(DurationForm)),
            ("h", Err(DurationForm)),
            ("30s", Err(DurationForm)),
            ("", Err(DurationForm)),
        ] {
            assert_eq!(check_duration(text), expected, "{text}");
        }
    }

    #[test]
    fn zones_look_like_zone_names() {
        for (text, expected) in [
            ("UTC", Ok(())),
            ("America/New_York", Ok(())),
            ("Etc/GMT+5", Ok(())),
            ("", Err(ZoneForm)),
            ("Europe Berlin", Err(ZoneForm)),
        ] {
            assert_eq!(check_zone(text), expected, "{text}");
        }
    }
}
