//! Background sync of the guard file.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Minimum interval between two syncs.
const SYNC_EVERY: Duration = Duration::from_millis(20);

/// Syncs the guard file in the background.
pub(super) struct Syncer {
    path: PathBuf,
    work: Mutex<Work>,
    wake: Condvar,
}

#[derive(Default)]
struct Work {
    /// The file that is open now.
    file: Option<Arc<File>>,
    /// Whether a sync is due.
    is_due: bool,
    /// Error of the last sync, until it is reported.
    failure: Option<io::Error>,
    stopped: bool,
    #[cfg(test)]
    syncs: u128,
}

impl Syncer {
    /// Starts the thread for the file at this path.
    pub(super) fn start(path: &Path) -> Arc<Self> {
        let syncer = Arc::new(Self { path: path.to_owned(), work: Mutex::default(), wake: Condvar::new() });
        let own = Arc::clone(&syncer);
        std::thread::spawn(move || own.run());
        syncer
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Schedules a sync of the file.
    pub(super) fn sync(&self, file: &Arc<File>) {
        let mut work = self.lock();
        work.file = Some(Arc::clone(file));
        let was_due = std::mem::replace(&mut work.is_due, true);
        drop(work);
        if !was_due {
            self.wake.notify_one();
        }
    }

    /// Syncs a newly opened file at once. Errors of the previous file are discarded.
    pub(super) fn sync_now(&self, file: &Arc<File>) -> io::Result<()> {
        let mut work = self.lock();
        work.file = Some(Arc::clone(file));
        (work.is_due, work.failure) = (false, None);
        drop(work);
        sync(file, &self.path)
    }

    /// Returns the error of a failed sync once.
    pub(super) fn report(&self) -> io::Result<()> {
        self.lock().failure.take().map_or(Ok(()), Err)
    }

    /// Returns whether a failed sync is not reported yet.
    #[cfg(test)]
    pub(super) fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.wake.notify_one();
    }

    fn run(&self) {
        loop {
            let mut work = self.lock();
            while !work.is_due && !work.stopped {
                work = self.wake.wait(work).unwrap_or_else(PoisonError::into_inner);
            }
            if work.stopped {
                return;
            }
            // The sync includes everything written during this wait.
            let waited = self.wake.wait_timeout_while(work, SYNC_EVERY, |work| !work.stopped);
            work = waited.unwrap_or_else(PoisonError::into_inner).0;
            work.is_due = false;
            #[cfg(test)]
            {
                work.syncs += 1;
            }
            let Some(file) = work.file.clone() else { continue };
            drop(work);
            if let Err(error) = sync(&file, &self.path) {
                let mut work = self.lock();
                if work.file.as_ref().is_some_and(|newest| Arc::ptr_eq(newest, &file)) {
                    work.failure = Some(error);
                }
            }
        }
    }
}

/// Syncs a file. Fails if the path names another file now, because the next start would not find this one.
fn sync(file: &File, path: &Path) -> io::Result<()> {
    file.sync_data()?;
    let (open, named) = (file.metadata()?, fs::metadata(path));
    let is_named = |named: &fs::Metadata| (named.dev(), named.ino()) == (open.dev(), open.ino());
    match named {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(named) if is_named(&named) => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed or replaced")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_file_that_is_written_constantly_is_synced_every_20_milliseconds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("guard");
        let file = Arc::new(File::create(&path).unwrap());
        let (syncer, begun) = (Syncer::start(&path), Instant::now());
        while begun.elapsed() < SYNC_EVERY * 10 {
            syncer.sync(&file);
            std::thread::yield_now();
        }
        let syncs = syncer.lock().syncs;
        let most = begun.elapsed().as_millis() / SYNC_EVERY.as_millis() + 1;
        assert!((1..=most).contains(&syncs), "{syncs} of {most}");
        syncer.stop();
    }
}
