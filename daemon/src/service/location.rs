//! Where the data of a daemon is, and what is checked before it is opened.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::StartError;
use crate::guard::{self, GuardError};
use crate::store::engine::{self, Engine, Settings};
use crate::store::postgres::DatabaseSettings;
use crate::store::redb::CommitMode;
use crate::store::{Access, StoreError};
use crate::upgrade;
use crate::vault::{KeySource, Vault, VaultError};

/// Subdirectory of the store in the data directory.
pub const STORE: &str = "store";
/// Default name of the guard file in the data directory.
pub const GUARD: &str = "guard";
/// File in the data directory while a restore is not complete. It contains the path of the guard file.
pub const RESTORING: &str = "restore.new";
/// Default of `reserve_mib`, in MiB.
pub const RESERVE_MIB: u32 = 32;

/// Location of the data and source of its root key.
pub struct Data {
    /// Data directory.
    pub folder: PathBuf,
    /// Source of the root key.
    pub key: KeySource,
    /// Whether a missing store is created.
    pub create: bool,
    /// Engine of the store; `None` for that of an existing store, or the default one for a new store.
    pub engine: Option<Engine>,
    /// How redb commits.
    pub redb: CommitMode,
    /// Database of a store on PostgreSQL.
    pub database: Option<DatabaseSettings>,
    /// Path of the guard file.
    pub guard: PathBuf,
    /// Path of the journal; `None` if there is none.
    pub journal: Option<PathBuf>,
    /// Space that stays free on the file system of the store, in bytes.
    pub reserve: u64,
    /// Whether this is a new daemon among those that share an existing store, so that it has no guard file.
    pub joins: bool,
}

impl Data {
    /// Returns data in a directory that also contains the guard file.
    pub fn in_folder(folder: PathBuf, key: KeySource, create: bool) -> Self {
        let guard = folder.join(GUARD);
        let reserve = u64::from(RESERVE_MIB) * 1024 * 1024;
        Self {
            folder,
            key,
            create,
            engine: None,
            redb: CommitMode::default(),
            database: None,
            guard,
            journal: None,
            reserve,
            joins: false,
        }
    }

    /// Returns how the store is opened on this engine.
    pub(crate) fn settings(&self, engine: Engine, access: Access) -> Settings {
        let database = self.database.clone();
        Settings { engine, reserve: self.reserve, redb: self.redb, database, access }
    }
}

/// Returns an error unless a store may be created in a directory without a header. A new header or key would
/// make existing records unreadable forever.
pub(super) fn check_unused(data: &Data) -> Result<(), StartError> {
    let folder = &data.folder;
    if folder.join(RESTORING).exists() {
        return Err(VaultError::Restoring(folder.clone()).into());
    }
    let store_path = folder.join(STORE);
    if !engine::is_unused(&store_path)? || !engine::is_unused(&upgrade::replaced(&store_path))? {
        return Err(VaultError::NoHeader(folder.clone()).into());
    }
    match guard::check_new(&data.guard, folder) {
        // There was a store: its disk may not be mounted.
        Err(error @ GuardError::NoStore { .. }) => Err(error.into()),
        _ if !data.create => Err(VaultError::NoStore(folder.clone()).into()),
        guarded => {
            Vault::check_new(folder, &data.key)?;
            Ok(guarded?)
        }
    }
}

/// Locks the data directory while its store is opened, so that two first starts do not create it at the same
/// time. Later, the lock of the store itself is enough.
///
/// # Errors
/// Returns an error if another process holds the lock, or the directory cannot be opened.
pub fn lock_folder(folder: &Path) -> Result<File, StartError> {
    let failed =
        |source| VaultError::System { doing: "locking the data directory", path: folder.to_owned(), source };
    let handle = File::open(folder).map_err(failed)?;
    match rustix::fs::flock(&handle, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(handle),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(StoreError::InUse(folder.display().to_string()).into()),
        Err(error) => Err(failed(error.into()).into()),
    }
}

/// Creates a directory with access for its owner only.
///
/// # Errors
/// Returns an error if the directory cannot be created.
pub fn create_private(folder: &Path) -> Result<(), StartError> {
    use std::os::unix::fs::DirBuilderExt;
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let doing = "creating the directory";
    created.map_err(|source| VaultError::System { doing, path: folder.to_owned(), source }.into())
}
