//! Applies what was changed after a backup, from journals.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use quorate_core::model::Millis;
use quorate_core::model::layout::{self, Key};
use quorate_core::model::write::Write;
use quorate_core::world::Page;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::barrier::Barrier;
use crate::clock;
use crate::guard::Guard;
use crate::journal::{
    Frame, FrameChange, FrameStep, HeadDigest, History, JournalError, Reader, Seen, after, head, is_same,
};
use crate::service::StartError;
use crate::store::{Batch, BatchOutcome};
use crate::vault::Vault;

/// The journals of a store: those of its daemons.
pub(super) struct Journals(Vec<Source>);

/// A journal that was read once.
struct Source {
    path: PathBuf,
    reader: Reader,
    frames: Vec<Seen>,
    is_whole: bool,
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
    /// Journals that end in the middle of a frame.
    cut: Vec<PathBuf>,
    /// Ids of daemons that kept a journal before the backup, and none of which was given.
    absent: Vec<String>,
}

/// Place of a change: number of the journal, its frame, and number of the change in it.
#[derive(Clone, Copy)]
struct Place {
    source: usize,
    frame: Seen,
    change: usize,
    /// Whether its frame may not have been committed.
    is_uncertain: bool,
}

impl Journals {
    /// Reads journals. That of the configuration must exist.
    ///
    /// # Errors
    /// Returns an error if one cannot be read, is damaged, or is of another store.
    pub(super) fn open(given: &[PathBuf], own: Option<&Path>, vault: &Vault) -> Result<Self, StartError> {
        if let Some(own) = own.filter(|own| !own.exists()) {
            return Err(StartError::NoJournal(own.to_owned()));
        }
        // Who begins another journal creates an empty file.
        let own = own.filter(|own| fs::metadata(own).is_ok_and(|found| found.len() > 0)).map(Path::to_owned);
        let own = own.filter(|own| !given.iter().any(|one| is_same(one, own)));
        let read = |path: &PathBuf| {
            let mut reader = Reader::open(path)?;
            if reader.head.store_id != vault.store_id() {
                return Err(JournalError::OtherStore(path.clone()));
            }
            let frames = reader.all(vault.journal())?;
            Ok(Source { path: path.clone(), is_whole: reader.is_whole(), reader, frames })
        };
        let mut sources: Vec<Source> = Vec::new();
        for path in given.iter().chain(&own) {
            let source = read(path)?;
            // A copy has the same head. The one with more frames counts.
            match sources.iter_mut().find(|known| known.reader.is_copy_of(&source.reader)) {
                Some(known) if known.frames.len() >= source.frames.len() => {}
                Some(known) => *known = source,
                None => sources.push(source),
            }
        }
        Ok(Self(sources))
    }

    /// Returns the time of their newest change, in milliseconds since 1970; zero if there is none.
    pub(super) fn newest(&self) -> Millis {
        let newest = self.0.iter().filter_map(|journal| journal.frames.last());
        newest.map(|frame| frame.time).max().unwrap_or_default()
    }

    /// Applies all changes that the store does not have.
    ///
    /// # Errors
    /// Returns an error if a journal begins later than this epoch of the store, or cannot be read, or the store cannot be written.
    pub(super) fn apply(
        self,
        barrier: &Barrier,
        guard: &Guard,
        (epoch, ended): (u32, Millis),
        now: Millis,
    ) -> Result<Applied, StartError> {
        if let Some(later) = self.0.iter().find(|journal| journal.reader.head.epoch > epoch) {
            let begun = later.reader.head.begun;
            return Err(JournalError::Later { path: later.path.clone(), begun }.into());
        }
        let (used, unused): (Vec<_>, Vec<_>) =
            self.0.into_iter().partition(|journal| journal.reader.head.epoch == epoch);
        let mut applied = Applied {
            has_journal: !used.is_empty(),
            cut: used.iter().filter(|one| !one.is_whole).map(|one| one.path.clone()).collect(),
            unused: unused.into_iter().map(|journal| journal.path).collect(),
            ..Applied::default()
        };
        let committed = committed(&used, barrier, ended, &mut applied)?;
        applied.newest = committed.iter().map(|place| place.frame.time).max();
        Player { used: &used, barrier, guard, now, waiting: HashMap::new(), left: HashMap::new() }
            .play(committed, &mut applied)?;
        Ok(applied)
    }
}

/// Returns the places of all changes that were committed, in the order of time. The backup has the store as of `ended`.
fn committed(
    used: &[Source],
    barrier: &Barrier,
    ended: Millis,
    applied: &mut Applied,
) -> Result<Vec<Place>, StartError> {
    let mut of_daemons: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, source) in used.iter().enumerate() {
        of_daemons.entry(&source.reader.head.daemon).or_default().push(at);
    }
    let mut places = Vec::new();
    for (daemon, mut files) in of_daemons {
        files.sort_by_key(|at| used.get(*at).map(|source| source.reader.head.begun));
        let frames = files.iter().filter_map(|at| Some((*at, used.get(*at)?)));
        let frames = frames.flat_map(|(at, source)| source.frames.iter().map(move |frame| (at, *frame)));
        let (sources, frames): (Vec<usize>, Vec<Seen>) = frames.unzip();
        let history = History::of(&frames);
        // The backup has what was changed before its end.
        applied.gaps.extend(history.gaps.iter().filter(|(_, until)| *until > ended));
        let daemon = const_hex::decode(daemon).unwrap_or_default();
        let known = barrier.store().register(&layout::journal(&daemon))?;
        let is_continued = known != 0 && history.numbers.contains(&known);
        if let (Some(oldest), false) = (frames.first(), is_continued) {
            // The backup was made before the journal was begun.
            applied.gaps.push((ended, oldest.time));
        }
        for at in history.committed {
            let (Some(source), Some(frame)) = (sources.get(at), frames.get(at)) else { continue };
            let is_uncertain = history.uncertain.contains(&at);
            let place = |change| Place { source: *source, frame: *frame, change, is_uncertain };
            places.extend((0..frame.changes).map(place));
        }
    }
    for key in barrier.store().keys(Page::first(layout::JOURNALS, usize::MAX))? {
        let daemon = const_hex::encode(key.get(layout::JOURNALS.len()..).unwrap_or_default());
        let is_given = used.iter().any(|source| source.reader.head.daemon == daemon);
        if !is_given && barrier.store().register(&key)? != 0 {
            applied.absent.push(daemon);
        }
    }
    // What was certainly committed decides where both continue the same state.
    places.sort_by_key(|place| (place.is_uncertain, place.frame.time));
    Ok(places)
}

/// Applies changes in the order of the versions of their organizations.
struct Player<'p> {
    used: &'p [Source],
    barrier: &'p Barrier,
    guard: &'p Guard,
    now: Millis,
    /// Changes that wait until an organization has a version.
    waiting: HashMap<(Key, u64), Vec<Place>>,
    /// Digests of the heads that the applied changes have left, by version.
    left: HashMap<(Key, u64), Option<HeadDigest>>,
}

/// What became of a change.
enum Outcome {
    /// It was applied. The versions after it.
    Done(Vec<(Key, u64)>),
    /// The store has it.
    Present,
    /// It waits until an organization has a version.
    Waits(Key, u64),
    /// It continues another state than that of the store.
    Elsewhere,
}

impl Player<'_> {
    fn play(mut self, places: Vec<Place>, applied: &mut Applied) -> Result<(), StartError> {
        for place in places {
            let mut next = VecDeque::from([place]);
            while let Some(place) = next.pop_front() {
                match self.apply(place)? {
                    Outcome::Present => applied.present = applied.present.saturating_add(1),
                    Outcome::Elsewhere => applied.missing = applied.missing.saturating_add(1),
                    Outcome::Waits(key, version) => {
                        self.waiting.entry((key, version)).or_default().push(place);
                    }
                    Outcome::Done(versions) => {
                        applied.done = applied.done.saturating_add(1);
                        let waiting = versions.iter().filter_map(|version| self.waiting.remove(version));
                        next.extend(waiting.flatten().collect::<Vec<_>>());
                    }
                }
            }
        }
        let waiting = self.waiting.values().map(|places| places.len() as u64).sum::<u64>();
        applied.missing = applied.missing.saturating_add(waiting);
        Ok(())
    }

    /// Returns whether the store has a change, or another one with the same version.
    fn present(
        &self,
        change: &FrameChange<'_>,
        step: &FrameStep<'_>,
        version: u64,
    ) -> Result<Outcome, StartError> {
        let after = after(step.register, change.writes.iter().copied());
        let left = self.left.get(&(step.register.to_vec(), step.to)).copied();
        let left = if version == step.to { Some(head(step.register, self.barrier)?) } else { left };
        // What the backup has of earlier versions is not known.
        Ok(if left.is_none_or(|left| left == after) { Outcome::Present } else { Outcome::Elsewhere })
    }

    fn apply(&mut self, place: Place) -> Result<Outcome, StartError> {
        let Some(source) = self.used.get(place.source) else { return Ok(Outcome::Elsewhere) };
        let plain = source.reader.again(&place.frame, self.barrier.vault().journal())?;
        let frame = Frame::decode(&plain)?;
        let Some(change) = frame.changes.get(place.change) else { return Ok(Outcome::Elsewhere) };
        for step in &change.steps {
            let version = self.barrier.store().register(step.register)?;
            if version >= step.to {
                return self.present(change, step, version);
            }
            if version != step.from {
                return Ok(Outcome::Waits(step.register.to_vec(), step.from));
            }
            if head(step.register, self.barrier)? != step.head {
                return Ok(Outcome::Elsewhere);
            }
        }
        let outcome = self.commit(change)?;
        if matches!(outcome, Outcome::Done(_)) {
            let left = change.steps.iter().map(|step| {
                let after = after(step.register, change.writes.iter().copied());
                ((step.register.to_vec(), step.to), after)
            });
            self.left.extend(left);
        }
        Ok(outcome)
    }

    fn commit(&self, change: &FrameChange<'_>) -> Result<Outcome, StartError> {
        let write = |(key, value): &(&[u8], Option<&[u8]>)| {
            Write::of(key.to_vec(), value.map(|value| Zeroizing::new(value.to_vec())))
        };
        let versions = |version: fn(&FrameStep<'_>) -> u64| -> Vec<(Key, u64)> {
            change.steps.iter().map(|step| (step.register.to_vec(), version(step))).collect()
        };
        let batch = Batch {
            expect: versions(|step| step.from),
            set: versions(|step| step.to),
            writes: self.barrier.seal(change.writes.iter().map(write).collect())?,
            ..Batch::default()
        };
        Ok(match self.guard.commit_logged(self.barrier, self.now, batch, &change.entries)? {
            BatchOutcome::Done => Outcome::Done(versions(|step| step.to)),
            BatchOutcome::Clash => Outcome::Elsewhere,
        })
    }
}

impl Applied {
    /// Returns whether there was a journal.
    pub(super) const fn has_journal(&self) -> bool {
        self.has_journal
    }

    /// Returns whether the store has all changes of organizations up to the newest one in the journals.
    pub(super) fn is_complete(&self) -> bool {
        self.has_journal
            && self.missing == 0
            && self.gaps.is_empty()
            && self.cut.is_empty()
            && self.absent.is_empty()
    }

    /// Returns the JSON; `null` without a journal.
    pub(super) fn json(&self) -> Value {
        if !self.has_journal && self.unused.is_empty() && self.absent.is_empty() {
            return Value::Null;
        }
        let gap = |(after, until): &(Millis, Millis)| json!({ "after": after, "until": until });
        let gaps: Vec<_> = self.gaps.iter().map(gap).collect();
        json!({ "applied": self.done, "present": self.present, "missing": self.missing, "until": self.newest,
            "gaps": gaps, "unused": self.unused, "cut": self.cut, "absent": self.absent })
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
        for daemon in &self.absent {
            let daemon = if daemon.is_empty() { String::new() } else { format!(" {daemon}") };
            lines.push(format!(
                "The daemon{daemon} kept a journal before the backup, and none of it was named (--journal): what was changed \
                 through it after the backup is missing."
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
                "{missing} changes could not be applied, because earlier ones are missing: name the journals of all daemons, \
                 and those that were begun before (--journal)."
            ));
        }
        for (after, until) in &self.gaps {
            lines.push(format!(
                "Changes between {} and {} are not in the journal.",
                clock::text(*after),
                clock::text(*until)
            ));
        }
        for path in &self.cut {
            lines.push(format!(
                "The journal {} ends in the middle of a change, as after a power cut; the change was not acknowledged then.",
                path.display()
            ));
        }
        lines
    }
}
