//! Time windows of `CronSpan`, which open at local times of a time zone: parsing and evaluation.
//!
//! The time zone database is compiled in, so that all processes use the same one.

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp as Instant};

use crate::expression_error::CronSpanError;
use crate::timestamp::Timestamp;

/// Units of a duration in the order in which they may appear, in minutes.
const UNITS: [(char, u32); 3] = [('d', 1_440), ('h', 60), ('m', 1)];
/// Seven days, the longest duration, in minutes.
const LONGEST_MINUTES: u32 = 10_080;
/// Maximum length of a time zone name in bytes.
const ZONE_LIMIT_BYTES: usize = 64;
/// Upper bound of the minutes by which a time zone was ever set back at once.
const LONGEST_FOLD_MINUTES: i64 = 26 * 60;
/// Dates to search backwards from the current one: those of the longest window, and one for shifts of local
/// time.
const DAYS_BACK: usize = 9;

/// Times at which windows open: for each field of a cron expression, a bit set of the matching numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    /// Days of the week; Sunday is 0.
    weekdays: u64,
    /// Whether days of the month and weekdays are both restricted; then a match of either is enough.
    either_day: bool,
}

/// Windows of equal length that open on a schedule in the local time of a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CronSpan {
    pub(crate) schedule: Schedule,
    /// Length of a window in minutes of elapsed time.
    pub(crate) minutes: u32,
    pub(crate) zone: TimeZone,
    /// Source text of the call.
    pub(crate) source: String,
}

/// Error for a timestamp outside the supported calendar range.
pub(crate) struct OutOfCalendar;

impl From<jiff::Error> for OutOfCalendar {
    fn from(_: jiff::Error) -> Self {
        Self
    }
}

impl CronSpan {
    /// Returns whether a window is open at `now`.
    pub(crate) fn holds(&self, now: Timestamp) -> Result<bool, OutOfCalendar> {
        let nanoseconds = i32::try_from(now.nanoseconds()).map_err(|_| OutOfCalendar)?;
        let now = Instant::new(now.seconds(), nanoseconds)?;
        let Some(opened) = self.last_opened(now)? else { return Ok(false) };
        Ok(now < opened.checked_add(Span::new().minutes(self.minutes))?)
    }

    /// Returns the latest opening time at or before `now`, if it is recent enough to matter.
    fn last_opened(&self, now: Instant) -> Result<Option<Instant>, OutOfCalendar> {
        let latest = self.latest_local(now)?;
        let mut date = latest.date();
        let mut until = (latest.hour(), latest.minute());
        for _ in 0..DAYS_BACK {
            if let Some((hour, minute)) = self.schedule.last_on(date, until) {
                return Ok(Some(self.instant(date.at(hour, minute, 0, 0))?));
            }
            until = (23, 59);
            date = date.yesterday()?;
        }
        Ok(None)
    }

    /// Returns the latest local minute that has been reached.
    ///
    /// After clocks are set back, it is later than the current local time: a minute that occurs twice counts
    /// at its first occurrence.
    fn latest_local(&self, now: Instant) -> Result<DateTime, OutOfCalendar> {
        let local = self.zone.to_datetime(now);
        let local = local.date().at(local.hour(), local.minute(), 0, 0);
        let after = |minutes: i64| local.checked_add(Span::new().minutes(minutes));
        let is_reached = |minutes| Ok::<_, OutOfCalendar>(self.instant(after(minutes)?)? <= now);
        if !is_reached(1)? {
            return Ok(local);
        }
        let (mut reached, mut unreached) = (1, LONGEST_FOLD_MINUTES);
        while unreached.saturating_sub(reached) > 1 {
            let middle = reached.midpoint(unreached);
            if is_reached(middle)? { reached = middle } else { unreached = middle }
        }
        Ok(after(reached)?)
    }

    /// Returns the first instant with a local time. A skipped local time maps to the first instant after the
    /// gap.
    fn instant(&self, local: DateTime) -> Result<Instant, OutOfCalendar> {
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                Ok(offset.to_timestamp(local)?)
            }
            AmbiguousOffset::Gap { after, .. } => {
                let change = self.zone.following(after.to_timestamp(local)?).next();
                change.map(|change| change.timestamp()).ok_or(OutOfCalendar)
            }
        }
    }
}

impl Schedule {
    /// Returns the last scheduled time of a date that is not after the given hour and minute.
    fn last_on(&self, date: Date, (hour, minute): (i8, i8)) -> Option<(i8, i8)> {
        if !self.matches(date) {
            return None;
        }
        let last_minute = last_until(self.minutes, 59)?;
        match last_until(self.hours, hour)? {
            this if this == hour => match last_until(self.minutes, minute) {
                Some(minute) => Some((hour, minute)),
                None => Some((last_until(self.hours, hour.checked_sub(1)?)?, last_minute)),
            },
            earlier => Some((earlier, last_minute)),
        }
    }

    fn matches(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        let either = self.either_day && (day || weekday);
        has(self.months, date.month()) && (either || (day && weekday))
    }
}

fn has(bits: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|number| bits.checked_shr(number).is_some_and(|rest| rest & 1 == 1))
}

/// Returns the highest number of a field that is at most `most`.
fn last_until(bits: u64, most: i8) -> Option<i8> {
    (0..=most).rev().find(|number| has(bits, *number))
}

/// Parses a cron expression of five fields with numbers, ranges, lists and `*`.
pub(crate) fn schedule(text: &str) -> Result<Schedule, CronSpanError> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
        return Err(CronSpanError::FieldCount);
    };
    Ok(Schedule {
        minutes: field(minutes, 0, 59)?,
        hours: field(hours, 0, 23)?,
        days: field(days, 1, 31)?,
        months: field(months, 1, 12)?,
        weekdays: field(weekdays, 0, 6)?,
        either_day: *days != "*" && *weekdays != "*",
    })
}

fn field(text: &str, lowest: u32, highest: u32) -> Result<u64, CronSpanError> {
    let every = if text == "*" { format!("{lowest}-{highest}") } else { text.to_owned() };
    let mut bits = 0_u64;
    for part in every.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last || first < lowest || last > highest {
            return Err(CronSpanError::FieldRange);
        }
        bits |= (first..=last).filter_map(|bit| 1_u64.checked_shl(bit)).fold(0, |all, bit| all | bit);
    }
    Ok(bits)
}

fn number(text: &str) -> Result<u32, CronSpanError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CronSpanError::FieldFormat);
    }
    text.parse().map_err(|_| CronSpanError::FieldRange)
}

/// Parses a duration such as `1d12h` into minutes: whole numbers with `d`, `h`, `m` in that order, above
/// zero, at most seven days.
pub(crate) fn minutes(text: &str) -> Result<u32, CronSpanError> {
    let mut rest = text;
    let mut minutes = Some(0_u32);
    for (unit, length) in UNITS {
        let Some((number, after)) = rest.split_once(unit) else {
            continue;
        };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(CronSpanError::DurationFormat);
        }
        let part = number.parse::<u32>().ok().and_then(|number| number.checked_mul(length));
        minutes = minutes.and_then(|sum| sum.checked_add(part?));
        rest = after;
    }
    if !rest.is_empty() || text.is_empty() {
        return Err(CronSpanError::DurationFormat);
    }
    minutes.filter(|minutes| (1..=LONGEST_MINUTES).contains(minutes)).ok_or(CronSpanError::DurationRange)
}

/// Returns a time zone of the IANA database by its exact, case-sensitive name.
pub(crate) fn zone(text: &str) -> Result<TimeZone, CronSpanError> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+');
    if !(1..=ZONE_LIMIT_BYTES).contains(&text.len()) || !text.bytes().all(legal) {
        return Err(CronSpanError::ZoneFormat);
    }
    let zone = TimeZoneDatabase::bundled().get(text).ok();
    // The database ignores case; other literals are case-sensitive, so names are too.
    zone.filter(|zone| zone.iana_name() == Some(text)).ok_or(CronSpanError::ZoneUnknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use CronSpanError::{
        DurationFormat, DurationRange, FieldCount, FieldFormat, FieldRange, ZoneFormat, ZoneUnknown,
    };

    #[test]
    fn parses_five_plain_cron_fields_only() {
        for (text, expected) in [
            ("* * * * *", Ok(())),
            ("0 22 * * *", Ok(())),
            ("0,30 9-17 1,15-20 1-12 0-6", Ok(())),
            ("*/5 * * * *", Err(FieldFormat)),
            ("0 9 * * MON", Err(FieldFormat)),
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
            ("1, * * * *", Err(FieldFormat)),
            ("1-2-3 * * * *", Err(FieldFormat)),
            ("-1 * * * *", Err(FieldFormat)),
        ] {
            assert_eq!(schedule(text).map(drop), expected, "{text}");
        }
    }

    #[test]
    fn parses_whole_durations_up_to_seven_days() {
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
            ("12h1d", Err(DurationFormat)),
            ("1.5h", Err(DurationFormat)),
            ("8", Err(DurationFormat)),
            ("h", Err(DurationFormat)),
            ("30s", Err(DurationFormat)),
            ("", Err(DurationFormat)),
        ] {
            assert_eq!(minutes(text).map(drop), expected, "{text}");
        }
    }

    #[test]
    fn accepts_exact_time_zone_names_only() {
        for (text, expected) in [
            ("UTC", Ok(())),
            ("America/New_York", Ok(())),
            ("Etc/GMT+5", Ok(())),
            ("utc", Err(ZoneUnknown)),
            ("Mars/Olympus_Mons", Err(ZoneUnknown)),
            ("", Err(ZoneFormat)),
            ("Europe Berlin", Err(ZoneFormat)),
        ] {
            assert_eq!(zone(text).map(drop), expected, "{text}");
        }
    }
}
