//! The contents of a frame.

use quorate_common::activity_log::LogHash;
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::OrganizationChange;

/// First byte of the encoding, which postcard follows.
const VERSION: u8 = 1;
const UNREADABLE: Corrupt = Corrupt::Record("frame of a journal");

/// The changes of one group. Nothing of it is copied, since the values contain secrets.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame<'f> {
    /// Number of the frame. Numbers ascend, except that a group which is committed again after a failure has the same.
    pub number: u64,
    /// Number of the newest committed frame before this one. Those in between were not committed.
    pub previous: u64,
    /// Time of the group, in milliseconds since 1970.
    pub time: Millis,
    /// The changes in their order. Without any, the frame only states what was not committed.
    #[serde(borrow)]
    pub changes: Vec<FrameChange<'f>>,
}

/// An [`OrganizationChange`].
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameChange<'f> {
    /// Versions of organizations before the change, by the keys of their registers.
    #[serde(borrow)]
    pub expect: Vec<(&'f [u8], u64)>,
    /// Versions of organizations after the change.
    #[serde(borrow)]
    pub set: Vec<(&'f [u8], u64)>,
    /// Records that are written, and those that are removed.
    #[serde(borrow)]
    pub writes: Vec<(&'f [u8], Option<&'f [u8]>)>,
    /// Entries of the activity log.
    pub entries: Vec<LogHash>,
}

impl<'f> From<&'f OrganizationChange> for FrameChange<'f> {
    fn from(change: &'f OrganizationChange) -> Self {
        let registers = |(key, version): &'f (Vec<u8>, u64)| (key.as_slice(), *version);
        let value = |value: &'f Zeroizing<Vec<u8>>| value.as_slice();
        Self {
            expect: change.expect.iter().map(registers).collect(),
            set: change.set.iter().map(registers).collect(),
            writes: change
                .writes
                .iter()
                .map(|write| (write.key.as_slice(), write.value.as_ref().map(value)))
                .collect(),
            entries: change.entries.clone(),
        }
    }
}

impl<'f> Frame<'f> {
    /// Encodes the frame.
    ///
    /// # Errors
    /// Returns an error if it cannot be encoded.
    pub(super) fn encode(&self) -> Result<Zeroizing<Vec<u8>>, Corrupt> {
        const FAILED: Corrupt = Corrupt::Invariant("a frame of the journal cannot be encoded");
        let length = postcard::experimental::serialized_size(self).map_err(|_| FAILED)?;
        // A growing buffer would leave copies of secrets in memory that are not wiped.
        let mut bytes = Zeroizing::new(vec![0; length.saturating_add(1)]);
        let (version, rest) = bytes.split_first_mut().ok_or(FAILED)?;
        *version = VERSION;
        postcard::to_slice(self, rest).map_err(|_| FAILED)?;
        Ok(bytes)
    }

    /// Decodes a frame.
    ///
    /// # Errors
    /// Returns an error if it was encoded by a newer version.
    pub fn decode(bytes: &'f [u8]) -> Result<Self, Corrupt> {
        match bytes.split_first() {
            Some((&VERSION, rest)) => match postcard::take_from_bytes(rest) {
                Ok((frame, [])) => Ok(frame),
                _ => Err(UNREADABLE),
            },
            _ => Err(UNREADABLE),
        }
    }
}
