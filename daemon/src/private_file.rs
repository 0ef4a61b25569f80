//! Private files, which are written atomically and are readable by their owner only.

use std::fs;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::fail_points;

/// Maximum length of a file with a secret, in bytes.
const LONGEST_SECRET: u64 = 4096;
/// End of the name of a file that is not complete yet.
pub const DRAFT: &str = ".new";

/// An error while opening a file with a secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the read.
        source: Error,
    },
    /// Other users have access to the file.
    #[error("the secret file {0} is accessible to other users (mode {1:04o}); run: chmod 600 {0}")]
    TooOpen(PathBuf, u32),
    /// The first line of the file is empty.
    #[error("the secret file {0} begins with an empty line; write the secret to its first line")]
    Empty(PathBuf),
}

/// Opens a file with a secret, which must not be accessible to other users.
///
/// # Errors
/// Returns [`SecretFileError`] if the file cannot be opened, or if other users have access to it.
pub fn open_secret(path: &Path) -> std::result::Result<fs::File, SecretFileError> {
    let failed = |source| SecretFileError::Read { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SecretFileError::TooOpen(path.to_owned(), mode));
    }
    Ok(file)
}

/// Reads the first line of a file with a secret.
///
/// # Errors
/// See [`open_secret`].
pub fn first_line(path: &Path) -> std::result::Result<Zeroizing<String>, SecretFileError> {
    let file = open_secret(path)?;
    let mut text = Zeroizing::new(String::with_capacity(4096));
    let read = file.take(LONGEST_SECRET).read_to_string(&mut text);
    read.map_err(|source| SecretFileError::Read { path: path.to_owned(), source })?;
    Ok(Zeroizing::new(text.lines().next().unwrap_or_default().to_owned()))
}

/// Creates a file with mode 0600 and makes it durable.
///
/// # Errors
/// Returns [`ErrorKind::AlreadyExists`] and changes nothing if a file of this name exists, and an I/O error
/// if the file cannot be written.
pub fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes, RenameFlags::NOREPLACE)
}

/// Creates or replaces a file with mode 0600 and makes it durable.
///
/// # Errors
/// Returns an I/O error if the file cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    write(&resolve_link(path)?, bytes, RenameFlags::empty())
}

/// Resolves a symbolic link, whose target need not exist. Other paths are returned as they are.
fn resolve_link(path: &Path) -> Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(fs::read_link(path).map_or_else(|_| path.to_owned(), |target| folder(path).join(target)))
        }
        real => real,
    }
}

/// A file with mode 0600 that gets its name once it is complete. Until then, it has another name in the same directory, and
/// it is removed if it is dropped.
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Begins a file.
    ///
    /// # Errors
    /// Returns [`ErrorKind::AlreadyExists`] if a file of this name exists, and an I/O error if none can be created.
    pub fn begin(path: &Path) -> Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(Error::new(ErrorKind::AlreadyExists, "the file exists already"));
        }
        let mut name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
        name.push(".");
        let file = tempfile::Builder::new().prefix(&name).suffix(DRAFT).tempfile_in(folder(path))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Returns the path of the file while it is not complete.
    pub fn temporary(&self) -> &Path {
        self.file.path()
    }

    /// Gives the complete file its name, and makes it durable.
    ///
    /// # Errors
    /// Returns [`ErrorKind::AlreadyExists`] if a file of this name exists, and an I/O error if it cannot be made durable.
    pub fn finish(self) -> Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(&self.path).map_err(|error| error.error)?;
        fs::File::open(folder(&self.path))?.sync_all()
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

fn write(path: &Path, bytes: &[u8], how: RenameFlags) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(DRAFT);
    let draft = PathBuf::from(name);
    // A file left by an interrupted writer may have any mode.
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fail_points::reach("file.draft");
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let renamed =
        file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| rename(&draft, path, how));
    if let Err(error) = renamed {
        fs::remove_file(&draft)?;
        return Err(error);
    }
    fail_points::reach("file.named");
    fs::File::open(folder(path))?.sync_all()
}

/// Returns the directory of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn rename(draft: &Path, path: &Path, how: RenameFlags) -> Result<()> {
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
    fn replaces_interrupted_drafts_but_no_finished_files() {
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
