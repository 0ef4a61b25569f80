//! Where a daemon keeps its mark and its runs. Daemons that share a store have a place each, so that none waits for another
//! one to commit.

use quorate_core::error::Corrupt;
use quorate_core::world::{Page, Records};

use super::mark::{RunId, Runs, Stored, StoredDigest};
use super::{INDEXED, MARK, RUNS};
use crate::barrier::Barrier;
use crate::digest::StoreDigest;

/// Maximum number of daemons that ever shared a store.
const MOST: usize = 4096;

/// The place of a daemon. Without an id, it is that of the only daemon of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slot(pub(super) Option<RunId>);

impl Slot {
    /// Returns the place of the daemon with this id.
    pub(super) fn of(id: RunId) -> Self {
        Self((id != RunId::default()).then_some(id))
    }

    /// Returns the id of the daemon, which consists of zeros for the only daemon of a store.
    pub(super) fn id(self) -> RunId {
        self.0.unwrap_or_default()
    }

    fn key(self, prefix: &[u8]) -> Vec<u8> {
        [prefix, self.key_part()].concat()
    }

    /// Returns what the keys of the records of the daemon contain.
    pub(super) fn key_part(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], RunId::as_slice)
    }

    /// Returns the key of the mark.
    pub(super) fn mark(self) -> Vec<u8> {
        self.key(MARK)
    }

    /// Returns the key of the list of runs.
    pub(super) fn runs(self) -> Vec<u8> {
        self.key(RUNS)
    }

    /// Returns the key of the newest run that kept the index of waiting activities up to date.
    pub(super) fn indexed(self) -> Vec<u8> {
        self.key(INDEXED)
    }

    /// Returns the slot of a mark with this key.
    fn of_mark(key: &[u8]) -> Option<Self> {
        match key.strip_prefix(MARK)? {
            [] => Some(Self(None)),
            id => Some(Self(Some(id.try_into().ok()?))),
        }
    }
}

/// Returns whether a record with this key is a mark, which the digest over all records does not include.
pub(super) fn is_mark(key: &[u8]) -> bool {
    Slot::of_mark(key).is_some()
}

/// What a daemon stored about itself.
pub(super) struct Occupied {
    pub(super) slot: Slot,
    pub(super) stored: Stored,
    pub(super) runs: Runs,
    /// Whether its newest run kept the index of waiting activities up to date.
    pub(super) is_indexed: bool,
}

impl Occupied {
    fn new(slot: Slot, stored: Stored, runs: Runs, indexed: Option<&[u8]>) -> Self {
        let is_indexed = runs.ends_with(indexed);
        Self { slot, stored, runs, is_indexed }
    }
}

/// Returns what the daemons that ever committed to a store keep.
pub(super) fn occupied(barrier: &Barrier) -> Result<Vec<Occupied>, Corrupt> {
    let damaged = || Corrupt::Record("guard");
    let occupied = |key: Vec<u8>| {
        let slot = Slot::of_mark(&key).ok_or_else(damaged)?;
        let stored = barrier.read(&key)?.and_then(|value| Stored::decode(&value)).ok_or_else(damaged)?;
        let runs =
            barrier.read(&slot.runs())?.map(|bytes| Runs::decode(&bytes).ok_or_else(damaged)).transpose()?;
        let indexed = barrier.read(&slot.indexed())?;
        Ok(Occupied::new(slot, stored, runs.unwrap_or_default(), indexed.as_deref()))
    };
    barrier.keys(Page::first(MARK, MOST))?.into_iter().map(occupied).collect()
}

/// Returns what can be read of [`occupied`].
pub(super) fn readable(barrier: &Barrier) -> Vec<Occupied> {
    let read = |key: &[u8]| barrier.read(key).ok().flatten();
    let occupied = |key: Vec<u8>| {
        let slot = Slot::of_mark(&key)?;
        let stored = Stored::decode(&read(&key)?)?;
        let runs = read(&slot.runs()).and_then(|bytes| Runs::decode(&bytes)).unwrap_or_default();
        Some(Occupied::new(slot, stored, runs, read(&slot.indexed()).as_deref()))
    };
    barrier.keys(Page::first(MARK, MOST)).unwrap_or_default().into_iter().filter_map(occupied).collect()
}

/// Returns the digest over all records, from what each daemon added and removed.
pub(super) fn combined(digests: impl IntoIterator<Item = StoredDigest>) -> StoredDigest {
    let none = StoredDigest::Known(StoreDigest::default());
    digests.into_iter().fold(none, |all, one| match (all, one) {
        (StoredDigest::Altered, _) | (_, StoredDigest::Altered) => StoredDigest::Altered,
        (all, StoredDigest::Known(digest)) => all.toggled(digest),
        (_, StoredDigest::Unknown) => StoredDigest::Unknown,
    })
}
