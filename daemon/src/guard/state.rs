//! Where the guard of a running daemon has come: its newest mark, and the digest over all records.

use quorate_core::model::Millis;
use quorate_core::model::write::Write;
use quorate_core::refusal::Corrupt;

use super::RUNS;
use super::comparison::Comparison;
use super::file::GuardFile;
use super::mark::{Mark, RunId, Runs, Stored, StoredDigest};
use crate::barrier::Barrier;
use crate::digest::StoreDigest;
use crate::store::Batch;

/// Where the guard of a running daemon has come.
pub(super) struct State {
    pub(super) file: GuardFile,
    /// Of the newest group that is durable; it may be one of the run before.
    pub(super) mark: Mark,
    run: RunId,
    runs: Runs,
    /// Whether a durable group stored the run.
    pub(super) is_stored: bool,
    pub(super) digest: StoredDigest,
    /// Whether the store holds that the records are altered.
    pub(super) is_finding_stored: bool,
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
    pub(super) fn new(file: GuardFile, mark: Mark, digest: StoredDigest, run: RunId, runs: Runs) -> Self {
        Self {
            file,
            mark,
            run,
            runs,
            is_stored: false,
            digest,
            is_finding_stored: false,
            comparison: Some(Comparison::default()),
            was_unreadable: false,
            pending: Pending::default(),
        }
    }

    /// The mark of the next group, at this time.
    pub(super) fn next(&self, now: Millis) -> Mark {
        self.mark.next(self.run, now)
    }

    /// What stores the run.
    pub(super) fn runs(&self, barrier: &Barrier) -> Result<Batch, Corrupt> {
        let writes = barrier.seal(vec![Write::mark(RUNS.to_vec(), &self.runs.encode())])?;
        Ok(Batch { writes, ..Batch::default() })
    }

    /// Whether nothing was ever acknowledged.
    pub(super) fn is_new(&self) -> bool {
        self.mark.number == 0
    }

    /// Whether a run is this one, or that of the newest group.
    pub(super) fn knows(&self, run: RunId) -> bool {
        run == self.run || run == self.mark.run
    }

    /// Continues after the newest group of the store. That the records are altered stays found.
    pub(super) fn resume(&mut self, newest: Stored) {
        self.is_stored |= newest.mark.run == self.run;
        self.mark = Mark { time: self.mark.time.max(newest.mark.time), ..newest.mark };
        self.is_finding_stored = newest.digest == StoredDigest::Altered;
        if self.digest != StoredDigest::Altered {
            self.digest = newest.digest;
        }
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
        self.mark = self.next(now);
        self.is_stored = true;
    }
}
