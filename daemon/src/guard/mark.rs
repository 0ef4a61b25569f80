//! Marks and runs: how far a store has advanced.

use quorate_core::model::Millis;

use crate::digest::StoreDigest;

/// Version of the stored format of marks and runs.
const VERSION: u8 = 1;
/// Maximum number of runs that the store keeps.
const MAX_RUNS: usize = 256;

/// Id of a run of the daemon.
pub(super) type RunId = [u8; 16];

/// Identifies a group of the store. The store holds the mark of its newest group; the guard file holds the
/// mark of the newest acknowledged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) run: RunId,
    pub(super) number: u64,
    /// Newest time that the daemon has seen, in milliseconds since 1970.
    pub(super) time: Millis,
}

/// Encodes the id of a run as a record of its own.
pub(super) fn encode_run(run: &RunId) -> Vec<u8> {
    [[VERSION].as_slice(), run].concat()
}

impl Mark {
    pub(super) const LENGTH: usize = 1 + 16 + 8 + 8;

    /// Returns the mark of the next group, in this run and at this time.
    pub(super) fn next(self, run: RunId, now: Millis) -> Self {
        Self { run, number: self.number.saturating_add(1), time: self.time.max(now) }
    }

    /// Returns the key that sorts marks from old to new.
    pub(super) const fn order(&self) -> (u64, Millis) {
        (self.number, self.time)
    }

    pub(super) fn encode(self) -> Vec<u8> {
        let parts: [&[u8]; 4] = [&[VERSION], &self.run, &self.number.to_be_bytes(), &self.time.to_be_bytes()];
        parts.concat()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let (run, rest) = rest.split_first_chunk::<16>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let time = rest.try_into().ok().map(u64::from_be_bytes)?;
        (*version == VERSION).then(|| Self { run: *run, number: u64::from_be_bytes(*number), time })
    }
}

/// The digest over all records of a store except its mark, as stored in the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum StoredDigest {
    /// No digest yet: a new store, a store of an earlier version, or one whose loss was accepted.
    #[default]
    Unknown,
    /// The digest as of the newest group.
    Known(StoreDigest),
    /// The records were found not to match their digest.
    Altered,
}

impl StoredDigest {
    /// Returns the digest after these records were added or removed.
    pub(super) fn toggled(self, records: StoreDigest) -> Self {
        match self {
            Self::Known(mut digest) => {
                digest.toggle(records);
                Self::Known(digest)
            }
            other => other,
        }
    }
}

/// The newest group of a store, as recorded in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) mark: Mark,
    pub(super) digest: StoredDigest,
}

/// Suffix of the mark of a store whose records were found to be altered.
const ALTERED: &[u8] = b"altered";

impl Stored {
    /// Encodes the mark, followed by the 32 bytes of the digest, by `altered`, or by nothing.
    pub(super) fn encode(self) -> Vec<u8> {
        let mut bytes = self.mark.encode();
        match self.digest {
            StoredDigest::Unknown => {}
            StoredDigest::Known(digest) => bytes.extend_from_slice(&digest.0),
            StoredDigest::Altered => bytes.extend_from_slice(ALTERED),
        }
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (mark, rest) = bytes.split_at_checked(Mark::LENGTH)?;
        let digest = match rest {
            [] => StoredDigest::Unknown,
            ALTERED => StoredDigest::Altered,
            rest => StoredDigest::Known(StoreDigest(rest.try_into().ok()?)),
        };
        Some(Self { mark: Mark::decode(mark)?, digest })
    }
}

/// The runs of a store, oldest first, with the number of their first group.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(Vec<(RunId, u64)>);

impl Runs {
    pub(super) fn encode(&self) -> Vec<u8> {
        let rows = self.0.iter().flat_map(|(run, first)| run.iter().copied().chain(first.to_be_bytes()));
        std::iter::once(VERSION).chain(rows).collect()
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&[VERSION])?;
        let (rows, []) = rest.as_chunks::<24>() else { return None };
        let row = |row: &[u8; 24]| {
            let (run, first) = row.split_first_chunk::<16>()?;
            Some((*run, u64::from_be_bytes(first.try_into().ok()?)))
        };
        rows.iter().map(row).collect::<Option<_>>().map(Self)
    }

    /// Returns the number of the last group of a run, in a store whose newest group has the number `newest`.
    pub(super) fn last_of(&self, run: &RunId, newest: u64) -> Option<u64> {
        let position = self.0.iter().position(|(known, _)| known == run)?;
        let next = self.0.get(position.checked_add(1)?);
        Some(next.map_or(newest, |(_, first)| first.saturating_sub(1)))
    }

    /// Returns whether this is one of the runs.
    pub(super) fn contains(&self, run: &RunId) -> bool {
        self.0.iter().any(|(known, _)| known == run)
    }

    /// Returns whether the newest run is the one in a record of [`encode_run`]. Without any run, there is no record.
    pub(super) fn ends_with(&self, record: Option<&[u8]>) -> bool {
        self.0.last().map(|(run, _)| encode_run(run)).as_deref() == record
    }

    pub(super) fn begin(&mut self, run: RunId, first: u64) {
        let surplus = self.0.len().saturating_add(1).saturating_sub(MAX_RUNS);
        self.0.drain(..surplus.min(self.0.len()));
        self.0.push((run, first));
    }
}
