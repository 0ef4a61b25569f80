//! Terms of the sealing keys: begins the next one, seals values again with its key, and forgets the keys of earlier ones.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use quorate_common::console::custody::SealingKeyStatus;
use quorate_core::error::Corrupt;
use quorate_core::model::layout;
use quorate_core::model::write::Write;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::committer::CommitError;
use super::effects::Effects;
use super::{Commit, Executor};
use crate::barrier::{TERMS, is_part};
use crate::clock::now;
use crate::fail_points;
use crate::store::{Batch, Register, Row};
use crate::trailer::{Form, Trailer};
use crate::vault::{MOST_SEALINGS, Terms};

/// Number of bytes after which a step seals no further record again: 10 MiB in a second.
const STEP_BYTES: usize = 1024 * 1024;

/// Why a term cannot be begun or ended.
#[derive(Debug, thiserror::Error)]
pub enum TermError {
    /// The store does not accept the change.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The store cannot be read.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl Executor {
    /// Returns the terms, as far as this daemon knows them.
    ///
    /// # Errors
    /// Returns an error if they were not read before and cannot be read.
    pub fn terms(&self) -> Result<Arc<Terms>, Corrupt> {
        self.shared.barrier.terms()
    }

    /// Returns the state of the sealing keys.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn sealing_key(&self) -> Result<SealingKeyStatus, Corrupt> {
        let terms = self.terms()?;
        let counted = self.registers(&[layout::sealings(terms.newest())])?;
        Ok(SealingKeyStatus {
            term: terms.newest(),
            begun: terms.begun(),
            oldest_term: terms.oldest(),
            sealings: counted.first().copied().unwrap_or_default(),
            most_sealings: MOST_SEALINGS,
            sealed_again: self.shared.sealed_again.load(Ordering::Relaxed),
        })
    }

    /// Returns the number of values that this process has sealed.
    pub fn sealings(&self) -> u64 {
        self.shared.barrier.sealings()
    }

    /// Begins the term after `known`, unless that has begun. Its key seals from then on.
    ///
    /// # Errors
    /// Returns an error if the store does not accept it.
    pub async fn begin_term(&self, known: u32) -> Result<Arc<Terms>, TermError> {
        let barrier = &self.shared.barrier;
        let terms = barrier.load_terms()?;
        if terms.newest() != known {
            return Ok(terms);
        }
        let next = terms.with_next(now())?;
        let register = |term: u32| -> Vec<Register> { vec![(layout::newest_term(), u64::from(term))] };
        let batch = Batch {
            expect: register(known),
            set: register(next.newest()),
            writes: barrier.seal(vec![Write::of(TERMS.to_vec(), Some(next.encode()))])?,
            ..Batch::default()
        };
        fail_points::reach("term.begin");
        match self.committer.commit(batch, Effects::of_terms(), None).await {
            // After a clash, another daemon has begun it.
            Ok(()) | Err(CommitError::Clash) => {}
            Err(error) => return Err(error.into()),
        }
        fail_points::reach("term.begun");
        Ok(barrier.load_terms()?)
    }

    /// Ends all terms before the newest: when this returns, no daemon commits a value that was sealed in one of them.
    ///
    /// # Errors
    /// Returns an error if the store does not accept it.
    pub async fn end_earlier_terms(&self, terms: &Terms) -> Result<(), TermError> {
        let barrier = &self.shared.barrier;
        barrier.end_terms_before(terms.newest());
        barrier.store().end_terms_before(terms.newest()).map_err(|error| Corrupt::from(&error))?;
        // Groups in progress are durable afterwards.
        self.commit(Commit::default()).await?;
        // The mark of this daemon is sealed with each group only.
        self.commit_mark().await?;
        Ok(())
    }

    /// Returns whether a stored value must be sealed again, because an earlier key has sealed it.
    pub fn is_of_earlier_term(&self, (key, value): &Row, terms: &Terms) -> bool {
        let is_sealed = key.first() != Some(&layout::VERSIONS);
        let is_own_mark = || self.shared.guard.is_own_mark(key);
        // Parts are sealed with their record.
        is_sealed
            && !is_part(key)
            && Trailer::of(value).is_some_and(|one| one.form != Form::Wrapped && one.term < terms.newest())
            && !is_own_mark()
    }

    /// Seals records again, in their order, until they have too many bytes. Returns how many it considered, and how many of these
    /// it sealed. One that cannot be read, or changes meanwhile, is left as it is.
    ///
    /// # Errors
    /// Returns an error if the store does not accept a change, or the random source fails.
    pub async fn seal_again(&self, rows: &[Row]) -> Result<(usize, u64), TermError> {
        let barrier = &self.shared.barrier;
        let mut pending = Vec::with_capacity(rows.len());
        let (mut considered, mut bytes) = (0_usize, 0_usize);
        for (key, value) in rows {
            if bytes > STEP_BYTES {
                break;
            }
            considered = considered.saturating_add(1);
            let Ok(plain) = barrier.open(key, value).map(Zeroizing::new) else { continue };
            bytes = bytes.saturating_add(plain.len());
            let batch = Batch {
                must_equal: vec![(key.clone(), Sha256::digest(value).into())],
                writes: barrier.seal(vec![Write::of(key.clone(), Some(plain))])?,
                ..Batch::default()
            };
            pending.push(self.committer.commit(batch, Effects::default(), None));
        }
        let mut done = 0_u64;
        for commit in pending {
            match commit.await {
                Ok(()) => done = done.saturating_add(1),
                Err(CommitError::Clash) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((considered, done))
    }

    /// Forgets the keys of all terms before the newest. No value may need them.
    ///
    /// # Errors
    /// Returns an error if the store does not accept it. After [`CommitError::Clash`], another term has begun.
    pub async fn forget_earlier_terms(&self, terms: &Terms) -> Result<(), TermError> {
        let barrier = &self.shared.barrier;
        let Some(newest) = terms.only_newest()? else { return Ok(()) };
        let batch = Batch {
            expect: vec![(layout::newest_term(), u64::from(newest.newest()))],
            writes: barrier.seal(vec![Write::of(TERMS.to_vec(), Some(newest.encode()))])?,
            ..Batch::default()
        };
        fail_points::reach("term.forget");
        self.committer.commit(batch, Effects::of_terms(), None).await?;
        fail_points::reach("term.forgotten");
        barrier.load_terms()?;
        Ok(())
    }

    /// Counts sealings of a term ahead, if nobody else does at the same time.
    ///
    /// # Errors
    /// Returns an error if the store does not accept it.
    pub async fn count_sealings(&self, term: u32, counted: u64, more: u64) -> Result<(), CommitError> {
        let register = |count: u64| vec![(layout::sealings(term), count)];
        self.set_registers(register(counted), register(counted.saturating_add(more))).await
    }
}
