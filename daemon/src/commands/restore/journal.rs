//! Applies what was changed after a backup, from journals.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quorate_core::model::Millis;
use quorate_core::model::write::Write;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::barrier::Barrier;
use crate::clock;
use crate::guard::Guard;
use crate::journal::{Frame, FrameChange, JournalError, Reader};
use crate::service::StartError;
use crate::store::{Batch, BatchOutcome, Register};
use crate::vault::Vault;

/// The journals of a store: one of each of its daemons.
pub(super) struct Journals(Vec<Surveyed>);

/// A journal that was read once.
struct Surveyed {
    path: PathBuf,
    epoch: u32,
    begun: Millis,
    committed: BTreeSet<u64>,
    changes: u64,
    newest: Option<Millis>,
    gaps: Vec<(Millis, Millis)>,
}

/// What was applied.
#[derive(Default)]
pub(super) struct Applied {
    /// Whether there was a journal of the epoch of the backup.
    has_journal: bool,
    /// Number of changes that were applied.
    done: u64,
    /// Number of changes that were part of the backup.
    present: u64,
    /// Number of changes that could not be applied, because earlier ones are missing.
    missing: u64,
    /// Time of the newest change, in milliseconds since 1970.
    newest: Option<Millis>,
    /// Times between which changes are missing.
    gaps: Vec<(Millis, Millis)>,
    /// Journals of earlier epochs.
    unused: Vec<PathBuf>,
}

/// A journal while its changes are applied.
struct Source {
    reader: Reader,
    committed: BTreeSet<u64>,
    /// The next frame, and its time.
    next: Option<(Zeroizing<Vec<u8>>, Millis)>,
}

impl Source {
    fn open(journal: &Surveyed, vault: &Vault) -> Result<Self, StartError> {
        let (reader, committed) = (Reader::open(&journal.path)?, journal.committed.clone());
        let mut source = Self { reader, committed, next: None };
        source.advance(vault)?;
        Ok(source)
    }

    /// Reads the next frame that was committed.
    fn advance(&mut self, vault: &Vault) -> Result<(), StartError> {
        self.next = None;
        while self.next.is_none() {
            let position = self.reader.position();
            let Some(plain) = self.reader.frame(vault.journal())? else { break };
            if self.committed.contains(&position) {
                let time = Frame::decode(&plain)?.time;
                self.next = Some((plain, time));
            }
        }
        Ok(())
    }
}

impl Journals {
    /// Reads journals. The one of the configuration need not exist yet.
    ///
    /// # Errors
    /// Returns an error if one cannot be read, is damaged, or is of another store.
    pub(super) fn open(given: &[PathBuf], own: Option<&Path>, vault: &Vault) -> Result<Self, StartError> {
        let exists = |path: &&Path| fs::metadata(path).is_ok_and(|found| found.len() > 0);
        let own =
            own.filter(exists).map(Path::to_owned).filter(|own| !given.iter().any(|one| is_same(one, own)));
        let survey = |path: &PathBuf| {
            let mut reader = Reader::open(path)?;
            if reader.head.store_id != vault.store_id() {
                return Err(JournalError::OtherStore(path.clone()));
            }
            let survey = reader.survey(vault.journal())?;
            Ok(Surveyed {
                path: path.clone(),
                epoch: reader.head.epoch,
                begun: reader.head.begun,
                committed: survey.committed,
                changes: survey.changes,
                newest: survey.times.map(|(_, newest)| newest),
                gaps: survey.gaps,
            })
        };
        Ok(Self(given.iter().chain(&own).map(survey).collect::<Result<_, _>>()?))
    }

    /// Returns the time of their newest change, in milliseconds since 1970; zero if there is none.
    pub(super) fn newest(&self) -> Millis {
        self.0.iter().filter_map(|journal| journal.newest).max().unwrap_or_default()
    }

    /// Applies all changes that the store does not have, in the order of the versions of their organizations.
    ///
    /// # Errors
    /// Returns an error if a journal begins later than this epoch of the store, or cannot be read, or the store cannot be written.
    pub(super) fn apply(
        self,
        barrier: &Barrier,
        guard: &Guard,
        epoch: u32,
        now: Millis,
    ) -> Result<Applied, StartError> {
        if let Some(later) = self.0.iter().find(|journal| journal.epoch > epoch) {
            return Err(JournalError::Later { path: later.path.clone(), begun: later.begun }.into());
        }
        let (used, unused): (Vec<_>, Vec<_>) = self.0.into_iter().partition(|journal| journal.epoch == epoch);
        let mut applied = Applied {
            has_journal: !used.is_empty(),
            newest: used.iter().filter_map(|journal| journal.newest).max(),
            gaps: used.iter().flat_map(|journal| journal.gaps.clone()).collect(),
            unused: unused.into_iter().map(|journal| journal.path).collect(),
            ..Applied::default()
        };
        let all: u64 = used.iter().map(|journal| journal.changes).sum();
        loop {
            let (done, missing) = pass(&used, barrier, guard, now)?;
            applied.done = applied.done.saturating_add(done);
            applied.missing = missing;
            // A change may wait for one of another journal whose clock was ahead.
            if done == 0 || missing == 0 || used.len() < 2 {
                break;
            }
        }
        applied.present = all.saturating_sub(applied.done).saturating_sub(applied.missing);
        Ok(applied)
    }
}

/// Applies what can be applied, in the order of time. Returns how many changes were applied, and how many are neither applied nor
/// part of the store.
fn pass(used: &[Surveyed], barrier: &Barrier, guard: &Guard, now: Millis) -> Result<(u64, u64), StartError> {
    let vault = barrier.vault();
    let sources = used.iter().map(|journal| Source::open(journal, vault));
    let mut sources = sources.collect::<Result<Vec<_>, _>>()?;
    let (mut done, mut missing) = (0_u64, 0_u64);
    loop {
        let waiting = sources.iter_mut().filter(|source| source.next.is_some());
        let oldest = waiting.min_by_key(|source| source.next.as_ref().map(|(_, time)| *time));
        let Some(source) = oldest else { return Ok((done, missing)) };
        let Some((plain, _)) = source.next.take() else { return Ok((done, missing)) };
        for change in &Frame::decode(&plain)?.changes {
            match apply(change, barrier, guard, now)? {
                Effect::Applied => done = done.saturating_add(1),
                Effect::Present => {}
                Effect::Missing => missing = missing.saturating_add(1),
            }
        }
        source.advance(vault)?;
    }
}

/// What became of a change.
enum Effect {
    Applied,
    Present,
    Missing,
}

fn apply(
    change: &FrameChange<'_>,
    barrier: &Barrier,
    guard: &Guard,
    now: Millis,
) -> Result<Effect, StartError> {
    for (key, version) in &change.set {
        if barrier.store().register(key)? >= *version {
            return Ok(Effect::Present);
        }
    }
    let write = |(key, value): &(&[u8], Option<&[u8]>)| {
        Write::of(key.to_vec(), value.map(|value| Zeroizing::new(value.to_vec())))
    };
    let registers = |registers: &[(&[u8], u64)]| -> Vec<Register> {
        registers.iter().map(|(key, version)| (key.to_vec(), *version)).collect()
    };
    let batch = Batch {
        expect: registers(&change.expect),
        set: registers(&change.set),
        writes: barrier.seal(change.writes.iter().map(write).collect())?,
        ..Batch::default()
    };
    Ok(match guard.commit_logged(barrier, now, batch, &change.entries)? {
        BatchOutcome::Done => Effect::Applied,
        BatchOutcome::Clash => Effect::Missing,
    })
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

impl Applied {
    /// Returns whether the store has all changes of organizations up to the newest one in the journals.
    pub(super) fn is_complete(&self) -> bool {
        self.has_journal && self.missing == 0 && self.gaps.is_empty()
    }

    /// Returns the JSON; `null` without a journal.
    pub(super) fn json(&self) -> Value {
        if !self.has_journal && self.unused.is_empty() {
            return Value::Null;
        }
        let gaps: Vec<_> =
            self.gaps.iter().map(|(after, until)| json!({ "after": after, "until": until })).collect();
        json!({ "applied": self.done, "present": self.present, "missing": self.missing, "until": self.newest,
            "gaps": gaps, "unused": self.unused })
    }

    /// Returns the lines for operators.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for path in &self.unused {
            lines.push(format!(
                "The journal {} is from before the restore after which the backup was made, and was not used.",
                path.display()
            ));
        }
        if !self.has_journal {
            return lines;
        }
        let Self { done, present, missing, .. } = self;
        let until = self
            .newest
            .map_or_else(|| "it is empty".to_owned(), |newest| format!("until {}", clock::text(newest)));
        lines.push(format!(
            "Changes of organizations from the journal: {done} applied, {present} in the backup; {until}."
        ));
        if *missing > 0 {
            lines.push(format!(
                "{missing} changes could not be applied, because earlier ones are missing: the journal begins after the backup, or                  another daemon had a journal as well (--journal)."
            ));
        }
        for (after, until) in &self.gaps {
            lines.push(format!(
                "Changes between {} and {} are not in the journal.",
                clock::text(*after),
                clock::text(*until)
            ));
        }
        lines
    }
}
