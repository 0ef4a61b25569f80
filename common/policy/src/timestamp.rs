//! Instants of the policy language. Reads text, never a clock.

use std::fmt;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Byte at which RFC 3339 separates the date from the time of day.
const SEPARATOR_POSITION: usize = 10;
/// Nanoseconds in a second.
const NANOSECONDS_PER_SECOND: u32 = 1_000_000_000;

/// An instant: seconds since 1970-01-01T00:00:00Z and nanoseconds within that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanoseconds: u32,
}

/// Why a text is no timestamp of this language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimestampFlaw {
    /// The text has an offset other than zero, although it is RFC 3339 otherwise.
    #[error("timestamp must be in UTC")]
    Offset,
    /// The text is not RFC 3339, or names a date that does not exist.
    #[error("timestamp must be RFC 3339")]
    Form,
}

impl Timestamp {
    /// An instant given in seconds and nanoseconds; `None` unless `nanoseconds` is below 10^9.
    pub fn new(seconds: i64, nanoseconds: u32) -> Option<Self> {
        (nanoseconds < NANOSECONDS_PER_SECOND).then_some(Self { seconds, nanoseconds })
    }

    /// Reads RFC 3339 §5.6 with a zero offset: `Z`, `z`, `+00:00` or `-00:00`.
    pub fn parse(text: &str) -> Result<Self, TimestampFlaw> {
        // The parser takes any byte as separator; RFC 3339 names `T`, `t` and, for readability, a space.
        if !matches!(text.as_bytes().get(SEPARATOR_POSITION), Some(b'T' | b't' | b' ')) {
            return Err(TimestampFlaw::Form);
        }
        let instant = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| TimestampFlaw::Form)?;
        if !instant.offset().is_utc() {
            return Err(TimestampFlaw::Offset);
        }
        Self::new(instant.unix_timestamp(), instant.nanosecond()).ok_or(TimestampFlaw::Form)
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds since the start of that second.
    pub fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }
}

/// RFC 3339 in UTC; beyond its years the seconds since 1970.
impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = OffsetDateTime::from_unix_timestamp(self.seconds).ok();
        let instant = instant.and_then(|instant| instant.replace_nanosecond(self.nanoseconds).ok());
        match instant.and_then(|instant| instant.format(&Rfc3339).ok()) {
            Some(text) => formatter.write_str(&text),
            None => write!(formatter, "{} s", self.seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_an_instant() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Ok((0, 0))),
            ("1970-01-01t00:00:01z", Ok((1, 0))),
            ("1970-01-01 00:00:01+00:00", Ok((1, 0))),
            ("1970-01-01T00:00:01.25-00:00", Ok((1, 250_000_000))),
            ("1969-12-31T23:59:59Z", Ok((-1, 0))),
            ("2000-02-29T00:00:00Z", Ok((951_782_400, 0))),
            ("2026-03-01T00:00:00Z", Ok((1_772_323_200, 0))),
            ("2026-02-29T00:00:00Z", Err(TimestampFlaw::Form)),
            ("2026-13-01T00:00:00Z", Err(TimestampFlaw::Form)),
            ("2026-03-01T24:00:00Z", Err(TimestampFlaw::Form)),
            ("2026-03-01T00:00:00", Err(TimestampFlaw::Form)),
            ("2026-03-01X00:00:00Z", Err(TimestampFlaw::Form)),
            ("2026-03-01", Err(TimestampFlaw::Form)),
            ("2026-03-01T00:00:00Z ", Err(TimestampFlaw::Form)),
            ("", Err(TimestampFlaw::Form)),
            ("2026-03-01T00:00:00-05:00", Err(TimestampFlaw::Offset)),
            ("2026-03-01T00:00:00+00:01", Err(TimestampFlaw::Offset)),
        ] {
            let read = Timestamp::parse(text).map(|instant| (instant.seconds(), instant.nanoseconds()));
            assert_eq!(read, expected, "{text}");
        }
    }
}
