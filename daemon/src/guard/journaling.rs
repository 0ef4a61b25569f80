//! The journal beside the guard: which changes of organizations were recorded in it.

use std::path::Path;

use quorate_common::console::custody::JournalStatus;
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout;

use super::loaded::LoadedState;
use super::{Guard, GuardError};
use crate::barrier::Barrier;
use crate::journal::{Journal, Known, new_number};
use crate::store::Batch;

/// Whether changes of organizations are recorded in a journal.
#[derive(Default)]
pub(super) enum Journaling {
    /// They never were.
    #[default]
    Never,
    /// They were. The register gets this number with the first change, to show that changes are missing in the journal.
    Ended(u64),
    /// They are.
    On(Box<Journal>),
}

impl Journaling {
    /// Returns the number that the register of the newest frame gets with the next change of an organization.
    pub(super) fn next(&self) -> Result<Option<u64>, Corrupt> {
        match self {
            Self::Never => Ok(None),
            Self::Ended(number) => Ok(Some(*number)),
            Self::On(_) => new_number().map(Some),
        }
    }

    /// Returns the journal, if there is one.
    pub(super) fn journal(&mut self) -> Option<&mut Journal> {
        match self {
            Self::On(journal) => Some(journal),
            Self::Never | Self::Ended(_) => None,
        }
    }
}

/// Checks that the store has all changes of the journal of its epoch. Writes nothing.
///
/// # Errors
/// Returns an error if it has not, or if the guard file or the journal cannot be read.
pub fn check_journal(path: &Path, barrier: &Barrier, journal: &Path, epoch: u32) -> Result<(), GuardError> {
    let slot = LoadedState::read(path, barrier, false)?.slot;
    let committed = barrier.store().register(&layout::journal(slot.key_part()))?;
    Ok(Journal::check_all_committed(journal, barrier, Known { daemon: slot.key_part(), epoch, committed })?)
}

impl Guard {
    /// Records the changes of organizations in a journal from now on; without a path, records that they are not.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, or the journal is not the one of this daemon and this state of the store.
    pub fn open_journal(
        &self,
        path: Option<&Path>,
        barrier: &Barrier,
        epoch: u32,
        now: Millis,
    ) -> Result<(), GuardError> {
        let daemon = self.state().slot.key_part().to_vec();
        let register = layout::journal(&daemon);
        let committed = barrier.store().register(&register)?;
        let Some(path) = path else {
            self.state().journal =
                if committed == 0 { Journaling::Never } else { Journaling::Ended(new_number()?) };
            return Ok(());
        };
        let known = Known { daemon: &daemon, epoch, committed };
        let (mut journal, begin) = Journal::open(path, barrier, known, now)?;
        if let Some(number) = begin {
            let (expect, set) = (vec![(register.clone(), committed)], vec![(register, number)]);
            self.commit(barrier, now, Batch { expect, set, ..Batch::default() })?;
            journal.resume(barrier, number)?;
        }
        self.state().journal = Journaling::On(Box::new(journal));
        Ok(())
    }

    /// Makes changes of a journal void that the store does not have.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, or the journal cannot be read or written.
    pub fn void_journal(&self, path: &Path, barrier: &Barrier) -> Result<(), GuardError> {
        let committed = barrier.store().register(&layout::journal(self.state().slot.key_part()))?;
        Ok(Journal::void_after(path, barrier, committed)?)
    }

    /// Returns whether changes of organizations are accepted: the journal can be written, or there is none.
    pub fn accepts_changes(&self, barrier: &Barrier) -> bool {
        self.state().journal.journal().is_none_or(|journal| journal.is_usable(barrier))
    }

    /// Records that nothing of the last group was committed.
    pub fn abandon_group(&self, barrier: &Barrier) {
        if let Some(journal) = self.state().journal.journal() {
            journal.abandon(barrier);
        }
    }

    /// Returns the state of the journal; `None` if there is none.
    pub fn journal(&self, barrier: &Barrier) -> Option<JournalStatus> {
        let mut state = self.state();
        let journal = state.journal.journal()?;
        let failure = journal.failure(barrier).map(str::to_owned);
        Some(JournalStatus { newest: journal.changed(), failure })
    }
}
