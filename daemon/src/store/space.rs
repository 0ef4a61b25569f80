//! Free space: engines fail on a full disk, so groups are rejected before it is full.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::StoreError;

/// Size of the spare file in bytes. It is removed on a full disk, so that the store can be opened.
const SPARE: u64 = 8 * 1024 * 1024;
/// Free bytes below which the spare file is removed before the store is opened: a few segments of the log of sled.
const OPENING: u64 = 4 * 1024 * 1024;
/// Free bytes below which a failure is attributed to a full disk: one segment of the log of sled.
const EXHAUSTED: u64 = 512 * 1024;
/// Number of bytes that are written to test whether writing is possible.
const PROBE: usize = 64 * 1024;

/// The free space on the file system of a directory.
pub(super) struct Space {
    folder: PathBuf,
    /// Number of bytes that must be free.
    reserve: u64,
}

impl Space {
    pub(super) fn new(folder: &Path, reserve: u64) -> Self {
        Self { folder: folder.to_owned(), reserve }
    }

    /// Returns an error if writing at most this number of bytes might fill the disk.
    pub(super) fn check(&self, bytes: u64) -> Result<(), StoreError> {
        let needed = self.reserve.saturating_add(bytes);
        match self.free() {
            Some(free) if free < needed => Err(self.full(free, needed)),
            // If the free space is unknown, a failed write reports a full disk.
            _ => Ok(()),
        }
    }

    /// Removes the spare file if the disk is too full to open the store.
    pub(super) fn free_spare(&self) {
        if self.free().is_some_and(|free| free < OPENING) {
            // The file may be missing; the next write then reports the missing space.
            let _ = fs::remove_file(self.spare());
        }
    }

    /// Returns an error if the disk is not writable.
    pub(super) fn probe(&self) -> Result<(), StoreError> {
        let written = self.try_write();
        written.map_err(|error| StoreError::Failed { doing: "writing to the disk", cause: error.to_string() })
    }

    /// Creates the spare file again, if there is enough space.
    pub(super) fn restore(&self) {
        let has_space = self.free().is_some_and(|free| free >= self.reserve.saturating_add(SPARE));
        if self.reserve > 0 && has_space && !self.spare().exists() {
            // Without the spare file, the recovery from a full disk only takes longer.
            let _ = self.allocate();
        }
    }

    fn allocate(&self) -> std::io::Result<()> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.spare())?;
        fallocate(&file, FallocateFlags::empty(), 0, SPARE)?;
        Ok(())
    }

    fn try_write(&self) -> std::io::Result<()> {
        let path = self.folder.join("probe");
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(&vec![0; PROBE])?;
            file.sync_all()
        });
        let removed = fs::remove_file(&path);
        written.and(removed)
    }

    fn spare(&self) -> PathBuf {
        self.folder.join("spare")
    }

    fn free(&self) -> Option<u64> {
        let system = statvfs(&self.folder).ok()?;
        Some(system.f_bavail.saturating_mul(system.f_frsize))
    }

    /// Converts an I/O error. On a full file system, the result contains the missing space.
    pub(super) fn failed(&self, doing: &'static str, path: &Path, source: std::io::Error) -> StoreError {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                let free = self.free().unwrap_or(0);
                self.full(free, self.reserve.max(free.saturating_add(1)))
            }
            _ => StoreError::System { doing, path: path.display().to_string(), source },
        }
    }

    /// Returns whether the file system has no space even for a small file.
    pub(super) fn is_exhausted(&self) -> bool {
        self.free().is_some_and(|free| free < EXHAUSTED)
    }

    fn full(&self, free: u64, needed: u64) -> StoreError {
        StoreError::Full { folder: self.folder.display().to_string(), free, needed }
    }
}
