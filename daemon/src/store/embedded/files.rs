//! The files of a store: created, opened, checked and removed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::StoreError;
use super::database::{Alarm, Database};
use super::panics::{Quiet, cause};
use super::space::Space;

/// How long reopening waits for the threads of the database that it replaces.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a sync that sled does in the background is taken to last.
const BACKGROUND: Duration = Duration::from_secs(10);
/// The file that holds sled's log.
const LOG: &str = "db";
/// Ending of a snapshot file that sled has not finished.
const UNFINISHED: &str = "generating";
/// Beginning of the names of snapshot files, which spare sled to read all of its log.
const SNAPSHOT: &str = "snap.";
/// What is put before the name of a snapshot that is not used.
const ASIDE: &str = "damaged.";
/// Folder in which sled stores large nodes, which it never syncs.
const BLOBS: &str = "blobs";
/// Marks a store in which nothing was ever stored: its creation was not finished.
const UNUSED: &str = "unused";
/// What fails when a store does not open.
const OPENING: &str = "opening the store in";
/// Capacity of sled's page cache, in bytes as stored; in memory it takes about two and a half times that.
const CACHE: u64 = 16 * 1024 * 1024;

/// Opens a database that does not open as it is, from its log alone: its snapshot is damaged, or does not fit the log. What
/// the log lost is missing then, and only the guard can tell.
pub(super) fn open_from_log(
    folder: &Path,
    space: &Space,
    alarm: &Arc<Alarm>,
) -> Result<Database, StoreError> {
    let failed = |source| space.failed(OPENING, folder, source);
    let snapshots = set_aside(folder).map_err(failed)?;
    let opened = open(folder, space, alarm);
    for (name, aside) in snapshots {
        if opened.is_ok() {
            let aside = aside.display();
            tracing::warn!(%aside, "the snapshot of the store is damaged, and was set aside: the store is read from its log");
        } else {
            fs::rename(aside, name).map_err(failed)?;
        }
    }
    opened
}

/// Renames the snapshots of a store, so that sled does not see them. Returns the old and the new names.
fn set_aside(folder: &Path) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    let mut renamed = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(SNAPSHOT.as_bytes()) {
            let mut other = OsString::from(ASIDE);
            other.push(&name);
            let aside = folder.join(other);
            fs::rename(entry.path(), &aside)?;
            renamed.push((entry.path(), aside));
        }
    }
    Ok(renamed)
}

/// Opens the database.
pub(super) fn open(folder: &Path, space: &Space, alarm: &Arc<Alarm>) -> Result<Database, StoreError> {
    let name = folder.display().to_string();
    let config = sled::Config::new().path(folder).flush_every_ms(None).cache_capacity(CACHE);
    let failed = |source| space.failed(OPENING, folder, source);
    let damaged = |cause: &str| {
        tracing::debug!(folder = name, cause, "the store does not open");
        StoreError::Damaged(name.clone())
    };
    if !remove_unfinished(folder).map_err(failed)? {
        return Err(StoreError::InUse(name));
    }
    let quiet = Quiet::begin();
    let opened = catch_unwind(AssertUnwindSafe(|| config.open()));
    drop(quiet);
    match opened {
        Ok(Ok(db)) => Ok(Database::new(db, config, Arc::clone(alarm))),
        Ok(Err(error)) if error.to_string().contains("could not acquire lock") => {
            Err(StoreError::InUse(name))
        }
        // An error without a number of the system is sled's own opinion of the file.
        Ok(Err(sled::Error::Io(error))) if error.raw_os_error().is_some() => Err(failed(error)),
        // sled does not say in all cases that the file system was full.
        _ if space.is_exhausted() => Err(failed(io::ErrorKind::StorageFull.into())),
        Ok(Err(error)) => Err(damaged(&cause(&error))),
        Err(_) => Err(damaged("its log is damaged")),
    }
}

/// Removes a snapshot that an interrupted start has not finished: sled would take it for the newest one, and for
/// damaged. Returns whether no process has the store open.
fn remove_unfinished(folder: &Path) -> io::Result<bool> {
    let log = match fs::File::open(folder.join(LOG)) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    // sled locks this file, too.
    match rustix::fs::flock(&log, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
        locked => locked?,
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == UNFINISHED) {
            fs::remove_file(path)?;
        }
    }
    Ok(true)
}

/// A second open file description of sled's log, which reports the write errors that the first one may not report.
///
/// Linux reports a failed write once for each open file description. When sled shrinks its log, it syncs it in the
/// background, on the description that makes groups durable. If a write of a group fails then, the background sync may
/// be the one that learns of it, and the sync of the group succeeds although bytes were dropped. A shorter log shows that
/// such a sync runs; a log that was shrunk and has grown again needs no look, since sled waits for it before that.
pub(super) struct LogWitness {
    log: fs::File,
    length: u64,
    /// Until when a background sync may still run.
    suspects: Option<Instant>,
}

impl LogWitness {
    /// Opens the log. No group may have been written since sled opened it.
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let open = || {
            let log = fs::File::open(folder.join(LOG))?;
            let length = log.metadata()?.len();
            Ok(Self { log, length, suspects: None })
        };
        open().map_err(|error: std::io::Error| StoreError::Failed {
            doing: "opening the store",
            cause: error.to_string(),
        })
    }

    /// Fails if a background sync took an error from the groups that were synced since the last call.
    pub(super) fn demand_no_loss(&mut self) -> Result<(), StoreError> {
        self.check()
            .map_err(|error| StoreError::Failed { doing: "making a group durable", cause: error.to_string() })
    }

    fn check(&mut self) -> std::io::Result<()> {
        let before = std::mem::replace(&mut self.length, self.log.metadata()?.len());
        if self.length < before {
            self.suspects = Some(Instant::now() + BACKGROUND);
        }
        let Some(until) = self.suspects else { return Ok(()) };
        if Instant::now() > until {
            self.suspects = None;
        }
        self.log.sync_data()
    }
}

/// Opens the database when the threads of the one before have let go of it.
pub(super) fn open_patiently(
    folder: &Path,
    space: &Space,
    alarm: &Arc<Alarm>,
) -> Result<Database, StoreError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match open(folder, space, alarm) {
            Err(StoreError::InUse(_)) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}

/// Makes the next reads of all files come from the disk: after a failed sync, memory may hold what the disk does not.
pub(super) fn distrust_cache(folder: &Path) -> Result<(), StoreError> {
    let forget = || {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let file = fs::File::open(entry.path())?;
                file.sync_all()?;
                rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
            }
        }
        Ok(())
    };
    forget().map_err(|error: io::Error| StoreError::Failed {
        doing: "syncing the files of the store",
        cause: error.to_string(),
    })
}

/// Gives a folder without sled's settings file that file, whole or not at all. sled writes it in two steps, and
/// refuses a store whose settings end after the first; so a store inside this folder writes it, and it is renamed.
pub(super) fn create(folder: &Path, space: &Space) -> Result<(), StoreError> {
    let settings = folder.join("conf");
    if settings.exists() {
        return Ok(());
    }
    let scratch = folder.join("conf.new");
    let clear = || match fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let make = || {
        clear()?;
        fs::create_dir_all(folder)?;
        let config = sled::Config::new().path(&scratch).temporary(true).flush_every_ms(None);
        let db = config.open().map_err(|error| match error {
            sled::Error::Io(error) => error,
            other => io::Error::other(cause(&other)),
        })?;
        let written = scratch.join("conf");
        fs::File::open(&written)?.sync_all()?;
        fs::rename(&written, &settings)?;
        drop(db);
        // Threads of sled may hold it a little longer.
        clear()?;
        fs::File::open(folder)?.sync_all()
    };
    make().map_err(|error| space.failed("creating the store", folder, error))
}

/// Whether the folder of a store is missing, empty, or was never finished.
///
/// # Errors
/// When the system does not let the folder be read.
pub(super) fn is_unused(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none() || folder.join(UNUSED).try_exists()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Marks the folder of a store as unused, before anything is stored in it. One that has a log is left as it is: another
/// process may just have begun to use it.
pub(super) fn mark_unused(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if folder.join(LOG).try_exists()? {
        return Ok(());
    }
    fs::File::create(folder.join(UNUSED))?.sync_all()?;
    fs::File::open(folder)?.sync_all()
}

/// Removes everything from an unused store but its mark.
pub(super) fn clear_unused(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != UNUSED {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes the mark of [`mark_unused`], before anything is stored in the folder.
pub(super) fn mark_used(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(UNUSED)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => fs::File::open(folder)?.sync_all(),
    }
}

pub(super) fn has_blobs(folder: &Path) -> bool {
    fs::read_dir(folder.join(BLOBS)).is_ok_and(|mut blobs| blobs.next().is_some())
}

pub(super) fn blobs_changed(folder: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(folder.join(BLOBS)).and_then(|blobs| blobs.modified()).ok()
}
