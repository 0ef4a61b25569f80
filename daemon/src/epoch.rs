//! The epoch of a store. Each restore begins another one: what was valid before and should end by itself ends then, because
//! what the store has forgotten cannot be distinguished from what was revoked or used since.

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout::{self, sign_in};
use quorate_core::model::write::Write;
use quorate_core::world::{Page, Records};

/// Key of the record.
const EPOCH: &[u8] = b"mp";
/// First byte of the encoding.
const FORMAT: u8 = 1;

/// The epoch of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Epoch {
    /// When it began, in seconds since 1970, and later than that of the store in the backup. Zero without a restore. Two restores
    /// of one backup have different numbers.
    pub number: u32,
    /// When it began, in milliseconds since 1970. Zero without a restore.
    pub begun: Millis,
    /// Whether the store waits to be released, and accepts no changes until then.
    pub is_held: bool,
}

/// Returns the writes that remove what may have been used or revoked after the moment of a restored store: one-time codes and
/// import keys.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn ended(records: &dyn Records) -> Result<Vec<Write>, Corrupt> {
    let mut keys = records.keys(Page::first(&sign_in::all_codes(), usize::MAX))?;
    keys.extend(records.keys(Page::first(layout::IMPORT_TARGETS, usize::MAX))?);
    Ok(keys.into_iter().map(Write::remove).collect())
}

impl Epoch {
    /// Reads the epoch of a store.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn read(records: &dyn Records) -> Result<Self, Corrupt> {
        let Some(stored) = records.read(EPOCH)? else { return Ok(Self::default()) };
        Self::decode(&stored).ok_or(Corrupt::Record("epoch"))
    }

    /// Returns the epoch after a restore.
    #[must_use]
    pub fn next(self, begun: Millis) -> Self {
        let seconds = u32::try_from(begun / 1000).unwrap_or(u32::MAX);
        Self { number: seconds.max(self.number.saturating_add(1)), begun, is_held: true }
    }

    /// Returns the same epoch of a store that accepts changes from now on. The clock may have been behind until now.
    #[must_use]
    pub fn released(self, now: Millis) -> Self {
        Self { is_held: false, begun: self.begun.max(now), ..self }
    }

    /// Returns the same epoch after a clock that was ahead was corrected. The clock may be behind now, so the store waits to be
    /// released again, which raises the time.
    #[must_use]
    pub fn begun_by(self, now: Millis) -> Self {
        Self { begun: self.begun.min(now), is_held: true, ..self }
    }

    /// Returns the write that stores the epoch.
    pub fn write(self) -> Write {
        let Self { number, begun, is_held } = self;
        let mut encoded = vec![FORMAT];
        encoded.extend_from_slice(&number.to_be_bytes());
        encoded.extend_from_slice(&begun.to_be_bytes());
        encoded.push(u8::from(is_held));
        Write::mark(EPOCH.to_vec(), &encoded)
    }

    fn decode(stored: &[u8]) -> Option<Self> {
        let (format, rest) = stored.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (begun, rest) = rest.split_first_chunk()?;
        let &[is_held @ (0 | 1)] = rest else { return None };
        let epoch = Self {
            number: u32::from_be_bytes(*number),
            begun: Millis::from_be_bytes(*begun),
            is_held: is_held == 1,
        };
        (*format == FORMAT).then_some(epoch)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn an_epoch_is_read_as_it_was_written() {
        let epoch = Epoch::default().next(1_780_000_000_000);
        let stored = epoch.write().value.unwrap();
        // This version stores it so.
        assert_eq!(const_hex::encode(&*stored), "016a18a5000000019e7044880001");
        assert_eq!(Epoch::decode(&stored), Some(epoch));
        assert_eq!(Epoch::decode(&epoch.released(5).write().value.unwrap()), Some(epoch.released(5)));
        for length in 0..stored.len() {
            assert_eq!(Epoch::decode(stored.get(..length).unwrap()), None);
        }
        // Another restore of the same backup begins a later epoch, also if the clock was set back.
        assert_eq!(Epoch::default().next(1_780_000_001_000).number, epoch.number + 1);
        assert_eq!(epoch.released(5).next(7).number, epoch.number + 1);
        assert_eq!(epoch.released(5).begun, epoch.begun);
        assert_eq!((epoch.released(epoch.begun + 1).begun, epoch.begun_by(9).begun), (epoch.begun + 1, 9));
    }
}
