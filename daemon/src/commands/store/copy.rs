//! `quorated store copy`: copies a store, compares the copy, and marks the old store as moved.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use quorate_core::world::Page;
use sha2::{Digest, Sha256};

use super::super::print;
use super::super::serve::{database, read};
use crate::fail_points;
use crate::guard::{self, GuardError};
use crate::private_file;
use crate::service::{GUARD, RESERVE_MIB, STORE, StartError, create_private, database_header, lock_folder};
use crate::store::engine::{self, Engine, Settings};
use crate::store::postgres::DatabaseError;
use crate::store::redb::CommitMode;
use crate::store::{Batch, Change, Group, Row, Store, StoreError, each_chunk};
use crate::upgrade;
use crate::vault::{Header, VaultError};

/// Number of rows that are copied in one commit.
const CHUNK: usize = 512;

/// Arguments of `quorated store copy`.
#[derive(Debug, Args)]
pub(super) struct CopyArguments {
    /// Engine and data directory of the store, such as `sled:/var/lib/quorate`. For a store in a database, the
    /// configuration file, such as `postgres:/etc/quorate/quorated.toml`
    #[arg(long, value_name = "ENGINE:PATH")]
    from: Named,
    /// Engine and data directory of the copy, which must be empty or missing. For a database, the configuration file
    /// that names both
    #[arg(long, value_name = "ENGINE:PATH")]
    to: Named,
}

/// An engine, and a data directory or configuration file, as named in an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    engine: Engine,
    path: PathBuf,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (engine, path) =
            text.split_once(':').ok_or("must be ENGINE:PATH, such as redb:/var/lib/quorate")?;
        let engine = engine.parse().map_err(|problem| format!("the engine {problem}"))?;
        // The place is recorded for daemons that run in other directories.
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        Ok(Self { engine, path })
    }
}

/// Where a store is, and how it is opened.
struct Place {
    engine: Engine,
    /// Data directory or configuration file, as named in the argument.
    path: PathBuf,
    folder: PathBuf,
    settings: Settings,
}

impl Named {
    /// Reads the configuration file, if one is named.
    fn place(&self) -> Result<Place, StartError> {
        let Self { engine, path } = self.clone();
        let reserve = u64::from(RESERVE_MIB) * 1024 * 1024;
        let mut settings = Settings { engine, reserve, redb: CommitMode::TwoPhase, ..Settings::default() };
        let mut folder = path.clone();
        if engine == Engine::Postgres {
            let store = read(&path)?.store;
            settings.database = database(&store)?;
            folder = store.path;
            if settings.database.is_none() {
                let file = path.display();
                return Err(StartError::Usage(format!(
                    "{file} names no database: set engine and url in [store]"
                )));
            }
        }
        Ok(Place { engine, path, folder, settings })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.engine, self.path.display())
    }
}

impl Place {
    fn store(&self) -> PathBuf {
        self.folder.join(STORE)
    }
}

/// Copies a store.
pub(super) fn run(CopyArguments { from, to }: &CopyArguments) -> Result<(), StartError> {
    let (from, to) = (&from.place()?, &to.place()?);
    // Another copy may just end, so what decides is read under the lock.
    header_of(from, to)?;
    let _source = lock_folder(&from.folder)?;
    let mut header = header_of(from, to)?;
    check_target(from, to, header.moved_to().is_some())?;
    let source = open_source(from, to, &header)?;
    create_private(&to.folder)?;
    let _target = lock_folder(&to.folder)?;
    engine::clear(&to.store())?;
    if let Some(target) = create_target(to, &header)? {
        copy(source.as_ref(), target.as_ref())?;
        drop(target);
        fail_points::reach("copy.compare");
    }
    let target = to.settings.open_again(&to.store())?;
    let has_header = database_header(target.as_ref(), &to.folder)?.is_some();
    let copied = compare(source.as_ref(), target.as_ref())?.ok_or_else(|| {
        // A copy with a header was complete once, so a daemon has served it since.
        if has_header { contains_store(to) } else { differs(from, to) }
    })?;
    fail_points::reach("copy.mark");
    header.set_moved(Some(to.to_string()));
    source.set_header(&header.for_database(&from.folder)?)?;
    header.put(&from.folder)?;
    // The guard file of a store that is not marked could still change.
    let has_guard = copy_guard(from, to)?;
    fail_points::reach("copy.begin");
    engine::begin(&to.store())?;
    let header = header.on(to.engine);
    target.set_header(&header.for_database(&to.folder)?)?;
    fail_points::reach("copy.header");
    header.create(&to.folder)?;
    drop((source, target));
    print(&format!("{copied}\n{from} is marked as moved to {to}"))?;
    let guard = if has_guard { "" } else { "; the guard file stays where it is" };
    if to.engine == Engine::Postgres {
        return print(&format!("start the daemon with --config {}{guard}", to.path.display()));
    }
    print(&format!(
        "set path = \"{}\" and engine = \"{}\" in [store], and start the daemon{guard}",
        to.folder.display(),
        to.engine
    ))
}

/// Opens the store to copy, which must have been served.
fn open_source(from: &Place, to: &Place, header: &Header) -> Result<Arc<dyn Store>, StartError> {
    upgrade::finish(&from.store())?;
    let source = from.settings.open(&from.store(), false)?;
    if let Some(stored) = database_header(source.as_ref(), &from.folder)? {
        if !stored.is_same_store(header) {
            return Err(StoreError::from(DatabaseError::OtherStore).into());
        }
        check_moved(&stored, from, to)?;
    }
    if guard::is_marked(source.as_ref())? {
        return Ok(source);
    }
    Err(StartError::Usage(format!(
        "the store in {} is new or of an earlier version: start the daemon on it once",
        from.folder.display()
    )))
}

/// Checks that a store was not moved elsewhere.
fn check_moved(header: &Header, from: &Place, to: &Place) -> Result<(), StartError> {
    match header.moved_to() {
        // An earlier copy was interrupted after the source was marked.
        Some(place) if place == to.to_string() => Ok(()),
        Some(place) => Err(VaultError::Moved(from.folder.clone(), place.to_owned()).into()),
        None => Ok(()),
    }
}

/// Returns the header of the source, which must not have been moved elsewhere.
fn header_of(from: &Place, to: &Place) -> Result<Header, StartError> {
    let header = Header::read(&from.folder)?.ok_or_else(|| VaultError::NoStore(from.folder.clone()))?;
    check_moved(&header, from, to)?;
    if header.engine() == from.engine {
        return Ok(header);
    }
    let (folder, engine) = (from.folder.display(), header.engine());
    Err(StartError::Usage(format!(
        "the store in {folder} is on the engine {engine}: use --from {engine}:{folder}"
    )))
}

/// Checks that the directory of the copy has no store, except one of an interrupted copy.
fn check_target(from: &Place, to: &Place, was_marked: bool) -> Result<(), StartError> {
    if to.folder.starts_with(&from.folder) {
        return Err(StartError::Usage(format!(
            "{}: the copy must be outside of the directory of the store",
            to.folder.display()
        )));
    }
    if Header::read(&to.folder)?.is_some() || (!was_marked && !engine::is_unused(&to.store())?) {
        return Err(contains_store(to));
    }
    let (old, new) = (from.folder.join(GUARD), to.folder.join(GUARD));
    let read =
        |path: &Path| fs::read(path).map_err(|source| GuardError::System { file: path.to_owned(), source });
    if exists(&new)? && !(exists(&old)? && read(&old)? == read(&new)?) {
        return Err(GuardError::NoStore { file: new, folder: to.folder.clone() }.into());
    }
    Ok(())
}

fn exists(path: &Path) -> Result<bool, GuardError> {
    path.try_exists().map_err(|source| GuardError::System { file: path.to_owned(), source })
}

/// Creates the store of the copy, without records. Returns `None` if it already has all of them, because an earlier copy was
/// interrupted after it wrote the header to the database. No other store is changed.
fn create_target(to: &Place, header: &Header) -> Result<Option<Arc<dyn Store>>, StartError> {
    let target = to.settings.create(&to.store()).map_err(|error| match error {
        StoreError::Database(DatabaseError::NoHeader) => contains_store(to),
        error => error.into(),
    })?;
    match database_header(target.as_ref(), &to.folder)? {
        None => Ok(Some(target)),
        Some(stored) if header.moved_to().is_some() && stored.is_same_store(header) => Ok(None),
        Some(_) => Err(contains_store(to)),
    }
}

/// Returns the error for a copy to a place that is in use.
fn contains_store(to: &Place) -> StartError {
    StartError::Usage(match &to.settings.database {
        Some(database) if to.engine == Engine::Postgres => {
            format!("the database {} already contains a store: name an empty one", database.url.place())
        }
        _ => format!("{} already contains a store: name an empty directory", to.folder.display()),
    })
}

/// Returns the error for a copy whose records are not those of the store.
fn differs(from: &Place, to: &Place) -> StartError {
    let disk = if to.engine == Engine::Postgres { "database server" } else { "disk" };
    StartError::Other(format!(
        "{to}: the copy differs from the store and must not be served: copy again, and check the {disk} of the copy if it \
         differs again; the store {from} is unchanged"
    ))
}

/// Copies all rows to a new store.
fn copy(source: &dyn Store, target: &dyn Store) -> Result<(), StartError> {
    each_chunk(source, b"", CHUNK, |rows| {
        let change = |(key, value): Row| Change { key, value: Some(value), fresh: true };
        let writes = rows.into_iter().map(change).collect();
        target.commit(&Group::of(Batch { writes, ..Batch::default() }))?;
        fail_points::reach("copy.rows");
        Ok::<_, StartError>(())
    })
}

/// Reads both stores whole and compares them. Returns a description of what they contain, or `None` if they differ.
fn compare(source: &dyn Store, target: &dyn Store) -> Result<Option<String>, StartError> {
    let (mut digest, mut count, mut bytes) = (Sha256::new(), 0_u64, 0_u64);
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = Page { after: after.as_deref(), ..Page::first(b"", CHUNK) };
        let (rows, copied) = (source.rows(page)?, target.rows(page)?);
        if rows != copied {
            return Ok(None);
        }
        let Some((last, _)) = rows.last() else { break };
        after = Some(last.clone());
        for part in rows.iter().flat_map(|(key, value)| [key, value]) {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
            bytes = bytes.saturating_add(part.len() as u64);
        }
        count = count.saturating_add(rows.len() as u64);
    }
    let digest = const_hex::encode(digest.finalize());
    Ok(Some(format!("{count} records with {bytes} bytes copied and compared, SHA-256 {digest}")))
}

/// Copies the guard file, if it is in the data directory. Returns whether it is.
fn copy_guard(from: &Place, to: &Place) -> Result<bool, StartError> {
    let (old, new) = (from.folder.join(GUARD), to.folder.join(GUARD));
    if !exists(&old)? {
        return Ok(false);
    }
    let copied = fs::read(&old).and_then(|bytes| private_file::replace(&new, &bytes));
    copied.map_err(|source| GuardError::System { file: new, source })?;
    Ok(true)
}
