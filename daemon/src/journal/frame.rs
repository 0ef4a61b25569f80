//! The contents of a frame.

use quorate_common::activity_log::LogHash;
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::write::Write;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{HeadDigest, Heads, OrganizationChange, Step};

/// First byte of the encoding, which postcard follows.
const VERSION: u8 = 1;
const UNREADABLE: Corrupt = Corrupt::Record("frame of a journal");

/// The changes of one group. Nothing of it is copied, since the values contain secrets.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame<'f> {
    /// Number of the frame, drawn at random. A group that is committed again after a failure has the same.
    pub number: u64,
    /// Number of the newest committed frame before this one; zero if there was none. Those in between were not committed.
    pub previous: u64,
    /// Time of the group, in milliseconds since 1970.
    pub time: Millis,
    /// The changes in their order. Without any, the frame only states which one is the newest committed.
    #[serde(borrow)]
    pub changes: Vec<FrameChange<'f>>,
}

/// An [`OrganizationChange`].
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameChange<'f> {
    /// The organizations with their versions.
    #[serde(borrow)]
    pub steps: Vec<FrameStep<'f>>,
    /// Records that are written, and those that are removed.
    #[serde(borrow)]
    pub writes: Vec<(&'f [u8], Option<&'f [u8]>)>,
    /// Entries of the activity log.
    pub entries: Vec<LogHash>,
}

/// A [`Step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameStep<'f> {
    /// Key of the register of the version.
    pub register: &'f [u8],
    /// Version before the change.
    pub from: u64,
    /// Version after the change.
    pub to: u64,
    /// Digest of the head before the change.
    pub head: Option<HeadDigest>,
}

impl<'f> FrameChange<'f> {
    /// Returns a change that was committed after those that leave these heads.
    pub(super) fn of(change: &'f OrganizationChange, heads: &Heads) -> Self {
        let step = |step: &'f Step| {
            let Step { register, from, to, .. } = step;
            FrameStep { register, from: *from, to: *to, head: heads.before(step) }
        };
        let value = |value: &'f Zeroizing<Vec<u8>>| value.as_slice();
        let write = |write: &'f Write| (write.key.as_slice(), write.value.as_ref().map(value));
        Self {
            steps: change.steps.iter().map(step).collect(),
            writes: change.writes.iter().map(write).collect(),
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
