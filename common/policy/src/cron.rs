//! Windows that open by the clock on a wall: the literals of `CronSpan`, and whether an instant lies within a window.
//!
//! The time zone database is compiled in, so that every process decides by the same one.

use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp as Instant};

use crate::flaw::CronSpanFlaw;
use crate::timestamp::Timestamp;

/// Units of a duration in the order in which they may appear, in minutes.
const UNITS: [(char, u32); 3] = [('d', 1_440), ('h', 60), ('m', 1)];
/// Seven days, the longest duration, in minutes.
const LONGEST_MINUTES: u32 = 10_080;
/// Longest name of a time zone that is looked at.
const ZONE_LIMIT_BYTES: usize = 64;
/// More minutes than a wall clock was ever set back at once.
const LONGEST_FOLD_MINUTES: i64 = 26 * 60;
/// Days to look back: those of the longest window, and one for the wall clock.
const DAYS_BACK: usize = 9;

/// Times at which windows open: for each field of a cron expression the numbers that it takes, as bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    /// Sunday is 0.
    weekdays: u64,
    /// Both kinds of day are restricted, and then either suffices.
    either_day: bool,
}

/// Windows of one length that open by a schedule on the wall clock of a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CronSpan {
    pub(crate) schedule: Schedule,
    /// How long a window stays open, in minutes that pass.
    pub(crate) minutes: u32,
    pub(crate) zone: TimeZone,
    /// As it is written.
    pub(crate) source: String,
}

/// An instant so far away that the calendar has no date for it.
pub(crate) struct OutOfCalendar;

impl From<jiff::Error> for OutOfCalendar {
    fn from(_: jiff::Error) -> Self {
        Self
    }
}

impl CronSpan {
    /// Whether some window that opened is still open.
    pub(crate) fn holds(&self, now: Timestamp) -> Result<bool, OutOfCalendar> {
        let nanoseconds = i32::try_from(now.nanoseconds()).map_err(|_| OutOfCalendar)?;
        let now = Instant::new(now.seconds(), nanoseconds)?;
        let Some(opened) = self.last_opened(now)? else { return Ok(false) };
        Ok(now < opened.checked_add(Span::new().minutes(self.minutes))?)
    }

    /// When a window opened last, as far as that can matter.
    fn last_opened(&self, now: Instant) -> Result<Option<Instant>, OutOfCalendar> {
        let latest = self.latest_wall(now)?;
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

    /// The latest minute of the wall clock that has come. Where clocks were set back that is a later one than what
    /// they show: minutes that come twice count when they come first.
    fn latest_wall(&self, now: Instant) -> Result<DateTime, OutOfCalendar> {
        let shown = self.zone.to_datetime(now);
        let shown = shown.date().at(shown.hour(), shown.minute(), 0, 0);
        let after = |minutes: i64| shown.checked_add(Span::new().minutes(minutes));
        let has_come = |minutes| Ok::<_, OutOfCalendar>(self.instant(after(minutes)?)? <= now);
        if !has_come(1)? {
            return Ok(shown);
        }
        let (mut come, mut to_come) = (1, LONGEST_FOLD_MINUTES);
        while to_come.saturating_sub(come) > 1 {
            let middle = come.midpoint(to_come);
            if has_come(middle)? { come = middle } else { to_come = middle }
        }
        Ok(after(come)?)
    }

    /// When the wall clock shows this first; what it skips comes with the first minute behind the gap.
    fn instant(&self, wall: DateTime) -> Result<Instant, OutOfCalendar> {
        let ambiguous = self.zone.to_ambiguous_timestamp(wall);
        match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                Ok(offset.to_timestamp(wall)?)
            }
            AmbiguousOffset::Gap { after, .. } => {
                let change = self.zone.following(after.to_timestamp(wall)?).next();
                change.map(|change| change.timestamp()).ok_or(OutOfCalendar)
            }
        }
    }
}

impl Schedule {
    /// The last time of a date that is not behind the hour and minute given.
    fn last_on(&self, date: Date, (hour, minute): (i8, i8)) -> Option<(i8, i8)> {
        if !self.takes(date) {
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

    fn takes(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        let either = self.either_day && (day || weekday);
        has(self.months, date.month()) && (either || (day && weekday))
    }
}

fn has(bits: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|number| bits.checked_shr(number).is_some_and(|rest| rest & 1 == 1))
}

/// The highest number of a field that is not above another one.
fn last_until(bits: u64, most: i8) -> Option<i8> {
    (0..=most).rev().find(|number| has(bits, *number))
}

/// Reads five fields of numbers, ranges, lists and `*`.
pub(crate) fn schedule(text: &str) -> Result<Schedule, CronSpanFlaw> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
        return Err(CronSpanFlaw::FieldCount);
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

fn field(text: &str, lowest: u32, highest: u32) -> Result<u64, CronSpanFlaw> {
    let every = if text == "*" { format!("{lowest}-{highest}") } else { text.to_owned() };
    let mut bits = 0_u64;
    for part in every.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last || first < lowest || last > highest {
            return Err(CronSpanFlaw::FieldRange);
        }
        bits |= (first..=last).filter_map(|bit| 1_u64.checked_shl(bit)).fold(0, |all, bit| all | bit);
    }
    Ok(bits)
}

fn number(text: &str) -> Result<u32, CronSpanFlaw> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CronSpanFlaw::FieldForm);
    }
    text.parse().map_err(|_| CronSpanFlaw::FieldRange)
}

/// Reads a duration such as `1d12h`: whole numbers with `d`, `h`, `m` in that order, above zero, at most seven days.
pub(crate) fn minutes(text: &str) -> Result<u32, CronSpanFlaw> {
    let mut rest = text;
    let mut minutes = Some(0_u32);
    for (unit, length) in UNITS {
        let Some((number, after)) = rest.split_once(unit) else {
            continue;
        };
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(CronSpanFlaw::DurationForm);
        }
        let part = number.parse::<u32>().ok().and_then(|number| number.checked_mul(length));
        minutes = minutes.and_then(|sum| sum.checked_add(part?));
        rest = after;
    }
    if !rest.is_empty() || text.is_empty() {
        return Err(CronSpanFlaw::DurationForm);
    }
    minutes.filter(|minutes| (1..=LONGEST_MINUTES).contains(minutes)).ok_or(CronSpanFlaw::DurationRange)
}

/// Finds a time zone of the IANA database by its exact name.
pub(crate) fn zone(text: &str) -> Result<TimeZone, CronSpanFlaw> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+');
    if !(1..=ZONE_LIMIT_BYTES).contains(&text.len()) || !text.bytes().all(legal) {
        return Err(CronSpanFlaw::ZoneForm);
    }
    let found = TimeZoneDatabase::bundled().get(text).ok();
    // Upper and lower case matter, as in all other literals.
    found.filter(|zone| zone.iana_name() == Some(text)).ok_or(CronSpanFlaw::ZoneUnknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use CronSpanFlaw::{
        DurationForm, DurationRange, FieldCount, FieldForm, FieldRange, ZoneForm, ZoneUnknown,
    };

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
            assert_eq!(schedule(text).map(drop), expected, "{text}");
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
            assert_eq!(minutes(text).map(drop), expected, "{text}");
        }
    }

    #[test]
    fn zones_look_like_zone_names() {
        for (text, expected) in [
            ("UTC", Ok(())),
            ("America/New_York", Ok(())),
            ("Etc/GMT+5", Ok(())),
            ("utc", Err(ZoneUnknown)),
            ("Mars/Olympus_Mons", Err(ZoneUnknown)),
            ("", Err(ZoneForm)),
            ("Europe Berlin", Err(ZoneForm)),
        ] {
            assert_eq!(zone(text).map(drop), expected, "{text}");
        }
    }
}
