//! The directory of a store, whatever its engine: whether anything was ever stored in it, and its page cache.

use std::fs;
use std::io;
use std::path::Path;

use super::StoreError;

/// File that marks a store in which nothing was ever stored, because its creation was not finished.
const UNUSED: &str = "unused";

/// Returns whether the directory of a store is missing, empty, or was never finished.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub(super) fn is_unused(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none() || folder.join(UNUSED).try_exists()?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Marks the directory of a store as unused, before anything is stored in it. A directory with a data file
/// is not changed, because another process may just have begun to use it.
pub(super) fn mark_unused(folder: &Path, data_file: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if folder.join(data_file).try_exists()? {
        return Ok(());
    }
    fs::File::create(folder.join(UNUSED))?.sync_all()?;
    fs::File::open(folder)?.sync_all()
}

/// Removes everything from an unused store except its mark.
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

/// Removes the mark of [`mark_unused`], before anything is stored in the directory.
pub(super) fn mark_used(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(UNUSED)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => fs::File::open(folder)?.sync_all(),
    }
}

/// Drops all files of the store from the page cache. After a failed sync, the cache may differ from the disk.
pub(super) fn drop_page_cache(folder: &Path) -> Result<(), StoreError> {
    let drop_all = || {
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
    drop_all().map_err(|error: io::Error| StoreError::Failed {
        doing: "syncing the files of the store",
        cause: error.to_string(),
    })
}
