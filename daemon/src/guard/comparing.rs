//! The comparison of the records with the digest, while the daemon runs.

use std::time::{Duration, Instant};

use super::mark::StoredDigest;
use super::{Guard, GuardError, slot};
use crate::barrier::Barrier;
use crate::store::StoreError;

impl Guard {
    /// Returns whether the comparison of the records with the digest is still running.
    pub fn is_comparing(&self) -> bool {
        self.state().comparison.is_some()
    }

    /// Ends the comparison at the end of the process. The next start begins it again.
    pub fn stop_comparing(&self) {
        self.state().comparison = None;
    }

    /// Continues the comparison of the records with the digest, briefly. Nothing may be committed meanwhile.
    ///
    /// # Errors
    /// Returns [`GuardError::Altered`] if they differ, which is recorded, and an error if the store fails.
    pub fn compare(&self, barrier: &Barrier) -> Result<(), GuardError> {
        let mut state = self.state();
        let Some(comparison) = &mut state.comparison else { return Ok(()) };
        let digest = match comparison.read_more(barrier) {
            Ok(None) => return Ok(()),
            Ok(Some(digest)) => digest,
            // The first such error may disappear when the store is reopened; this is the second one.
            Err(error @ GuardError::Store(StoreError::Failed { .. })) if state.was_unreadable => {
                state.comparison = None;
                drop(state);
                tracing::error!(cause = %error, "a record of the store cannot be read");
                return self.conclude(barrier, StoredDigest::Altered);
            }
            Err(error) => {
                state.was_unreadable |= matches!(error, GuardError::Store(StoreError::Failed { .. }));
                return Err(error);
            }
        };
        let of_moment = comparison.of_moment();
        let expected = of_moment.unwrap_or_else(|| slot::combined([state.digest, state.others]));
        state.comparison = None;
        let known = match expected {
            StoredDigest::Known(expected) if expected == digest => return Ok(()),
            // The rest is what this daemon added and removed.
            StoredDigest::Unknown => state.others.toggled(digest),
            StoredDigest::Known(_) | StoredDigest::Altered => StoredDigest::Altered,
        };
        drop(state);
        self.conclude(barrier, known)
    }

    /// Stores the result of a comparison in a group of its own. An earlier mark, without the result, is then
    /// older than the guard file.
    fn conclude(&self, barrier: &Barrier, digest: StoredDigest) -> Result<(), GuardError> {
        let mut state = self.state();
        state.digest = digest;
        let (time, runs) = (state.mark.time, state.runs(barrier)?);
        drop(state);
        let stored = barrier.store().commit(&self.mark(barrier, time)?.group(vec![runs]));
        self.state().is_alteration_stored = stored.is_ok() && digest == StoredDigest::Altered;
        let stored = stored.map_err(GuardError::from).and_then(|_| self.advance(barrier, time));
        match (stored, digest) {
            (_, StoredDigest::Altered) => Err(GuardError::Altered),
            // The next group stores it.
            (Ok(()), _) => Ok(()),
            (Err(GuardError::Store(error)), _) if error.is_full() => Ok(()),
            (Err(error), _) => Err(error),
        }
    }

    /// Stores the finding that the records were altered, if that failed before.
    pub fn store_alteration(&self, barrier: &Barrier) {
        let state = self.state();
        let is_due = state.digest == StoredDigest::Altered && !state.is_alteration_stored;
        drop(state);
        if is_due {
            // The result is known already; a failure is retried later.
            let _ = self.conclude(barrier, StoredDigest::Altered);
        }
    }

    /// Compares until the digest over all records is known, if others may share the store from then on. Nobody else may use it
    /// yet.
    ///
    /// # Errors
    /// See [`Self::compare`].
    pub fn compare_until_known(&self, barrier: &Barrier) -> Result<(), GuardError> {
        let is_unknown = || self.state().digest == StoredDigest::Unknown && self.is_comparing();
        while barrier.store().is_remote() && is_unknown() {
            self.compare(barrier)?;
        }
        Ok(())
    }

    /// Runs [`Self::compare`] repeatedly, until the comparison has ended or `time` has passed.
    ///
    /// # Errors
    /// See [`Self::compare`].
    pub fn compare_for(&self, barrier: &Barrier, time: Duration) -> Result<(), GuardError> {
        let until = Instant::now() + time;
        while self.is_comparing() && Instant::now() < until {
            self.compare(barrier)?;
        }
        Ok(())
    }
}
