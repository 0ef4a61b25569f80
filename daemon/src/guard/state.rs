//! State of the guard of a running daemon: its newest mark, and the digest over all records.

use std::path::Path;
use std::sync::{Arc, Weak};

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout;
use quorate_core::model::write::Write;

use super::comparison::Comparison;
use super::file::{self, Entry, GuardFile};
use super::journaling::Journaling;
use super::loaded::lost;
use super::mark::{self, Mark, RunId, Runs, Stored, StoredDigest};
use super::slot::{self, Slot};
use super::{GuardError, IndexState};
use crate::backup::{self, Recorder};
use crate::barrier::Barrier;
use crate::digest::StoreDigest;
use crate::store::{Batch, Changed};

/// State of the guard of a running daemon.
pub(super) struct State {
    pub(super) file: GuardFile,
    /// Where this daemon keeps its mark and its runs.
    pub(super) slot: Slot,
    /// Mark of the newest durable group, which may be from the previous run.
    pub(super) mark: Mark,
    run: RunId,
    runs: Runs,
    /// Whether a durable group has stored the run.
    pub(super) is_stored: bool,
    /// State of the index of waiting activities when the run began.
    index: IndexState,
    /// The digest over all records, or over what this daemon added and removed if others share the store.
    pub(super) digest: StoredDigest,
    /// The digest over what other daemons had added and removed when the run began.
    pub(super) others: StoredDigest,
    /// Whether the store records that its records are altered.
    pub(super) is_alteration_stored: bool,
    /// The comparison of the records with the digest, until it has ended.
    pub(super) comparison: Option<Comparison>,
    /// Whether a record was unreadable before the store was reopened.
    pub(super) was_unreadable: bool,
    /// Effect of a group that is not durable yet on both digests.
    pub(super) pending: Pending,
    /// Records the changes of durable groups for a backup, if one is being written.
    pub(super) recorder: Option<Weak<Recorder>>,
    /// Whether changes of organizations are recorded in a journal.
    pub(super) journal: Journaling,
}

/// Effect of a group on the digest over all records, and on the digest over the records compared so far.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) all: StoreDigest,
    pub(super) compared: StoreDigest,
    /// Changes of the group, if they are recorded.
    pub(super) entries: Vec<backup::Entry>,
}

impl Pending {
    /// Adds a change of a record. The digest includes no marks.
    pub(super) fn add(
        &mut self,
        changed: Changed<'_>,
        comparison: Option<&Comparison>,
        barrier: &Barrier,
        is_recorded: bool,
    ) {
        let Changed { key, before, after } = changed;
        if is_recorded {
            let value = after.map(<[u8]>::to_vec);
            self.entries.push(backup::Entry { key: key.to_vec(), value });
        }
        if slot::is_mark(key) {
            return;
        }
        let was_compared = comparison.is_some_and(|comparison| comparison.includes(key));
        for value in [before, after].into_iter().flatten() {
            let digest = barrier.vault().digests().of(key, value);
            self.all.toggle(digest);
            if was_compared {
                self.compared.toggle(digest);
            }
        }
    }
}

impl State {
    /// Returns the state at the start of a run, with nothing compared yet.
    pub(super) fn new(
        (file, slot): (GuardFile, Slot),
        mark: Mark,
        (digest, others): (StoredDigest, StoredDigest),
        (run, runs): (RunId, Runs),
        index: IndexState,
    ) -> Self {
        Self {
            file,
            slot,
            mark,
            run,
            runs,
            is_stored: false,
            index,
            digest,
            others,
            is_alteration_stored: false,
            comparison: Some(Comparison::default()),
            was_unreadable: false,
            pending: Pending::default(),
            recorder: None,
            journal: Journaling::default(),
        }
    }

    /// Returns the recorder of the backup that is being written.
    pub(super) fn recorder(&self) -> Option<Arc<Recorder>> {
        self.recorder.as_ref()?.upgrade()
    }

    /// Creates or replaces the guard file.
    pub(super) fn create_file(&self, path: &Path, barrier: &Barrier) -> Result<(), GuardError> {
        file::create(path, barrier, Entry { mark: self.mark, daemon: self.file.daemon() })
    }

    /// Opens the guard file again.
    pub(super) fn open_file(&mut self, path: &Path, barrier: &Barrier) -> Result<(), GuardError> {
        self.file = GuardFile::open(path, barrier, self.file.daemon())?;
        Ok(())
    }

    /// Returns the mark of the next group, at this time.
    pub(super) fn next(&self, now: Millis) -> Mark {
        self.mark.next(self.run, now)
    }

    /// Returns whether the index of waiting activities is outdated and no group has stored this yet.
    pub(super) fn is_index_outdated(&self) -> bool {
        self.index == IndexState::Outdated && !self.is_stored
    }

    /// Returns the batch that stores the runs, and that this version keeps the index of waiting activities up to date. An
    /// outdated index counts as incomplete from then on.
    pub(super) fn runs(&self, barrier: &Barrier) -> Result<Batch, Corrupt> {
        let indexed = Write::mark(self.slot.indexed(), &mark::encode_run(&self.run));
        let mut writes = vec![Write::mark(self.slot.runs(), &self.runs.encode()), indexed];
        if self.is_index_outdated() {
            writes.push(Write::remove(layout::waiting_is_complete(barrier.vault().index())));
        }
        Ok(Batch { writes: barrier.seal(writes)?, ..Batch::default() })
    }

    /// Checks that a reopened store has all acknowledged groups of this run and of the previous one, and none of another process that
    /// was this daemon meanwhile. A start knows the groups that such a process continued from.
    pub(super) fn check(&self, path: &Path, stored: Option<&Stored>) -> Result<(), GuardError> {
        let mark = stored.map(|stored| &stored.mark);
        if mark.map_or(0, |mark| mark.number) < self.mark.number {
            return Err(lost(path, mark, mark.map(|mark| mark.time), &self.mark));
        }
        let is_own = mark.is_none_or(|mark| [self.run, self.mark.run].contains(&mark.run));
        if is_own { Ok(()) } else { Err(GuardError::Continued(path.to_owned())) }
    }

    /// Continues after the newest group of the store. A finding that the records are altered is kept.
    pub(super) fn resume(&mut self, newest: Stored) {
        self.is_stored |= newest.mark.run == self.run;
        self.mark = Mark { time: self.mark.time.max(newest.mark.time), ..newest.mark };
        self.is_alteration_stored = newest.digest == StoredDigest::Altered;
        if self.digest != StoredDigest::Altered {
            self.digest = newest.digest;
        }
    }

    /// Applies the effects of the group that has become durable, at this time.
    pub(super) fn advance(&mut self, barrier: &Barrier, now: Millis) {
        let pending = std::mem::take(&mut self.pending);
        if let StoredDigest::Known(digest) = &mut self.digest {
            digest.toggle(pending.all);
        }
        if let Some(comparison) = &mut self.comparison {
            comparison.toggle(pending.compared);
        }
        if let Some(recorder) = self.recorder() {
            recorder.add(pending.entries);
        }
        if let Some(journal) = self.journal.journal() {
            journal.committed(barrier);
        }
        self.mark = self.next(now);
        self.is_stored = true;
    }
}
