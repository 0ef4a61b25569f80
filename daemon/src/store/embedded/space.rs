//! Free space: sled does not survive a full disk, so groups are refused before it is full.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::StoreError;

/// Size of the file that is removed when the disk is full all the same, so that the store can be opened, in bytes.
const SPARE: u64 = 8 * 1024 * 1024;
/// With fewer bytes free, the spare file is removed before the store is opened: a few segments of sled's log.
const OPENING: u64 = 4 * 1024 * 1024;
/// How many bytes sled may write for each byte of a group.
const AMPLIFICATION: u64 = 4;
/// With fewer bytes free, an engine that fails is taken to fail for that reason: one segment of sled's log.
const EXHAUSTED: u64 = 512 * 1024;
/// How many bytes are written to learn whether writing is possible.
const PROBE: usize = 64 * 1024;

/// The free space of the file system of a folder.
pub(super) struct Space {
    folder: PathBuf,
    /// Bytes that must be free.
    reserve: u64,
}

impl Space {
    pub(super) fn new(folder: &Path, reserve: u64) -> Self {
        Self { folder: folder.to_owned(), reserve }
    }

    /// Fails if a group of so many bytes might fill the disk.
    pub(super) fn check(&self, bytes: u64) -> Result<(), StoreError> {
        let needed = self.reserve.saturating_add(bytes.saturating_mul(AMPLIFICATION));
        match self.free() {
            Some(free) if free < needed => Err(self.full(free, needed)),
            // Where the system does not tell, a write that fails does.
            _ => Ok(()),
        }
    }

    /// Removes the spare file if the disk is so full that the store could not be opened.
    pub(super) fn make_way(&self) {
        if self.free().is_some_and(|free| free < OPENING) {
            // There may be none, and what is written next reports what is missing.
            let _ = fs::remove_file(self.spare());
        }
    }

    /// Fails if the disk takes no writes.
    pub(super) fn probe(&self) -> Result<(), StoreError> {
        let written = self.try_write();
        written.map_err(|error| StoreError::Failed { doing: "writing to the disk", cause: error.to_string() })
    }

    /// Creates the spare file again, if there is space for it.
    pub(super) fn restore(&self) {
        let roomy = self.free().is_some_and(|free| free >= self.reserve.saturating_add(SPARE));
        if self.reserve > 0 && roomy && !self.spare().exists() {
            // Without it, a full disk only takes longer to recover from.
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

    /// The error of a call of the system. On a full file system it names the space that is missing.
    pub(super) fn failed(&self, doing: &'static str, path: &Path, source: std::io::Error) -> StoreError {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                let free = self.free().unwrap_or(0);
                self.full(free, self.reserve.max(free.saturating_add(1)))
            }
            _ => StoreError::System { doing, path: path.display().to_string(), source },
        }
    }

    /// Whether the file system has no space for even a small file.
    pub(super) fn is_exhausted(&self) -> bool {
        self.free().is_some_and(|free| free < EXHAUSTED)
    }

    fn full(&self, free: u64, needed: u64) -> StoreError {
        StoreError::Full { folder: self.folder.display().to_string(), free, needed }
    }
}
