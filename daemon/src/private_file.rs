//! Files for their owner only, which are whole or not there, whenever the writer ends.

use std::fs;
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::fail_points;

/// Why a file with a secret is not read.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        source: Error,
    },
    /// Others than its owner have access to it.
    #[error("the file {0} holds a secret and may be read by others (mode {1:04o}); run: chmod 600 {0}")]
    TooOpen(PathBuf, u32),
}

/// Opens a file with a secret to which nobody but its owner has access.
pub fn open_secret(path: &Path) -> std::result::Result<fs::File, SecretFileError> {
    let failed = |source| SecretFileError::Read { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SecretFileError::TooOpen(path.to_owned(), mode));
    }
    Ok(file)
}

/// Creates a file, mode 0600, and makes it durable. Fails with [`ErrorKind::AlreadyExists`] and changes nothing
/// if one has this name.
pub fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes, RenameFlags::NOREPLACE)
}

/// Creates or replaces a file, mode 0600, and makes it durable.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    write(&followed(path)?, bytes, RenameFlags::empty())
}

/// What a symbolic link leads to, which need not be there yet; other paths as they are.
fn followed(path: &Path) -> Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(fs::read_link(path).map_or_else(|_| path.to_owned(), |target| folder(path).join(target)))
        }
        real => real,
    }
}

fn write(path: &Path, bytes: &[u8], how: RenameFlags) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let draft = PathBuf::from(name);
    // What a writer that was interrupted left may have any mode.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fail_points::reach("file.draft");
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let named =
        file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| give_name(&draft, path, how));
    if let Err(error) = named {
        fs::remove_file(&draft)?;
        return Err(error);
    }
    fail_points::reach("file.named");
    fs::File::open(folder(path))?.sync_all()
}

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn give_name(draft: &Path, path: &Path, how: RenameFlags) -> Result<()> {
    fail_points::reach("file.name");
    match renameat_with(CWD, draft, CWD, path, how) {
        // Some network file systems cannot rename without replacing.
        Err(Errno::INVAL) if how == RenameFlags::NOREPLACE => {
            fs::hard_link(draft, path)?;
            fs::remove_file(draft)
        }
        other => other.map_err(Error::from),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn replaces_what_was_left_and_nothing_that_was_finished() {
        let folder = tempfile::tempdir().unwrap();
        let (path, draft) = (folder.path().join("root.key"), folder.path().join("root.key.new"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(&draft, b"half").unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o644)).unwrap();
        create(&path, b"first").unwrap();
        assert_eq!((mode(&path), draft.exists()), (0o600, false));
        assert_eq!(create(&path, b"second").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&path).unwrap().as_slice(), draft.exists()), (b"first".as_slice(), false));
        fs::write(&draft, b"half").unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&path, b"third").unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (b"third".as_slice(), 0o600));
    }
}
