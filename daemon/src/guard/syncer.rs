//! Syncs the guard file in the background.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The guard file is synced at most this often.
const SYNC_EVERY: Duration = Duration::from_millis(20);

/// Syncs the guard file in the background.
pub(super) struct Syncer {
    work: Mutex<Work>,
    wake: Condvar,
}

#[derive(Default)]
struct Work {
    file: Option<Arc<File>>,
    /// Why the last sync failed, until it is reported.
    failure: Option<io::Error>,
    stopped: bool,
}

impl Syncer {
    pub(super) fn start() -> Arc<Self> {
        let syncer = Arc::new(Self { work: Mutex::default(), wake: Condvar::new() });
        let own = Arc::clone(&syncer);
        std::thread::spawn(move || own.run());
        syncer
    }

    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the file synced soon. Fails if the sync before failed.
    pub(super) fn sync(&self, file: &Arc<File>) -> io::Result<()> {
        let mut work = self.lock();
        if let Some(error) = work.failure.take() {
            return Err(error);
        }
        if work.file.is_none() {
            work.file = Some(Arc::clone(file));
            drop(work);
            self.wake.notify_one();
        }
        Ok(())
    }

    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.wake.notify_one();
    }

    fn run(&self) {
        loop {
            let mut work = self.lock();
            while work.file.is_none() && !work.stopped {
                work = self.wake.wait(work).unwrap_or_else(PoisonError::into_inner);
            }
            if work.stopped {
                return;
            }
            // What is written meanwhile is synced with it.
            work = self.wake.wait_timeout(work, SYNC_EVERY).unwrap_or_else(PoisonError::into_inner).0;
            let file = work.file.take();
            drop(work);
            if let Some(Err(error)) = file.map(|file| sync(&file)) {
                self.lock().failure = Some(error);
            }
        }
    }
}

/// Syncs a file. Fails if it has no name any more: the next start would not find it.
fn sync(file: &File) -> io::Result<()> {
    file.sync_data()?;
    if file.metadata()?.nlink() == 0 {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it was removed or replaced"));
    }
    Ok(())
}
