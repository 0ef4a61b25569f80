//! A group with its mark, the entries that it adds to the activity log, and the changes that it records in the journal.

use quorate_common::activity_log::LogHash;
use quorate_core::activity_log;
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout::{self, log};
use quorate_core::model::write::Write;

use super::Guard;
use super::mark::Stored;
use super::state::{Pending, State};
use crate::backup;
use crate::barrier::{self, Barrier};
use crate::journal::OrganizationChange;
use crate::store::{Batch, BatchOutcome, Change, Changed, ExtraRecords, Group, StoreError};

/// Creates the mark that is written with a group.
pub struct GroupMark<'g> {
    guard: &'g Guard,
    barrier: &'g Barrier,
    time: Millis,
    /// Term before the mark is sealed.
    term: u32,
    /// Write of the run; `None` once a durable group has stored it.
    run: Option<Batch>,
    /// Entries that each batch adds to the activity log.
    entries: Vec<&'g [LogHash]>,
    /// Changes of organizations that are recorded in the journal, each with the position of its batch.
    changes: Vec<(usize, OrganizationChange)>,
    /// Number of the frame of the journal.
    frame: u64,
}

impl<'g> GroupMark<'g> {
    /// Creates the mark of a group at this time, in this term.
    pub(super) const fn new(
        guard: &'g Guard,
        barrier: &'g Barrier,
        (time, term): (Millis, u32),
        run: Option<Batch>,
    ) -> Self {
        Self { guard, barrier, time, term, run, entries: Vec::new(), changes: Vec::new(), frame: 0 }
    }

    /// Adds these entries to the activity log, as far as their batches are committed.
    #[must_use]
    pub fn with_entries(self, entries: Vec<&'g [LogHash]>) -> Self {
        Self { entries, ..self }
    }

    /// Records the changes of organizations among these batches in the journal, as far as they are committed. Must be called
    /// before [`Self::group`] with the same batches.
    ///
    /// # Errors
    /// Returns an error if a value cannot be decrypted.
    pub fn with_journal(mut self, batches: &mut [Batch]) -> Result<Self, Corrupt> {
        if !batches.iter().any(OrganizationChange::is_in) {
            return Ok(self);
        }
        let (number, is_on, register) = {
            let mut state = self.guard.state();
            (state.journal.next()?, state.journal.journal().is_some(), layout::journal(state.slot.key_part()))
        };
        let Some(number) = number else { return Ok(self) };
        self.frame = number;
        for (position, batch) in batches.iter_mut().enumerate() {
            if !OrganizationChange::is_in(batch) {
                continue;
            }
            if is_on {
                let entries = self.entries.get(position).copied().unwrap_or_default();
                self.changes.push((position, OrganizationChange::of(batch, entries, self.barrier)?));
            }
            batch.set.push((register.clone(), number));
        }
        Ok(self)
    }

    /// Records what is committed of the changes of organizations.
    fn journal(&self, state: &mut State, outcomes: &[BatchOutcome]) -> Result<(), StoreError> {
        if let Some(journal) = state.journal.journal() {
            // The group may be tried again.
            journal.forget_attempt();
        }
        let is_done = |(position, _): &&(usize, _)| outcomes.get(*position) == Some(&BatchOutcome::Done);
        let done: Vec<_> = self.changes.iter().filter(is_done).map(|(_, change)| change).collect();
        let Some(journal) = state.journal.journal().filter(|_| !done.is_empty()) else { return Ok(()) };
        let added = journal.add(self.barrier, self.frame, self.time, &done);
        added.map_err(|error| StoreError::Journal(error.to_string()))
    }

    /// Returns the record of the entries of a group; `None` if it has none.
    fn logged(&self, state: &State, outcomes: &[BatchOutcome]) -> Option<Write> {
        let done = self.entries.iter().zip(outcomes).filter(|(_, outcome)| **outcome == BatchOutcome::Done);
        let mut entries = done.flat_map(|(entries, _)| entries.iter()).peekable();
        entries.peek()?;
        let key = log::waiting(state.slot.key_part(), state.next(self.time).number);
        Some(Write::mark_new(key, &activity_log::encode_waiting(entries)))
    }

    /// Returns a group of these batches. A batch is added if the run is not stored yet.
    pub fn group(&self, mut batches: Vec<Batch>) -> Group<'_> {
        batches.extend(self.run.clone());
        let oldest = batches.iter().filter_map(barrier::oldest_term).min();
        let term = Some(oldest.map_or(self.term, |oldest| oldest.min(self.term)));
        Group { batches, extra: Some(self), term, ..Group::default() }
    }
}

impl ExtraRecords for GroupMark<'_> {
    fn records(
        &self,
        outcomes: &[BatchOutcome],
        changed: &mut dyn Iterator<Item = Changed<'_>>,
    ) -> Result<Vec<Change>, StoreError> {
        let failed = |corrupt: Corrupt| StoreError::Failed {
            doing: "creating the mark of a group",
            cause: corrupt.to_string(),
        };
        let mut state = self.guard.state();
        let logged = self.logged(&state, outcomes).into_iter().collect();
        let mut records = self.barrier.seal(logged).map_err(failed)?;
        let is_recorded = state.recorder().is_some();
        let mut pending = Pending::default();
        let mut add = |changed: Changed<'_>| {
            pending.add(changed, state.comparison.as_ref(), self.barrier, is_recorded);
        };
        changed.for_each(&mut add);
        for Change { key, value, .. } in &records {
            add(Changed { key, before: None, after: value.as_deref() });
        }
        let stored = Stored { mark: state.next(self.time), digest: state.digest.toggled(pending.all) };
        let sealed = self.barrier.seal(vec![Write::mark(state.slot.mark(), &stored.encode())]);
        if let (true, Ok(marks)) = (is_recorded, &sealed) {
            let entry = |mark: &Change| backup::Entry { key: mark.key.clone(), value: mark.value.clone() };
            pending.entries.extend(marks.iter().map(entry));
        }
        state.pending = pending;
        records.extend(sealed.map_err(failed)?);
        self.journal(&mut state, outcomes)?;
        Ok(records)
    }
}
