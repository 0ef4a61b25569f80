//! The entries of a backup: records, and changes of records.

use super::{BackupError, FRAME};
use crate::store::LONGEST_VALUE;

/// First byte of a record that exists.
const PUT: u8 = 1;
/// First byte of a record that was removed.
const REMOVED: u8 = 2;
/// Maximum length of a key, in bytes.
const LONGEST_KEY: usize = 4096;
/// Maximum length of a value in a store of any version, in bytes.
const LONGEST: usize = 16 * LONGEST_VALUE;

/// A record as it is stored, or its removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Key of the record.
    pub key: Vec<u8>,
    /// Value of the record; `None` if it was removed.
    pub value: Option<Vec<u8>>,
}

impl Entry {
    /// Returns the length of the encoding.
    pub(super) fn length(&self) -> usize {
        let value = self.value.as_ref().map_or(0, |value| value.len().saturating_add(4));
        self.key.len().saturating_add(5).saturating_add(value)
    }

    /// Appends the encoding: a byte, the length of the key (4 bytes, big-endian) and the key. The length of the value and the
    /// value follow, if there is one.
    pub(super) fn encode(&self, to: &mut Vec<u8>) {
        to.push(if self.value.is_some() { PUT } else { REMOVED });
        for part in std::iter::once(&self.key).chain(&self.value) {
            to.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
            to.extend_from_slice(part);
        }
    }

    /// Decodes the first entry. Returns it and its length, or `None` if more bytes are needed.
    pub(super) fn decode(bytes: &[u8]) -> Result<Option<(Self, usize)>, BackupError> {
        const DAMAGED: BackupError = BackupError::Damaged("an entry cannot be read");
        let Some((kind, rest)) = bytes.split_first() else { return Ok(None) };
        let has_value = match *kind {
            PUT => true,
            REMOVED => false,
            _ => return Err(DAMAGED),
        };
        let Some((key, mut rest)) = part(rest, LONGEST_KEY)? else { return Ok(None) };
        let mut value = None;
        if has_value {
            let Some((found, after)) = part(rest, LONGEST)? else { return Ok(None) };
            (value, rest) = (Some(found.to_vec()), after);
        }
        Ok(Some((Self { key: key.to_vec(), value }, bytes.len().saturating_sub(rest.len()))))
    }
}

/// A part, and the rest.
type Parts<'b> = (&'b [u8], &'b [u8]);

/// Splits a part with its length before it from the rest.
fn part(bytes: &[u8], longest: usize) -> Result<Option<Parts<'_>>, BackupError> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > longest {
        return Err(BackupError::Damaged("an entry is too long"));
    }
    Ok(rest.split_at_checked(length))
}

const _: () = assert!(LONGEST_KEY + LONGEST + 9 <= FRAME, "an entry is shorter than a frame");
