//! The files of sled: creation, opening and checks.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::StoreError;
use super::database::{Database, FailureNotifier};
use super::panics::cause;
use crate::store::panics::silently;
use crate::store::space::Space;

/// Maximum wait for the threads of the previous database when a store is reopened.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Assumed maximum duration of a background sync of sled.
const BACKGROUND: Duration = Duration::from_secs(10);
/// File name of sled's log.
pub(super) const LOG: &str = "db";
/// Extension of an unfinished snapshot file of sled.
const UNFINISHED: &str = "generating";
/// Prefix of snapshot files, which save sled from reading its whole log.
const SNAPSHOT: &str = "snap.";
/// Prefix that is prepended to the name of a snapshot that is not used.
const ASIDE: &str = "damaged.";
/// Directory in which sled stores large nodes, which it never syncs.
const BLOBS: &str = "blobs";
/// First part of the error of a store that cannot be opened.
const OPENING: &str = "opening the store in";
/// Capacity of sled's page cache, in bytes as stored. It uses about two and a half times that memory.
const CACHE: u64 = 16 * 1024 * 1024;

/// Opens a database from its log alone, because its snapshot is damaged or does not match the log. Records
/// that the log has lost are then missing, which only the guard can detect.
pub(super) fn open_from_log(
    folder: &Path,
    space: &Space,
    notifier: &Arc<FailureNotifier>,
) -> Result<Database, StoreError> {
    let failed = |source| space.failed(OPENING, folder, source);
    let snapshots = set_aside(folder).map_err(failed)?;
    let opened = open(folder, space, notifier);
    for (name, aside) in snapshots {
        if opened.is_ok() {
            let aside = aside.display();
            tracing::warn!(
                %aside,
                "the snapshot of the store is damaged and was renamed; the store is read from its log"
            );
        } else {
            fs::rename(aside, name).map_err(failed)?;
        }
    }
    opened
}

/// Renames the snapshots of a store, so that sled does not find them. Returns the old and the new paths.
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
pub(super) fn open(
    folder: &Path,
    space: &Space,
    notifier: &Arc<FailureNotifier>,
) -> Result<Database, StoreError> {
    let name = folder.display().to_string();
    let config = sled::Config::new().path(folder).flush_every_ms(None).cache_capacity(CACHE);
    let failed = |source| space.failed(OPENING, folder, source);
    let damaged = |cause: &str| {
        tracing::debug!(folder = name, cause, "the store cannot be opened");
        StoreError::Damaged(name.clone())
    };
    if !remove_unfinished(folder).map_err(failed)? {
        return Err(StoreError::InUse(name));
    }
    match silently(|| config.open()) {
        Some(Ok(db)) => Ok(Database::new(db, config, Arc::clone(notifier))),
        Some(Err(error)) if error.to_string().contains("could not acquire lock") => {
            Err(StoreError::InUse(name))
        }
        // An I/O error without an error number of the system is sled's own verdict on the file.
        Some(Err(sled::Error::Io(error))) if error.raw_os_error().is_some() => Err(failed(error)),
        // sled does not always report that the file system was full.
        _ if space.is_exhausted() => Err(failed(io::ErrorKind::StorageFull.into())),
        Some(Err(error)) => Err(damaged(&cause(&error))),
        None => Err(damaged("its log is damaged")),
    }
}

/// Removes a snapshot that an interrupted start has not finished. sled would regard it as the newest one, and
/// as damaged. Returns whether no process has the store open.
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

/// A second open file description of sled's log, which reports write errors that the first one may not
/// report.
///
/// Linux reports a failed write once for each open file description. When sled shrinks its log, it syncs the
/// log in the background, on the description that also makes groups durable. If a write of a group fails, the
/// background sync may consume the error. The sync of the group then succeeds although bytes were lost. A
/// shorter log indicates that such a sync may be running. A log that was shrunk and has grown again needs no
/// check, because sled waits for the background sync before it grows the log.
pub(super) struct LogWitness {
    log: fs::File,
    length: u64,
    /// Time until which a background sync may be running.
    suspect_until: Option<Instant>,
}

impl LogWitness {
    /// Opens the log. No group may have been written since sled opened it.
    ///
    /// # Errors
    /// Returns an error if the log cannot be opened.
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let open = || {
            let log = fs::File::open(folder.join(LOG))?;
            let length = log.metadata()?.len();
            Ok(Self { log, length, suspect_until: None })
        };
        open().map_err(|error: std::io::Error| StoreError::Failed {
            doing: "opening the store",
            cause: error.to_string(),
        })
    }

    /// Returns an error if a background sync has consumed an error of the groups that were synced since the
    /// last call.
    pub(super) fn check_no_loss(&mut self) -> Result<(), StoreError> {
        self.check()
            .map_err(|error| StoreError::Failed { doing: "making a group durable", cause: error.to_string() })
    }

    fn check(&mut self) -> std::io::Result<()> {
        let before = std::mem::replace(&mut self.length, self.log.metadata()?.len());
        if self.length < before {
            self.suspect_until = Some(Instant::now() + BACKGROUND);
        }
        let Some(until) = self.suspect_until else { return Ok(()) };
        if Instant::now() > until {
            self.suspect_until = None;
        }
        self.log.sync_data()
    }
}

/// Opens the database, after the threads of the previous one have released its lock.
pub(super) fn open_patiently(
    folder: &Path,
    space: &Space,
    notifier: &Arc<FailureNotifier>,
) -> Result<Database, StoreError> {
    let until = Instant::now() + TIMEOUT;
    loop {
        match open(folder, space, notifier) {
            Err(StoreError::InUse(_)) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
}

/// Creates sled's settings file atomically if it is missing. sled writes it in two steps and rejects a store
/// whose settings end after the first one. Therefore a scratch store in this directory writes the file, which
/// is then renamed.
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
    let create = || {
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
        // Threads of sled may still hold the scratch store.
        clear()?;
        fs::File::open(folder)?.sync_all()
    };
    create().map_err(|error| space.failed("creating the store", folder, error))
}

pub(super) fn has_blobs(folder: &Path) -> bool {
    fs::read_dir(folder.join(BLOBS)).is_ok_and(|mut blobs| blobs.next().is_some())
}

pub(super) fn blobs_changed(folder: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(folder.join(BLOBS)).and_then(|blobs| blobs.modified()).ok()
}
