//! Timestamps of the policy language. They are parsed from text and never read from a clock.

use std::fmt;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Byte offset of the separator between date and time in RFC 3339.
const SEPARATOR_POSITION: usize = 10;
const NANOSECONDS_PER_SECOND: u32 = 1_000_000_000;

/// A point in time: seconds since 1970-01-01T00:00:00Z and nanoseconds within that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanoseconds: u32,
}

/// Error returned for a text that is not a timestamp of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimestampError {
    /// The text is valid RFC 3339, but its offset is not zero.
    #[error("timestamp must be in UTC")]
    Offset,
    /// The text is not RFC 3339, or the date does not exist.
    #[error("timestamp must be RFC 3339")]
    Format,
}

impl Timestamp {
    /// Creates a timestamp from seconds and nanoseconds, or returns `None` if `nanoseconds` is 10^9 or more.
    pub fn new(seconds: i64, nanoseconds: u32) -> Option<Self> {
        (nanoseconds < NANOSECONDS_PER_SECOND).then_some(Self { seconds, nanoseconds })
    }

    /// Parses RFC 3339 §5.6 with a zero offset: `Z`, `z`, `+00:00` or `-00:00`.
    ///
    /// # Errors
    /// [`TimestampError::Offset`] for another offset, [`TimestampError::Format`] for any other text.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        // The parser accepts any byte as separator; RFC 3339 allows `T`, `t` and, for readability, a space.
        if !matches!(text.as_bytes().get(SEPARATOR_POSITION), Some(b'T' | b't' | b' ')) {
            return Err(TimestampError::Format);
        }
        let instant = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| TimestampError::Format)?;
        if !instant.offset().is_utc() {
            return Err(TimestampError::Offset);
        }
        Self::new(instant.unix_timestamp(), instant.nanosecond()).ok_or(TimestampError::Format)
    }

    /// Returns the whole seconds since 1970-01-01T00:00:00Z, rounded down.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds since the start of that second.
    pub fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }
}

/// Writes RFC 3339 in UTC, or the seconds since 1970 if the year is out of its range.
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
    fn parses_rfc_3339_in_utc_only() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Ok((0, 0))),
            ("1970-01-01t00:00:01z", Ok((1, 0))),
            ("1970-01-01 00:00:01+00:00", Ok((1, 0))),
            ("1970-01-01T00:00:01.25-00:00", Ok((1, 250_000_000))),
            ("1969-12-31T23:59:59Z", Ok((-1, 0))),
            ("2000-02-29T00:00:00Z", Ok((951_782_400, 0))),
            ("2026-03-01T00:00:00Z", Ok((1_772_323_200, 0))),
            ("2026-02-29T00:00:00Z", Err(TimestampError::Format)),
            ("2026-13-01T00:00:00Z", Err(TimestampError::Format)),
            ("2026-03-01T24:00:00Z", Err(TimestampError::Format)),
            ("2026-03-01T00:00:00", Err(TimestampError::Format)),
            ("2026-03-01X00:00:00Z", Err(TimestampError::Format)),
            ("2026-03-01", Err(TimestampError::Format)),
            ("2026-03-01T00:00:00Z ", Err(TimestampError::Format)),
            ("", Err(TimestampError::Format)),
            ("2026-03-01T00:00:00-05:00", Err(TimestampError::Offset)),
            ("2026-03-01T00:00:00+00:01", Err(TimestampError::Offset)),
        ] {
            let read = Timestamp::parse(text).map(|instant| (instant.seconds(), instant.nanoseconds()));
            assert_eq!(read, expected, "{text}");
        }
    }
}
