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

use super::{FORMAT, Frame, FrameChange, Head, JournalError, OrganizationChange, Reader, place, system};
use crate::barrier::Barrier;
use crate::{fail_points, private_file};

/// Time between two attempts to write after a failure.
const RETRY: Duration = Duration::from_secs(1);

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
    previous: u64,
    /// Time of the group, in milliseconds since 1970; zero if there is no frame.
    time: Millis,
    has_changes: bool,
}

impl Journal {
    /// Opens or creates the journal of a store in this epoch. `committed` is the number of its newest frame, as the store
    /// has it. What an earlier epoch has written is kept in another file.
    ///
    /// # Errors
    /// Returns an error if the file is missing but should not be, is damaged, is of another store, has changes that the store
    /// does not have, or cannot be written.
    pub fn open(
        path: &Path,
        barrier: &Barrier,
        (epoch, committed): (u32, u64),
        now: Millis,
    ) -> Result<Self, JournalError> {
        let head = Head {
            format: FORMAT.to_owned(),
            store_id: barrier.vault().store_id().to_owned(),
            epoch,
            begun: now,
        };
        match fs::metadata(path) {
            Ok(found) if found.len() == 0 => create(path, &head)?,
            Ok(_) => set_aside(path, &head)?,
            Err(error) if error.kind() == ErrorKind::NotFound && committed == 0 => create(path, &head)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(JournalError::Missing(path.to_owned()));
            }
            Err(error) => return Err(system(path)(error)),
        }
        let (mut journal, is_whole) = Self::read(path, barrier)?;
        journal.check(committed)?;
        let number = journal.newest.number;
        if number < committed && !is_whole {
            return Err(JournalError::Damaged(path.to_owned(), "its end cannot be read"));
        }
        if !is_whole {
            tracing::warn!(path = %path.display(), "the last frame of the journal was not written completely");
        }
        if number < committed && journal.frames > 0 {
            tracing::warn!(
                path = %path.display(),
                "changes are missing at the end of the journal; make a backup, which contains them"
            );
        }
        journal.resume(barrier, committed)?;
        Ok(journal)
    }

    /// Checks that a store with this number of the newest committed frame has all changes of the journal of its epoch, if there
    /// is one.
    ///
    /// # Errors
    /// Returns an error if it has not, or the file cannot be read.
    pub fn check_all_committed(
        path: &Path,
        barrier: &Barrier,
        (epoch, committed): (u32, u64),
    ) -> Result<(), JournalError> {
        if !fs::metadata(path).is_ok_and(|found| found.len() > 0) || Reader::open(path)?.head.epoch != epoch {
            return Ok(());
        }
        Self::read(path, barrier)?.0.check(committed)
    }

    fn check(&self, committed: u64) -> Result<(), JournalError> {
        let is_ahead = self.newest.previous > committed;
        if is_ahead { Err(JournalError::Ahead(self.path.clone())) } else { Ok(()) }
    }

    /// Opens a journal to which the store does not have all changes. These are void from now on.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or written.
    pub fn void_after(path: &Path, barrier: &Barrier, committed: u64) -> Result<(), JournalError> {
        let (mut journal, _) = Self::read(path, barrier)?;
        journal.resume(barrier, committed)
    }

    /// Locks and reads a file. Also returns whether its last frame was written completely.
    fn read(path: &Path, barrier: &Barrier) -> Result<(Self, bool), JournalError> {
        let file = open(path)?;
        let mut reader = Reader::of(file.try_clone().map_err(system(path))?, path)?;
        if reader.head.store_id != barrier.vault().store_id() {
            return Err(JournalError::OtherStore(path.to_owned()));
        }
        let mut newest = Newest::default();
        while let Some(plain) = reader.frame(barrier.vault().journal())? {
            let Frame { number, previous, time, changes } = Frame::decode(&plain)?;
            newest = Newest { number, previous, time, has_changes: !changes.is_empty() };
        }
        let is_whole = reader.is_whole();
        let Reader { digest, end, position: frames, .. } = reader;
        let (path, committed) = (path.to_owned(), newest.previous);
        let journal =
            Self { path, file, digest, end, frames, newest, committed, pending: None, failure: None };
        Ok((journal, is_whole))
    }

    /// Returns the number of the next frame.
    pub fn next(&self) -> u64 {
        self.newest.number.max(self.committed).saturating_add(1)
    }

    /// Returns the time of the newest frame, in milliseconds since 1970; `None` if there is none.
    pub fn time(&self) -> Option<Millis> {
        Some(self.newest.time).filter(|_| self.frames > 0)
    }

    /// Returns why changes are not accepted now, if they are not.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_ref().map(|(_, cause)| cause.as_str())
    }

    /// Adds the changes of a group, and makes them durable.
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
        let changes = changes.iter().map(|change| FrameChange::from(*change)).collect();
        self.append(barrier, &Frame { number, previous: self.committed, time, changes })?;
        self.pending = Some(number);
        Ok(())
    }

    /// Records that the group that was being committed is durable.
    pub fn committed(&mut self) {
        self.committed = self.pending.take().unwrap_or(self.committed);
    }

    /// Records which frame is the newest committed one. Later ones are void from now on.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn resume(&mut self, barrier: &Barrier, committed: u64) -> Result<(), JournalError> {
        (self.committed, self.pending) = (committed, None);
        let Newest { number, time, has_changes, .. } = self.newest;
        if number > committed && has_changes {
            self.append(
                barrier,
                &Frame { number: self.next(), previous: committed, time, changes: Vec::new() },
            )?;
        }
        Ok(())
    }

    /// Records that the group of the newest frame was not committed.
    pub fn abandon(&mut self, barrier: &Barrier) {
        // The next frame shows it as well, so an error needs no handling.
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
        // Not before the lock of the file is released, since it may be the same one.
        let _ = flock(&self.file, FlockOperation::Unlock);
        let file = open(&self.path)?;
        let reader = Reader::of(file.try_clone().map_err(system(&self.path))?, &self.path)?;
        let length = file.metadata().map_err(system(&self.path))?.len();
        if reader.digest != self.digest || length < self.end {
            return Err(JournalError::Damaged(self.path.clone(), "it was replaced"));
        }
        self.file = file;
        let Newest { time, .. } = self.newest;
        let (number, previous) = (self.next(), self.committed);
        self.append(barrier, &Frame { number, previous, time, changes: Vec::new() })?;
        self.failure = None;
        Ok(())
    }

    fn append(&mut self, barrier: &Barrier, frame: &Frame<'_>) -> Result<(), JournalError> {
        let framed = self.seal(barrier, frame)?;
        if let Err(source) = self.write(&framed) {
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
        let Frame { number, previous, time, ref changes } = *frame;
        self.newest = Newest { number, previous, time, has_changes: !changes.is_empty() };
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
        Ok([length.to_be_bytes().as_slice(), &sealed].concat())
    }

    fn write(&self, framed: &[u8]) -> io::Result<()> {
        fail_points::reach("journal.append");
        let (open, named) = (self.file.metadata()?, fs::metadata(&self.path)?);
        if (open.dev(), open.ino()) != (named.dev(), named.ino()) {
            return Err(io::Error::new(ErrorKind::NotFound, "the file was replaced"));
        }
        if open.len() != self.end {
            // What a failed attempt has left.
            self.file.set_len(self.end)?;
        }
        self.file.write_all_at(framed, self.end)?;
        self.file.sync_all()?;
        fail_points::reach("journal.appended");
        Ok(())
    }
}

/// Opens and locks a file.
fn open(path: &Path) -> Result<File, JournalError> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(system(path))?;
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
        return Ok(());
    }
    if found.epoch > head.epoch {
        return Err(JournalError::Later { path: path.to_owned(), begun: found.begun });
    }
    let mut aside = path.to_owned().into_os_string();
    aside.push(format!(".{}", found.epoch));
    let aside = PathBuf::from(aside);
    // The new file takes the place of the other name at once, so a crash leaves one of both there.
    match fs::hard_link(path, &aside) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_same(path, &aside) => {}
        linked => linked.map_err(system(&aside))?,
    }
    tracing::info!(path = %aside.display(), "the journal from before the restore is kept in this file");
    create(path, head)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}
