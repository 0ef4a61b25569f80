//! Paths of the user's own files, and access to them. The only module that reads and writes files.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, OFlags, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

/// Highest number that is tried to make a file name unique.
const NUMBERED: u32 = 100;

/// Attempts to lock a file, and the pause between two of them.
const LOCK_ATTEMPTS: u32 = 200;
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// Permission bits that let other users change a file or folder.
pub(crate) const WRITABLE: u32 = 0o022;

/// Path of a socket below the folder for running programs.
const SOCKET: &str = "quorate/quorated.sock";

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The operating system reported an error.
    #[error("{path}: {source}")]
    System { path: String, source: std::io::Error },
    /// Other users than the owner can access the file.
    #[error("{}: other users can access it (mode {mode:03o}); run `chmod 600` on it", path.display())]
    Permissions {
        path: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// Other users than the owner can change the file.
    #[error("{}: other users can change it (mode {mode:03o}); check its content, then run `chmod go-w` on it", path.display())]
    Writable {
        path: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// The file belongs to another user, who can change it.
    #[error("{}: it belongs to another user (id {owner}), who can change it; replace it by a file of your own", path.display())]
    Owner {
        path: PathBuf,
        /// Id of the user.
        owner: u32,
    },
    /// The file exceeds the size limit of its kind.
    #[error("{}: too large", .0.display())]
    Size(PathBuf),
    /// Another process holds the lock for long.
    #[error("{}: locked by another process", .0.display())]
    Locked(PathBuf),
    /// Something else than a file is at the path.
    #[error("{}: not a file", .0.display())]
    Other(PathBuf),
    /// The content is not valid.
    #[error("{}: invalid content", .0.display())]
    Content(PathBuf),
    /// The content is not valid, for a reason that names the place in the file.
    #[error("{}: {reason}", path.display())]
    Invalid { path: PathBuf, reason: String },
    #[error("{}: already exists", .0.display())]
    Exists(PathBuf),
    /// The environment does not define a home folder.
    #[error("cannot find a home folder: set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME")]
    NoHome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// Configuration, keys and address book: `$XDG_CONFIG_HOME/quorate` or `~/.config/quorate`.
    pub(crate) config: PathBuf,
    /// State of the console: `$XDG_STATE_HOME/quorate` or `~/.local/state/quorate`.
    pub(crate) state: PathBuf,
}

impl Folders {
    /// Determines the folders from the environment.
    pub(crate) fn from_environment() -> Result<Self, FileError> {
        Ok(Self {
            config: folder("XDG_CONFIG_HOME", ".config")?,
            state: folder("XDG_STATE_HOME", ".local/state")?,
        })
    }

    /// Returns the path of the known keys.
    pub(crate) fn known_keys(&self) -> PathBuf {
        self.state.join("roster.json")
    }

    /// Returns the path of the known checkpoints of activity logs.
    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.state.join("checkpoints.json")
    }

    /// Returns the path of the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.state.join("journal.jsonl")
    }

    /// Returns the path of the log of the console.
    pub(crate) fn log(&self) -> PathBuf {
        self.state.join("console.log")
    }

    /// Returns the path of the address book.
    pub(crate) fn book(&self) -> PathBuf {
        self.config.join("book.json")
    }

    /// Returns the folder of the key files.
    pub(crate) fn keys(&self) -> PathBuf {
        self.config.join("keys")
    }
}

/// Returns a path as a person writes it: `~/` is the home folder.
pub(crate) fn at_home(path: &str) -> PathBuf {
    let below_home = path.strip_prefix("~/").and_then(|rest| Some(absolute("HOME")?.join(rest)));
    below_home.unwrap_or_else(|| PathBuf::from(path))
}

/// Returns the default path of the socket: that of the user's own daemon, such as `quorated dev`, if it exists,
/// otherwise that of the host's daemon.
pub(crate) fn default_socket() -> PathBuf {
    let own = absolute("XDG_RUNTIME_DIR").map(|folder| folder.join(SOCKET));
    own.filter(|path| path.exists()).unwrap_or_else(|| Path::new("/run").join(SOCKET))
}

/// Returns the random id of this boot of the host, if the operating system has one.
pub(crate) fn boot_id() -> Option<String> {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    let bytes = read(path, 64).ok()??;
    Some(String::from_utf8(bytes).ok()?.trim().to_owned())
}

/// What is at the path of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketFile {
    Missing,
    /// A socket with these permission bits.
    Socket(u32),
    /// Something else.
    Other,
}

/// Returns what is at the path of a socket.
pub(crate) fn socket(path: &Path) -> Result<SocketFile, FileError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.file_type().is_socket() => {
            Ok(SocketFile::Socket(metadata.permissions().mode() & 0o777))
        }
        Ok(_) => Ok(SocketFile::Other),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(SocketFile::Missing),
        Err(error) => Err(system(path, error)),
    }
}

/// Returns the permission bits of a file or folder, if it exists.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    Some(fs::metadata(path).ok()?.permissions().mode() & 0o777)
}

/// Reads a file of at most `limit` bytes. Returns nothing if it does not exist.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
    open(path)?.map(|file| read_open(path, file, limit)).transpose()
}

/// Reads a file that contains secrets, or that the console trusts. Fails if other users than the owner can access it. Except
/// for the superuser, only files of this user can then be opened.
pub(crate) fn read_private(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let metadata = file.metadata().map_err(|error| system(path, error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(FileError::Permissions { path: path.to_owned(), mode });
    }
    read_open(path, file, limit).map(Some)
}

/// Reads a file of this console's own, as [`read_private`] does. Fails at once if something else is at the path: a pipe would
/// wait for its other end.
pub(crate) fn read_own(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(FileError::Other(path.to_owned())),
        _ => read_private(path, limit),
    }
}

/// Reads a file whose content decides what the console does, such as the configuration. Fails if users other than this one
/// and the superuser can change it.
pub(crate) fn read_trusted(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let metadata = file.metadata().map_err(|error| system(path, error))?;
    let user = rustix::process::geteuid().as_raw();
    check_trusted(path, (metadata.uid(), metadata.permissions().mode() & 0o777), user)?;
    read_open(path, file, limit).map(Some)
}

/// Checks that nobody but this user and the superuser can change a file with this owner and these permission bits.
fn check_trusted(path: &Path, (owner, mode): (u32, u32), user: u32) -> Result<(), FileError> {
    if owner != user && owner != 0 {
        return Err(FileError::Owner { path: path.to_owned(), owner });
    }
    if mode & WRITABLE != 0 {
        return Err(FileError::Writable { path: path.to_owned(), mode });
    }
    Ok(())
}

fn open(path: &Path) -> Result<Option<fs::File>, FileError> {
    match fs::File::open(path) {
        Ok(file) => Ok(Some(file)),
        // A link that leads nowhere is no missing file.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) => Err(system(path, error)),
    }
}

fn read_open(path: &Path, from: impl Read, limit: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| system(path, error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(FileError::Size(path.to_owned()));
    }
    Ok(bytes)
}

/// Locks what is stored at a path until the result is dropped. Other processes of this user wait for it, ten seconds at most.
pub(crate) fn lock(path: &Path) -> Result<impl Sized + use<>, FileError> {
    let folder = create_parent(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let own = folder.join(format!(".{name}.lock"));
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = private().create(true).truncate(false).custom_flags(flags).open(&own);
    let file = file.map_err(|error| system(&own, error))?;
    for _ in 0..LOCK_ATTEMPTS {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
            Err(error) => return Err(system(&own, error.into())),
        }
    }
    Err(FileError::Locked(own))
}

/// Reads standard input to its end, at most `limit` bytes.
pub(crate) fn read_input(limit: u64) -> Result<Vec<u8>, FileError> {
    read_open(Path::new("standard input"), std::io::stdin().lock(), limit)
}

/// Creates or replaces a file atomically, readable by its owner only.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_whole(path, bytes, RenameFlags::empty())
}

/// Creates a file atomically, readable by its owner only. Fails if it exists.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_whole(path, bytes, RenameFlags::NOREPLACE)
}

/// Creates a file in the current folder. If the name exists, a number is added to it. Returns the full path.
pub(crate) fn create_beside(name: &str, bytes: &[u8]) -> Result<PathBuf, FileError> {
    let folder = std::env::current_dir().map_err(|error| system(Path::new("."), error))?;
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = (2..=NUMBERED).map(|number| folder.join(format!("{stem}-{number}.{ending}")));
    let mut last = Err(FileError::Exists(folder.join(name)));
    for path in std::iter::once(folder.join(name)).chain(numbered) {
        last = create_private(&path, bytes).map(|()| path);
        if !matches!(last, Err(FileError::Exists(_))) {
            break;
        }
    }
    last
}

fn write_whole(path: &Path, bytes: &[u8], how: RenameFlags) -> Result<(), FileError> {
    let folder = create_parent(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let mut file =
        private().create(true).truncate(true).open(&draft).map_err(|error| system(&draft, error))?;
    if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
        // The disk may be full.
        let _ = fs::remove_file(&draft);
        return Err(system(&draft, error));
    }
    match renameat_with(CWD, &draft, CWD, path, how) {
        Ok(()) => {
            fs::File::open(&folder).and_then(|folder| folder.sync_all()).map_err(|error| system(path, error))
        }
        Err(error) => {
            fs::remove_file(&draft).map_err(|error| system(&draft, error))?;
            match error {
                Errno::EXIST => Err(FileError::Exists(path.to_owned())),
                other => Err(system(path, other.into())),
            }
        }
    }
}

/// Appends a line to a file that is readable by its owner only. It is durable afterwards.
pub(crate) fn append_private(path: &Path, line: &str) -> Result<(), FileError> {
    let folder = create_parent(path)?;
    let mut file = private().create(true).append(true).open(path).map_err(|error| system(path, error))?;
    let before = file.metadata().map_err(|error| system(path, error))?.len();
    if let Err(error) = file.write_all(line.as_bytes()).and_then(|()| file.sync_all()) {
        // A full file system may have taken a part of the line. If it stays, readers report it.
        let _ = file.set_len(before);
        return Err(system(path, error));
    }
    if before == 0 {
        fs::File::open(&folder).and_then(|folder| folder.sync_all()).map_err(|error| system(path, error))?;
    }
    Ok(())
}

/// Waits until no other process holds a file, and holds it until the returned value is dropped. Creates the file.
pub(crate) fn hold_private(path: &Path) -> Result<fs::File, FileError> {
    create_parent(path)?;
    let file = private().create(true).append(true).open(path).map_err(|error| system(path, error))?;
    // File systems without locks serve one process at a time.
    let _ = flock(&file, FlockOperation::LockExclusive);
    Ok(file)
}

/// Appends a line to a log. A log that is longer than `limit` bytes replaces the older one beside it.
pub(crate) fn append_log(path: &Path, line: &str, limit: u64) -> Result<(), FileError> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() > limit) {
        fs::rename(path, path.with_extension("log.1")).map_err(|error| system(path, error))?;
    }
    append_private(path, line)
}

pub(crate) fn remove(path: &Path) -> Result<(), FileError> {
    fs::remove_file(path).map_err(|error| system(path, error))
}

/// Returns the names of the files in a folder with this ending, sorted, without the ending.
pub(crate) fn names(folder: &Path, ending: &str) -> Result<Vec<String>, FileError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(system(folder, error)),
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    Ok(names)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn create_parent(path: &Path) -> Result<PathBuf, FileError> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    fs::create_dir_all(&folder).map_err(|error| system(&folder, error))?;
    Ok(folder)
}

fn folder(variable: &str, below_home: &str) -> Result<PathBuf, FileError> {
    let base = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below_home)));
    base.map(|base| base.join("quorate")).ok_or(FileError::NoHome)
}

/// Returns the absolute path in a variable. Relative paths must be ignored (XDG Base Directory
/// Specification).
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn system(path: &Path, source: std::io::Error) -> FileError {
    FileError::System { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trusts_files_that_only_this_user_or_the_superuser_can_change() {
        let check = |owner, mode, user| match check_trusted(Path::new("/c"), (owner, mode), user) {
            Ok(()) => "trusted",
            Err(FileError::Writable { .. }) => "writable",
            Err(FileError::Owner { .. }) => "owner",
            Err(_) => "other",
        };
        let rows = [
            ((1000, 0o600, 1000), "trusted"),
            ((1000, 0o644, 1000), "trusted"),
            // A file that the administrator manages.
            ((0, 0o444, 1000), "trusted"),
            ((0, 0o600, 0), "trusted"),
            ((1000, 0o664, 1000), "writable"),
            ((1000, 0o602, 1000), "writable"),
            ((0, 0o666, 1000), "writable"),
            ((1001, 0o644, 1000), "owner"),
            ((1000, 0o600, 0), "owner"),
        ];
        for ((owner, mode, user), expected) in rows {
            assert_eq!(check(owner, mode, user), expected, "{owner} {mode:o} {user}");
        }
    }
}
