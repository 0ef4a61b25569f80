//! The journal that a daemon writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::seal::NONCE;
use rustix::fs::{FlockOperation, flock};
use zeroize::Zeroizing;

use super::{
    FORMAT, Frame, FrameChange, Head, Heads, JournalError, OrganizationChange, Reader, Seen, place, reader,
    system, word,
};
use crate::barrier::Barrier;
use crate::{fail_points, private_file};

/// Time between two attempts to write after a failure.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of journals of one epoch that are kept beside the present one.
const MOST_ASIDE: u32 = 1000;
/// Bits of a random number that are not used, so that it fits into the column of a database.
const UNUSED_BITS: u32 = 2;

/// The journal of a running daemon.
pub struct Journal {
    path: PathBuf,
    /// Locked, so that no other process writes to it.
    file: File,
    /// Digest of the head.
    digest: [u8; 32],
    /// Length up to the end of the newest frame, in bytes.
    end: u64,
    /// Number of frames in the file.
    frames: u64,
    newest: Newest,
    /// Time of the newest frame with changes, in milliseconds since 1970.
    changed: Option<Millis>,
    /// Number of the newest committed frame.
    committed: u64,
    /// Number of the newest frame, if its group is being committed.
    pending: Option<u64>,
    /// Why the file could not be written, and when that was.
    failure: Option<(Instant, String)>,
}

/// The newest frame.
#[derive(Debug, Clone, Copy, Default)]
struct Newest {
    number: u64,
    /// Time of the group, in milliseconds since 1970; zero if there is no frame.
    time: Millis,
    has_changes: bool,
}

/// What a store knows of its journal.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// Id of the daemon among those that share the store.
    pub daemon: &'k [u8],
    /// Number of the epoch.
    pub epoch: u32,
    /// Number of the newest committed frame; zero if there was none.
    pub committed: u64,
}

/// How a journal relates to its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The newest committed frame is in it, and at most one more that was not committed.
    Current,
    /// It has later frames that were committed.
    Ahead,
    /// It does not have the newest committed frame.
    Behind,
}

/// Draws the number of a frame.
///
/// # Errors
/// Returns an error if the random source fails.
pub fn new_number() -> Result<u64, Corrupt> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|_| Corrupt::Invariant("the random source failed"))?;
    Ok((u64::from_ne_bytes(bytes) >> UNUSED_BITS).max(1))
}

/// Checks that a journal at this path can be created or opened. Writes nothing.
///
/// # Errors
/// Returns an error if its directory is missing, or something else than a file is there.
pub fn check_path(path: &Path) -> Result<(), JournalError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(system(path)(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let folder = private_file::folder(path);
            fs::metadata(folder).map(drop).map_err(system(folder))
        }
        Err(error) => Err(system(path)(error)),
    }
}

impl Journal {
    /// Opens or creates the journal of a store. What an earlier epoch has written is kept in another file. Also returns the number
    /// that the store must record before the first group, if the journal does not continue what it has recorded.
    ///
    /// # Errors
    /// Returns an error if the file is missing but should not be, is damaged, is of another store, has changes that the store
    /// does not have, or cannot be written.
    pub fn open(
        path: &Path,
        barrier: &Barrier,
        known: Known<'_>,
        now: Millis,
    ) -> Result<(Self, Option<u64>), JournalError> {
        let head = Head {
            format: FORMAT.to_owned(),
            store_id: barrier.vault().store_id().to_owned(),
            daemon: const_hex::encode(known.daemon),
            epoch: known.epoch,
            begun: now,
        };
        match fs::metadata(path) {
            Ok(found) if found.is_file() && found.len() == 0 => create(path, &head)?,
            Ok(_) => set_aside(path, &head)?,
            Err(error) if error.kind() == ErrorKind::NotFound && known.committed == 0 => create(path, &head)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(JournalError::Missing(path.to_owned()));
            }
            Err(error) => return Err(system(path)(error)),
        }
        let (mut journal, is_whole, standing) = Self::read(path, barrier, known.committed)?;
        match standing {
            Standing::Ahead => return Err(JournalError::Ahead(path.to_owned())),
            Standing::Behind if !is_whole => {
                return Err(JournalError::Damaged(path.to_owned(), "its end cannot be read"));
            }
            Standing::Behind if journal.frames > 0 => tracing::warn!(
                path = %path.display(),
                "changes are missing at the end of the journal; make a backup, which contains them"
            ),
            _ => {}
        }
        if standing != Standing::Behind {
            journal.resume(barrier, known.committed)?;
            return Ok((journal, None));
        }
        let number = new_number()?;
        let frame = Frame { number, previous: known.committed, time: now, changes: Vec::new() };
        journal.append(barrier, &frame, true)?;
        Ok((journal, Some(number)))
    }

    /// Checks that a store has all changes of the journal of its epoch, if there is one.
    ///
    /// # Errors
    /// Returns an error if it has not, or the file cannot be read.
    pub fn check_all_committed(path: &Path, barrier: &Barrier, known: Known<'_>) -> Result<(), JournalError> {
        let is_there = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0);
        if !is_there || Reader::open(path)?.head.epoch != known.epoch {
            return Ok(());
        }
        let (_, _, standing) = Self::read(path, barrier, known.committed)?;
        if standing == Standing::Ahead { Err(JournalError::Ahead(path.to_owned())) } else { Ok(()) }
    }

    /// Makes changes of a journal void that its store does not have.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or written.
    pub fn void_after(path: &Path, barrier: &Barrier, committed: u64) -> Result<(), JournalError> {
        let (mut journal, _, _) = Self::read(path, barrier, committed)?;
        journal.void(barrier, committed)
    }

    /// Locks and reads a file. Also returns whether its last frame was written completely, and how it relates to a store with this
    /// newest committed frame.
    fn read(path: &Path, barrier: &Barrier, committed: u64) -> Result<(Self, bool, Standing), JournalError> {
        let file = open(path)?;
        let mut reader = Reader::of(file.try_clone().map_err(system(path))?, path)?;
        if reader.head.store_id != barrier.vault().store_id() {
            return Err(JournalError::OtherStore(path.to_owned()));
        }
        let all = reader.all(barrier.vault().journal())?;
        let is_whole = reader.is_whole();
        if !is_whole {
            tracing::warn!(path = %path.display(), "the last frame of the journal was not written completely");
        }
        let last = all.last().map(|last| Newest {
            number: last.number,
            time: last.time,
            has_changes: last.changes > 0,
        });
        let standing = standing(&all, committed);
        let Reader { digest, end, position: frames, .. } = reader;
        let changed = all.iter().rev().find(|seen| seen.changes > 0).map(|seen| seen.time);
        let journal = Self {
            path: path.to_owned(),
            file,
            digest,
            end,
            frames,
            newest: last.unwrap_or_default(),
            changed,
            committed,
            pending: None,
            failure: None,
        };
        Ok((journal, is_whole, standing))
    }

    /// Returns the time of the newest change, in milliseconds since 1970; `None` if there is none.
    pub const fn changed(&self) -> Option<Millis> {
        self.changed
    }

    /// Returns why changes are not accepted now, if they are not. Tries to write again first, and looks whether the file is there.
    pub fn failure(&mut self, barrier: &Barrier) -> Option<&str> {
        if self.is_usable(barrier)
            && let Err(error) = self.check_named()
        {
            self.failure = Some((Instant::now(), error.to_string()));
        }
        self.failure.as_ref().map(|(_, cause)| cause.as_str())
    }

    /// Adds the changes of a group that is being committed, and makes them durable. An earlier attempt to commit it has failed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn add(
        &mut self,
        barrier: &Barrier,
        number: u64,
        time: Millis,
        changes: &[&OrganizationChange],
    ) -> Result<(), JournalError> {
        self.pending = None;
        let mut heads = Heads::default();
        let mut committed = Vec::with_capacity(changes.len());
        for change in changes {
            committed.push(FrameChange::of(change, &heads));
            heads.add(change);
        }
        let changes = committed;
        self.append(barrier, &Frame { number, previous: self.committed, time, changes }, true)?;
        self.pending = Some(number);
        Ok(())
    }

    /// Forgets the attempt to commit a group: it failed, or is made again.
    pub const fn forget_attempt(&mut self) {
        self.pending = None;
    }

    /// Records that the group that was being committed is durable.
    pub fn committed(&mut self, barrier: &Barrier) {
        let Some(number) = self.pending.take() else { return };
        self.committed = number;
        // The next frame states it as well, so an error of this one needs no handling.
        let _ = self.state_committed(barrier, false);
    }

    /// Adds a frame that states which one is the newest committed one.
    fn state_committed(&mut self, barrier: &Barrier, is_synced: bool) -> Result<(), JournalError> {
        let (number, previous, time) = (new_number()?, self.committed, self.newest.time);
        self.append(barrier, &Frame { number, previous, time, changes: Vec::new() }, is_synced)
    }

    /// Records which frame is the newest committed one.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn resume(&mut self, barrier: &Barrier, committed: u64) -> Result<(), JournalError> {
        (self.committed, self.pending) = (committed, None);
        if self.newest.has_changes && self.newest.number != committed {
            self.state_committed(barrier, true)?;
        }
        Ok(())
    }

    /// Makes all frames after the newest committed one void.
    fn void(&mut self, barrier: &Barrier, committed: u64) -> Result<(), JournalError> {
        (self.committed, self.pending) = (committed, None);
        self.state_committed(barrier, true)
    }

    /// Records that the group of the newest frame was not committed.
    pub fn abandon(&mut self, barrier: &Barrier) {
        // The next frame states it as well, so an error needs no handling.
        let _ = self.resume(barrier, self.committed);
    }

    /// Tries to write again after a failure, unless that was tried a moment ago. Returns whether changes are accepted.
    pub fn is_usable(&mut self, barrier: &Barrier) -> bool {
        match &self.failure {
            None => return true,
            Some((tried, _)) if tried.elapsed() < RETRY => return false,
            Some(_) => {}
        }
        let reopened = self.reopen(barrier);
        match reopened {
            Ok(()) => tracing::info!("the journal is written again"),
            Err(error) => self.failure = Some((Instant::now(), error.to_string())),
        }
        self.failure.is_none()
    }

    fn reopen(&mut self, barrier: &Barrier) -> Result<(), JournalError> {
        // The lock must be released first, since it may be on the same file.
        let _ = flock(&self.file, FlockOperation::Unlock);
        let file = open(&self.path)?;
        let reader = Reader::of(file.try_clone().map_err(system(&self.path))?, &self.path)?;
        let length = file.metadata().map_err(system(&self.path))?.len();
        if reader.digest != self.digest || length < self.end {
            return Err(JournalError::Damaged(self.path.clone(), "it was replaced"));
        }
        self.file = file;
        self.state_committed(barrier, true)?;
        self.failure = None;
        Ok(())
    }

    fn append(&mut self, barrier: &Barrier, frame: &Frame<'_>, is_synced: bool) -> Result<(), JournalError> {
        let framed = self.seal(barrier, frame)?;
        if let Err(source) = self.write(&framed, is_synced) {
            if self.failure.is_none() {
                tracing::error!(
                    path = %self.path.display(), cause = %source,
                    "the journal cannot be written: changes of organizations are rejected until it can, and signing continues"
                );
            }
            self.failure = Some((Instant::now(), source.to_string()));
            return Err(system(&self.path)(source));
        }
        self.end = self.end.saturating_add(framed.len() as u64);
        self.frames = self.frames.saturating_add(1);
        let Frame { number, time, ref changes, .. } = *frame;
        self.newest = Newest { number, time, has_changes: !changes.is_empty() };
        if self.newest.has_changes {
            self.changed = Some(time);
        }
        Ok(())
    }

    /// Returns a frame with its word, sealed for the next position.
    fn seal(&self, barrier: &Barrier, frame: &Frame<'_>) -> Result<Vec<u8>, JournalError> {
        let plain: Zeroizing<Vec<u8>> = frame.encode()?;
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| Corrupt::Invariant("the random source failed"))?;
        let sealed = barrier.vault().journal().seal(nonce, &place(&self.digest, self.frames), &plain)?;
        let length = u32::try_from(sealed.len()).ok().filter(|length| *length <= super::LONGEST);
        let length = length.ok_or(Corrupt::Invariant("a group is too long for the journal"))?;
        Ok([word(&self.digest, self.frames, length).as_slice(), &sealed].concat())
    }

    /// Checks that the path names the open file.
    fn check_named(&self) -> io::Result<fs::Metadata> {
        let (open, named) = (self.file.metadata()?, fs::metadata(&self.path)?);
        if (open.dev(), open.ino()) == (named.dev(), named.ino()) {
            return Ok(open);
        }
        Err(io::Error::new(ErrorKind::NotFound, "the file was replaced"))
    }

    fn write(&self, framed: &[u8], is_synced: bool) -> io::Result<()> {
        let open = self.check_named()?;
        if open.len() != self.end {
            // What a failed attempt has left.
            self.file.set_len(self.end)?;
        }
        if !is_synced {
            return self.file.write_all_at(framed, self.end);
        }
        fail_points::reach("journal.append");
        self.file.write_all_at(framed, self.end)?;
        self.file.sync_all()?;
        fail_points::reach("journal.appended");
        Ok(())
    }
}

/// Returns how the frames of a journal relate to a store with this newest committed frame.
fn standing(all: &[Seen], committed: u64) -> Standing {
    let Some(last) = all.last() else { return Standing::Behind };
    let is_named = committed != 0 && all.iter().any(|seen| seen.number == committed);
    if is_named && [last.number, last.previous].contains(&committed) {
        return Standing::Current;
    }
    if is_named {
        return Standing::Ahead;
    }
    // The store may be as it was before a frame that was committed.
    let later = all.iter().position(|seen| seen.previous == committed);
    let later = later.and_then(|at| all.get(at..)).unwrap_or_default();
    let is_ahead = later.iter().any(|seen| later.iter().any(|before| before.number == seen.previous));
    if is_ahead { Standing::Ahead } else { Standing::Behind }
}

/// Opens and locks a file.
fn open(path: &Path) -> Result<File, JournalError> {
    let file = reader::open(path, OpenOptions::new().read(true).write(true))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(JournalError::InUse(path.to_owned())),
        Err(error) => Err(system(path)(error.into())),
    }
}

fn create(path: &Path, head: &Head) -> Result<(), JournalError> {
    let mut line = serde_json::to_vec(head).map_err(|error| system(path)(error.into()))?;
    line.push(b'\n');
    private_file::replace(path, &line).map_err(system(path))?;
    tracing::info!(path = %path.display(), "a journal was begun; a backup from now on can be restored with it");
    Ok(())
}

/// If a file is of an earlier epoch, gives it another name and begins a new one.
fn set_aside(path: &Path, head: &Head) -> Result<(), JournalError> {
    let found = Reader::open(path)?.head;
    if found.store_id != head.store_id {
        return Err(JournalError::OtherStore(path.to_owned()));
    }
    if found.epoch == head.epoch {
        let is_own = found.daemon == head.daemon;
        return if is_own { Ok(()) } else { Err(JournalError::OtherDaemon(path.to_owned())) };
    }
    if found.epoch > head.epoch {
        return Err(JournalError::Later { path: path.to_owned(), begun: found.begun });
    }
    // The file itself, and not a link to it.
    let path = &fs::canonicalize(path).map_err(system(path))?;
    let aside = link_aside(path, found.epoch)?;
    tracing::info!(path = %aside.display(), "the journal from before the restore is kept in this file");
    create(path, head)
}

/// Gives the journal of an epoch a second name, which is unused unless it names the same file. The new file takes the place of
/// the first name at once, so a crash leaves one of both there.
fn link_aside(path: &Path, epoch: u32) -> Result<PathBuf, JournalError> {
    let mut number = 1;
    loop {
        let mut aside = path.to_owned().into_os_string();
        aside.push(if number == 1 { format!(".{epoch}") } else { format!(".{epoch}-{number}") });
        let aside = PathBuf::from(aside);
        match fs::hard_link(path, &aside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && is_same(path, &aside) => {
                return Ok(aside);
            }
            // A journal of the same epoch is kept already, from an earlier restore.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_ASIDE => number += 1,
            linked => return linked.map(|()| aside.clone()).map_err(system(&aside)),
        }
    }
}

/// Returns whether two paths name the same file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}
