//! Where the user's own files lie, and reading and writing them. The only room that touches files.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Most files that are written under numbers of one name.
const NUMBERED: u32 = 100;

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceFlaw {
    /// The operating system refused.
    #[error("{path}: {source}")]
    System {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Others than the owner may read it.
    #[error("{}: others may read it (mode {mode:03o}); run chmod 600 on it", path.display())]
    Wide {
        /// Which file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is larger than such a file can be.
    #[error("{}: too large", .0.display())]
    Size(PathBuf),
    /// It does not hold what it should.
    #[error("{}: unreadable content", .0.display())]
    Content(PathBuf),
    /// It is there already.
    #[error("{}: exists already", .0.display())]
    Exists(PathBuf),
    /// The environment names no home.
    #[error("neither HOME nor the XDG variables say where to keep files")]
    Homeless,
}

/// The user's own folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// Configuration, keys and address book: `$XDG_CONFIG_HOME/quorate` or `~/.config/quorate`.
    pub(crate) config: PathBuf,
    /// What the console remembers: `$XDG_STATE_HOME/quorate` or `~/.local/state/quorate`.
    pub(crate) state: PathBuf,
}

impl Folders {
    /// As the environment says.
    pub(crate) fn of_environment() -> Result<Self, PlaceFlaw> {
        Ok(Self {
            config: folder("XDG_CONFIG_HOME", ".config")?,
            state: folder("XDG_STATE_HOME", ".local/state")?,
        })
    }

    /// The keys that were seen.
    pub(crate) fn roster(&self) -> PathBuf {
        self.state.join("roster.json")
    }

    /// The record of decisions.
    pub(crate) fn journal(&self) -> PathBuf {
        self.state.join("journal.jsonl")
    }

    /// The address book.
    pub(crate) fn book(&self) -> PathBuf {
        self.config.join("book.json")
    }

    /// The folder of key files.
    pub(crate) fn keys(&self) -> PathBuf {
        self.config.join("keys")
    }
}

/// Where a daemon listens when nothing else is said.
pub(crate) fn default_socket() -> PathBuf {
    match absolute("XDG_RUNTIME_DIR") {
        Some(folder) => folder.join("quorate").join("quorated.sock"),
        None => PathBuf::from("/run/quorate/quorated.sock"),
    }
}

/// The content of a file, or nothing if there is none.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, PlaceFlaw> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(system(path, error)),
    };
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| system(path, error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(PlaceFlaw::Size(path.to_owned()));
    }
    Ok(Some(bytes))
}

/// The whole of standard input.
pub(crate) fn read_input(limit: u64) -> Result<Vec<u8>, PlaceFlaw> {
    let name = Path::new("standard input");
    let mut bytes = Vec::new();
    let input = std::io::stdin().lock();
    input.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| system(name, error))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(PlaceFlaw::Size(name.to_owned()));
    }
    Ok(bytes)
}

/// The content of a secret file: refused when others than the owner may read it.
pub(crate) fn read_secret(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, PlaceFlaw> {
    match fs::metadata(path) {
        Ok(data) => {
            let mode = data.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(PlaceFlaw::Wide { path: path.to_owned(), mode });
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(system(path, error)),
    }
    read(path, limit)
}

/// Creates or replaces a file as a whole, readable by the owner only.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), PlaceFlaw> {
    write_whole(path, bytes, RenameFlags::empty())
}

/// Creates a file that must not exist yet, as a whole, readable by the owner only.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> Result<(), PlaceFlaw> {
    write_whole(path, bytes, RenameFlags::NOREPLACE)
}

/// Creates a file of this name in the folder where the program was started, or one with a number in its name if it is
/// there already. Returns its whole path.
pub(crate) fn create_beside(name: &str, bytes: &[u8]) -> Result<PathBuf, PlaceFlaw> {
    let folder = std::env::current_dir().map_err(|error| system(Path::new("."), error))?;
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = (2..=NUMBERED).map(|number| folder.join(format!("{stem}-{number}.{ending}")));
    let mut last = Err(PlaceFlaw::Exists(folder.join(name)));
    for path in std::iter::once(folder.join(name)).chain(numbered) {
        last = create_private(&path, bytes).map(|()| path);
        if !matches!(last, Err(PlaceFlaw::Exists(_))) {
            break;
        }
    }
    last
}

fn write_whole(path: &Path, bytes: &[u8], how: RenameFlags) -> Result<(), PlaceFlaw> {
    let folder = make_folder(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let mut file =
        private().create(true).truncate(true).open(&draft).map_err(|error| system(&draft, error))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| system(&draft, error))?;
    match renameat_with(CWD, &draft, CWD, path, how) {
        Ok(()) => {
            fs::File::open(&folder).and_then(|folder| folder.sync_all()).map_err(|error| system(path, error))
        }
        Err(error) => {
            fs::remove_file(&draft).map_err(|error| system(&draft, error))?;
            match error {
                Errno::EXIST => Err(PlaceFlaw::Exists(path.to_owned())),
                other => Err(system(path, other.into())),
            }
        }
    }
}

/// Adds a line to a file, readable by the owner only.
pub(crate) fn append_private(path: &Path, line: &str) -> Result<(), PlaceFlaw> {
    make_folder(path)?;
    let mut file = private().create(true).append(true).open(path).map_err(|error| system(path, error))?;
    file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| system(path, error))
}

/// Removes a file.
pub(crate) fn remove(path: &Path) -> Result<(), PlaceFlaw> {
    fs::remove_file(path).map_err(|error| system(path, error))
}

/// Names of the files in a folder that end so, without the ending, sorted.
pub(crate) fn names(folder: &Path, ending: &str) -> Result<Vec<String>, PlaceFlaw> {
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

fn make_folder(path: &Path) -> Result<PathBuf, PlaceFlaw> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    fs::create_dir_all(&folder).map_err(|error| system(&folder, error))?;
    Ok(folder)
}

fn folder(variable: &str, below_home: &str) -> Result<PathBuf, PlaceFlaw> {
    let base = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below_home)));
    base.map(|base| base.join("quorate")).ok_or(PlaceFlaw::Homeless)
}

/// Relative paths in these variables are to be ignored (XDG base directory specification).
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn system(path: &Path, source: std::io::Error) -> PlaceFlaw {
    PlaceFlaw::System { path: path.display().to_string(), source }
}
