//! Where the guard of a running daemon has come: its newest mark, and the digest over all records.

use quorate_core::model::Millis;

use super::comparison::Comparison;
use super::file::GuardFile;
use super::mark::{Mark, StoredDigest};
use crate::digest::StoreDigest;

/// Where the guard of a running daemon has come.
pub(super) struct State {
    pub(super) file: GuardFile,
    /// Of the newest group that is durable.
    pub(super) mark: Mark,
    pub(super) digest: StoredDigest,
    /// The comparison of the digest with the records, until it is over.
    pub(super) comparison: Option<Comparison>,
    /// Whether a record could not be read before the store was reopened.
    pub(super) was_unreadable: bool,
    /// What a group that is not durable yet does to both.
    pub(super) pending: Pending,
}

/// What a group does to the digest over all records, and to that over the records that were compared.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) all: StoreDigest,
    pub(super) compared: StoreDigest,
}

impl State {
    /// At the start of a run: nothing is compared yet.
    pub(super) fn new(file: GuardFile, mark: Mark, digest: StoredDigest) -> Self {
        let comparison = Some(Comparison::default());
        Self { file, mark, digest, comparison, was_unreadable: false, pending: Pending::default() }
    }

    /// Takes in what the group did that is durable now, at this time.
    pub(super) fn advance(&mut self, now: Millis) {
        let pending = std::mem::take(&mut self.pending);
        if let StoredDigest::Known(digest) = &mut self.digest {
            digest.toggle(pending.all);
        }
        if let Some(comparison) = &mut self.comparison {
            comparison.toggle(pending.compared);
        }
        self.mark = self.mark.next(now);
    }
}
