//! Rotation of the sealing keys: begins a term when it is due, and then seals older values again, in the background.
//!
//! A walk goes through all records in the order of their keys. It can be interrupted: the next one passes over what the newest
//! key has sealed. The keys of earlier terms are forgotten after a whole walk that found no value of them. Of the daemons that
//! share a store, the one with the lease walks.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use quorate_core::error::Corrupt;
use quorate_core::model::layout;
use quorate_core::world::Page;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::clock::now;
use crate::executor::{CommitError, Executor, TermError};
use crate::fail_points;
use crate::lease::{Lease, LeaseError};
use crate::store::Row;
use crate::vault::Terms;

/// Name of the lease.
const LEASE: &str = "rotation";
/// Time between two steps.
const STEP: Duration = Duration::from_millis(100);
/// Time between two steps while no record has to be sealed again.
const REST: Duration = Duration::from_secs(1);
/// Time after a failure until the next attempt.
const PAUSE: Duration = Duration::from_secs(5);
/// Pause after a walk that could seal nothing again, because records are damaged.
const LONG_PAUSE: Duration = Duration::from_mins(10);
/// Maximum number of records that are sealed again in a step: 2,000 in a second.
const SEALED_AT_ONCE: usize = 200;
/// Maximum time for which a step reads rows that need nothing.
const READING: Duration = Duration::from_millis(20);
/// Number of sealings that are counted ahead.
const BLOCK: u64 = 1 << 20;

/// Rotates the sealing keys until `stop`.
pub(crate) async fn run(executor: Arc<Executor>, stop: CancellationToken) {
    let mut rotation = Rotation::new(executor);
    let mut is_reported = false;
    loop {
        let begun = Instant::now();
        let rest = match rotation.step().await {
            Ok(rest) => {
                is_reported = false;
                rest
            }
            Err(error) => {
                if !std::mem::replace(&mut is_reported, true) {
                    tracing::warn!(cause = %error, "the sealing keys cannot be rotated now");
                }
                PAUSE
            }
        };
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep_until(begun + rest) => {}
        }
    }
    rotation.lease.free().await;
}

struct Rotation {
    executor: Arc<Executor>,
    lease: Lease,
    counter: Counter,
    walk: Option<Walk>,
    /// Time before which no walk begins.
    next_walk: Instant,
}

/// Counts sealings in the newest term.
#[derive(Default)]
struct Counter {
    term: u32,
    /// Sealings of the process before the term.
    before: u64,
    /// Sealings that this daemon has counted ahead.
    counted: u64,
    /// Sealings that all daemons have counted ahead, as far as is known.
    all: u64,
}

/// A walk through all records.
struct Walk {
    term: u32,
    /// Key of the last record that was looked at.
    after: Option<Vec<u8>>,
    /// Number of records that were sealed again.
    done: u64,
    /// Whether a record of an earlier term may remain.
    is_incomplete: bool,
}

impl Rotation {
    fn new(executor: Arc<Executor>) -> Self {
        let lease = Lease::new(Arc::clone(&executor), LEASE);
        Self { executor, lease, counter: Counter::default(), walk: None, next_walk: Instant::now() }
    }

    /// Does what is due. Returns the time from its begin to the next step.
    async fn step(&mut self) -> Result<Duration, RotationError> {
        let mut terms = self.executor.terms()?;
        self.count(&terms).await?;
        if terms.has_room() && terms.is_next_due(self.counter.all, now()) {
            terms = self.executor.begin_term(terms.newest()).await?;
            tracing::info!(term = terms.newest(), "another key seals all records from now on");
        }
        let is_due = terms.has_earlier() && (self.walk.is_some() || self.next_walk <= Instant::now());
        if !is_due || self.executor.backup_lags() || !self.lease.hold().await? {
            return Ok(REST);
        }
        self.walk(&terms).await?;
        Ok(STEP)
    }

    /// Counts sealings ahead, once this daemon has used up half of what it counted.
    async fn count(&mut self, terms: &Terms) -> Result<(), RotationError> {
        let (executor, sealings) = (&self.executor, self.executor.sealings());
        let key = [layout::sealings(terms.newest())];
        let read = || Ok::<_, Corrupt>(executor.registers(&key)?.first().copied().unwrap_or_default());
        if self.counter.term != terms.newest() {
            self.counter = Counter { term: terms.newest(), before: sealings, counted: 0, all: read()? };
        }
        let counter = &mut self.counter;
        let own = sealings.saturating_sub(counter.before);
        if own == 0 || own.saturating_add(BLOCK / 2) <= counter.counted {
            return Ok(());
        }
        counter.all = read()?;
        match executor.count_sealings(counter.term, counter.all, BLOCK).await {
            Ok(()) => {
                counter.counted = counter.counted.saturating_add(BLOCK);
                counter.all = counter.all.saturating_add(BLOCK);
                Ok(())
            }
            // Another daemon counted; the next step tries again.
            Err(CommitError::Clash) => Ok(()),
            Err(error) => Err(TermError::from(error).into()),
        }
    }

    /// Continues the walk, or begins one.
    async fn walk(&mut self, terms: &Arc<Terms>) -> Result<(), RotationError> {
        if self.walk.as_ref().is_none_or(|walk| walk.term != terms.newest()) {
            self.executor.end_earlier_terms(terms).await?;
            self.walk = Some(Walk { term: terms.newest(), after: None, done: 0, is_incomplete: false });
        }
        let after = self.walk.as_ref().and_then(|walk| walk.after.clone());
        fail_points::reach("seal_again.read");
        let (rows, mut after) = self.find(terms, after).await?;
        let is_any = !rows.is_empty();
        let (considered, done) = self.executor.seal_again(&rows).await?;
        if considered < rows.len() {
            after = considered.checked_sub(1).and_then(|last| rows.get(last)).map(|(key, _)| key.clone());
        }
        if is_any {
            fail_points::reach("seal_again.done");
        }
        self.executor.world().sealed_again.fetch_add(done, Ordering::Relaxed);
        let Some(walk) = &mut self.walk else { return Ok(()) };
        walk.done = walk.done.saturating_add(done);
        walk.is_incomplete |= is_any;
        walk.after = after;
        if walk.after.is_some() {
            return Ok(());
        }
        let (done, is_incomplete) = (walk.done, walk.is_incomplete);
        self.walk = None;
        if !is_incomplete {
            match self.executor.forget_earlier_terms(terms).await {
                Ok(()) => {
                    tracing::info!(
                        term = terms.newest(),
                        "one key seals all records; earlier ones are forgotten"
                    );
                }
                // Another term has begun meanwhile.
                Err(TermError::Commit(CommitError::Clash)) => {}
                Err(error) => return Err(error.into()),
            }
        } else if done == 0 {
            tracing::warn!("records of earlier terms cannot be sealed again; 'quorated verify' shows why");
            self.next_walk = Instant::now() + LONG_PAUSE;
        }
        Ok(())
    }

    /// Returns rows of earlier terms after a key, and the key of the last row that was looked at; `None` at the end.
    async fn find(
        &self,
        terms: &Arc<Terms>,
        mut after: Option<Vec<u8>>,
    ) -> Result<(Vec<Row>, Option<Vec<u8>>), RotationError> {
        let (executor, terms) = (Arc::clone(&self.executor), Arc::clone(terms));
        let find = move || {
            let (begun, mut found) = (Instant::now(), Vec::new());
            loop {
                let limit = SEALED_AT_ONCE.saturating_sub(found.len());
                let rows = executor.stored(Page { after: after.as_deref(), ..Page::first(b"", limit) })?;
                let Some((last, _)) = rows.last() else { return Ok((found, None)) };
                after = Some(last.clone());
                found.extend(rows.into_iter().filter(|row| executor.is_of_earlier_term(row, &terms)));
                if found.len() == SEALED_AT_ONCE || begun.elapsed() > READING {
                    return Ok((found, after));
                }
            }
        };
        let found = tokio::task::spawn_blocking(find).await;
        found.unwrap_or(Err(Corrupt::Invariant("reading records panicked"))).map_err(RotationError::from)
    }
}

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
enum RotationError {
    #[error(transparent)]
    Term(#[from] TermError),
    #[error(transparent)]
    Lease(#[from] LeaseError),
}

impl From<Corrupt> for RotationError {
    fn from(error: Corrupt) -> Self {
        Self::Term(error.into())
    }
}

#[cfg(test)]
mod tests;
