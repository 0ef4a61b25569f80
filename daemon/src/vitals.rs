//! What the daemon uses of its host: memory and disk space, and which boot of the host it runs in. A value that cannot
//! be determined is absent.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::statvfs;

/// Maximum number of files of the store whose sizes are added.
const FILES: usize = 4096;
/// Maximum depth of directories below that of the store.
const DEPTH: u32 = 2;
/// Unit of the number of blocks of a file, in bytes (`stat(2)`).
const BLOCK: u64 = 512;

/// Location of a store.
#[derive(Debug, Clone)]
pub struct Place {
    /// Directory of the store.
    pub folder: PathBuf,
    /// Space that stays free on its file system, in bytes.
    pub reserve: u64,
}

impl Place {
    /// Returns the space that the files of the store use, in bytes.
    pub fn used(&self) -> Option<u64> {
        used(&self.folder, DEPTH, &mut { FILES })
    }

    /// Returns the free space and the size of the file system, in bytes.
    pub fn disk(&self) -> Option<(u64, u64)> {
        let system = statvfs(&self.folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(system.f_frsize);
        Some((bytes(system.f_bavail), bytes(system.f_blocks)))
    }
}

fn used(folder: &Path, depth: u32, files: &mut usize) -> Option<u64> {
    let mut sum: u64 = 0;
    for entry in fs::read_dir(folder).ok()? {
        *files = files.checked_sub(1)?;
        // A file may be removed between the two reads.
        let Ok(metadata) = entry.as_ref().ok()?.metadata() else { continue };
        let size = match depth.checked_sub(1) {
            Some(depth) if metadata.is_dir() => used(&entry.ok()?.path(), depth, files)?,
            _ => metadata.blocks().saturating_mul(BLOCK),
        };
        sum = sum.saturating_add(size);
    }
    Some(sum)
}

/// Returns the resident memory of this process, in bytes.
pub fn memory() -> Option<u64> {
    kibibytes("/proc/self/status", "VmRSS:")
}

/// Returns the memory of the host, in bytes.
pub fn host_memory() -> Option<u64> {
    kibibytes("/proc/meminfo", "MemTotal:")
}

/// Returns the random id of this boot of the host.
pub fn boot_id() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// Returns a value in kB of a file of the `proc` file system, in bytes.
fn kibibytes(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(number.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn sizes_are_determined() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { folder: folder.path().to_owned(), reserve: 0 };
        assert_eq!(place.used(), Some(0));
        fs::create_dir(folder.path().join("blobs")).unwrap();
        fs::write(folder.path().join("blobs/1"), vec![1; 40_000]).unwrap();
        fs::write(folder.path().join("db"), vec![1; 10_000]).unwrap();
        assert!(place.used().unwrap() >= 50_000);
        let (free, size) = place.disk().unwrap();
        assert!(free <= size && size > 0);
        assert!(memory().unwrap() > 100_000 && host_memory().unwrap() > memory().unwrap());
        let missing = Place { folder: folder.path().join("missing"), reserve: 0 };
        assert_eq!((missing.used(), missing.disk()), (None, None));
    }
}
