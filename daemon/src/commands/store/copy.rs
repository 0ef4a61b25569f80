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
    /// Engine and data directory of the copy, which must be empty or missing. For a database, which must contain no store, the
    /// configuration file that names both
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
        if path.is_empty() {
            return Err("the path is empty".to_owned());
        }
        if path.starts_with("postgres://") || path.starts_with("postgresql://") {
            let file = "postgres:/etc/quorate/quorated.toml";
            return Err(format!("name the configuration file whose [store] has this URL, such as {file}"));
        }
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
        let wrong = |what: &str| Err(StartError::Usage(format!("{engine}:{}: {what}", path.display())));
        if engine != Engine::Postgres && path.exists() && !path.is_dir() {
            return wrong("is not a directory: name the data directory");
        }
        if engine == Engine::Postgres {
            if path.is_dir() {
                return wrong("is a directory: name the configuration file of the daemon");
            }
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
    check_target(from, to, &header)?;
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
        if has_header { moved(&header, from, to) } else { differs(from, to) }
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
        Some(place) => Err(header.moved_error(&from.folder, place).into()),
        None => Ok(()),
    }
}

/// Returns the header of the source, which must not have been moved elsewhere.
fn header_of(from: &Place, to: &Place) -> Result<Header, StartError> {
    let header = super::header(&from.folder, from.settings.database.as_ref())?;
    check_moved(&header, from, to)?;
    if header.engine() == from.engine {
        return Ok(header);
    }
    let (folder, engine) = (from.folder.display(), header.engine());
    Err(StartError::Usage(match engine {
        Engine::Postgres => format!(
            "the store of {folder} is in a database: use --from postgres:FILE, with the configuration file of the daemon"
        ),
        _ => format!("the store in {folder} is on the engine {engine}: use --from {engine}:{folder}"),
    }))
}

/// Checks that the directory of the copy is empty, except for what an interrupted copy has left.
fn check_target(from: &Place, to: &Place, header: &Header) -> Result<(), StartError> {
    if to.folder.starts_with(&from.folder) {
        return Err(StartError::Usage(format!(
            "{}: the copy must be outside of the directory of the store",
            to.folder.display()
        )));
    }
    let was_marked = header.moved_to().is_some();
    match Header::read(&to.folder)? {
        Some(other) if was_marked && other.is_same_store(header) => return Err(moved(header, from, to)),
        Some(_) => return Err(contains_store(to)),
        None if !was_marked && !engine::is_unused(&to.store())? => return Err(contains_store(to)),
        None => check_empty(to)?,
    }
    let (old, new) = (from.folder.join(GUARD), to.folder.join(GUARD));
    let read =
        |path: &Path| fs::read(path).map_err(|source| GuardError::System { file: path.to_owned(), source });
    if exists(&new)? && !(exists(&old)? && read(&old)? == read(&new)?) {
        return Err(GuardError::NoStore { file: new, folder: to.folder.clone() }.into());
    }
    Ok(())
}

/// Checks that a data directory contains nothing but files of a copy. In that of a store in a database, no records are stored.
fn check_empty(to: &Place) -> Result<(), StartError> {
    const OWN: [&str; 3] = [STORE, GUARD, "lost+found"];
    if to.engine == Engine::Postgres {
        return Ok(());
    }
    let path = &to.folder;
    let failed =
        |source| VaultError::System { doing: "reading the data directory", path: path.clone(), source };
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        // A draft of a file was not completed.
        if !OWN.contains(&name.as_ref()) && !name.ends_with(private_file::DRAFT) {
            return Err(StartError::Usage(format!(
                "{} is not empty: name an empty or missing directory",
                path.display()
            )));
        }
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

/// Returns the error for a copy that is complete already.
fn moved(header: &Header, from: &Place, to: &Place) -> StartError {
    header.moved_error(&from.folder, &to.to_string()).into()
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Creates a store with these values.
    fn place(name: &str, values: &[&[u8]]) -> (tempfile::TempDir, Place, Arc<dyn Store>) {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { engine: Engine::Redb, ..Settings::default() };
        let place =
            Place { engine: Engine::Redb, path: name.into(), folder: folder.path().to_owned(), settings };
        let store = place.settings.create(&place.store()).unwrap();
        let change = |(key, value): (usize, &&[u8])| {
            let (key, value) = (vec![b'k', u8::try_from(key).unwrap()], Some(value.to_vec()));
            Change { key, value, fresh: true }
        };
        let writes = values.iter().enumerate().map(change).collect();
        store.commit(&Group::of(Batch { writes, ..Batch::default() })).unwrap();
        (folder, place, store)
    }

    #[test]
    fn a_copy_that_differs_is_named_and_not_its_source() {
        let (_a, from, source) = place("source", &[b"one", b"two"]);
        let (_b, _, same) = place("same", &[b"one", b"two"]);
        assert!(compare(source.as_ref(), same.as_ref()).unwrap().unwrap().starts_with("2 records"));
        for values in [&[&b"one"[..]][..], &[b"one", b"two", b"three"], &[b"one", b"too"]] {
            let (_c, to, target) = place("target", values);
            assert_eq!(compare(source.as_ref(), target.as_ref()).unwrap(), None);
            let text = differs(&from, &to).to_string();
            assert!(text.starts_with("redb:target: the copy differs from the store"), "{text}");
            assert!(text.ends_with("the store redb:source is unchanged"), "{text}");
        }
    }
}
