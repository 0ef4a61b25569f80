//! `quorated restore`: creates a store from a backup, in an empty place.

mod journal;
mod review;

use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use quorate_common::console::Mode;
use quorate_core::limits::BODY_AHEAD_MILLIS;
use quorate_core::model::Millis;
use quorate_core::model::layout;
use quorate_core::world::Page;
use serde_json::json;

use self::journal::{Applied, Journals};
use super::serve::{data, group_id, read};
use super::stop_signal;
use crate::activity_log::{self, CheckError};
use crate::backup::{BackupError, Checked, Checker, Entry, Reader};
use crate::barrier::Barrier;
use crate::clock;
use crate::config::Config;
use crate::epoch::Epoch;
use crate::fail_points;
use crate::guard::{self, Guard, GuardError};
use crate::private_file;
use crate::service::{
    self, Data, Listeners, Listening, RESTORING, STORE, ServiceSettings, StartError, create_private,
    database_header, lock_folder,
};
use crate::store::engine::{self, Engine};
use crate::store::{Access, Batch, Change, Group, Store};
use crate::vault::{Header, KeySource, Vault, VaultError};

/// Number of records that are written in one commit.
const CHUNK: usize = 512;

/// Arguments of `quorated restore`.
#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// Backup, as 'quorated backup' wrote it
    #[arg(value_name = "FILE")]
    backup: PathBuf,
    /// Configuration file (TOML), which names the empty place of the new store, and the root key of the old one
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Journal of another daemon of the store, in addition to that of the configuration; repeat it for each
    #[arg(long, value_name = "FILE")]
    journal: Vec<PathBuf>,
    /// Do not apply the journal of the configuration, which may be missing
    #[arg(long)]
    without_journal: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Checks the backup and creates the store. Whatever interrupts it, there is no store before it is complete.
///
/// # Errors
/// Returns an error if the backup is damaged or of another store, the key is wrong, or the place is not empty.
pub async fn run(arguments: &RestoreArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let data = data(&config, true)?;
    let (file, checked, header) = open(&arguments.backup)?;
    check_empty(&data)?;
    let vault = vault(&config, &data, &header).await?;
    // Nothing is created for a backup that somebody else has signed.
    Reader::begin(&mut BufReader::new(&file), &checked, vault.backups())?;
    rewind(&file)?;
    let own = data.journal.as_deref().filter(|_| !arguments.without_journal);
    let journals = Journals::open(&arguments.journal, own, &vault)?;
    let engine = data.engine.unwrap_or_default();
    create_private(&data.folder)?;
    let _lock = lock_folder(&data.folder)?;
    check_empty(&data)?;
    let store_path = data.folder.join(STORE);
    engine::clear(&store_path)?;
    let store = create(&data, engine, &store_path)?;
    let mark = begin(&data)?;
    let barrier = load(&file, &checked, vault, Arc::clone(&store))?;
    fail_points::reach("restore.loaded");
    let (epoch, applied) = begin_epoch(&data, &barrier, journals, checked.trailer.ended)?;
    let recent = review::recent(&barrier, checked.trailer.ended)?;
    fail_points::reach("restore.begin");
    let header = header.on(engine);
    store.set_header(&header.for_database(&data.folder)?)?;
    header.create(&data.folder)?;
    // Only now: what an interrupted restore has left must be recognized as unfinished.
    engine::begin(&store_path)?;
    drop((barrier, store));
    // What remains of it means nothing anymore.
    let _ = fs::remove_file(mark);
    report(&checked, epoch, &recent, &applied, arguments.json)
}

/// Opens and checks a backup. Returns it at its begin, what it states, and the header of its store.
///
/// # Errors
/// Returns an error if it cannot be read, or is damaged.
pub(super) fn open(path: &Path) -> Result<(File, Checked, Header), StartError> {
    let unreadable =
        |source| StartError::Usage(format!("the backup {} cannot be read: {source}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    let checked = Checker::check(&mut BufReader::new(&file)).map_err(|error| match error {
        BackupError::System(error) => unreadable(error),
        error => error.into(),
    })?;
    rewind(&file)?;
    let header = serde_json::to_vec(&checked.head.header).map_err(|_| BackupError::Format)?;
    let header = Header::of_database(&header, path).map_err(|_| BackupError::Format)?;
    if header.store_id() != checked.head.store_id {
        return Err(BackupError::OtherStore.into());
    }
    Ok((file, checked, header))
}

/// Returns to the begin of a backup.
fn rewind(mut file: &File) -> Result<(), BackupError> {
    Ok(file.rewind()?)
}

/// Opens the vault of a backup. If holders of shares open it, waits for them at the socket of the configuration.
///
/// # Errors
/// Returns an error if the key opens no slot of the header, the socket cannot be bound, or the process is to stop.
pub(super) async fn vault(config: &Config, data: &Data, header: &Header) -> Result<Vault, StartError> {
    if !matches!(data.key, KeySource::Shares) {
        return Vault::open_with(header, &data.folder, &data.key).map_err(|error| match error {
            VaultError::WrongKey(_) => VaultError::WrongBackupKey.into(),
            error => error.into(),
        });
    }
    let stop = stop_signal()?;
    let listeners = Listeners {
        http: None,
        socket: config.socket.path.clone(),
        group: config.socket.group.as_deref().map(group_id).transpose()?,
        requests: config.limits.requests,
        mode: Mode::Production,
        seal_check: None,
        settings: ServiceSettings::default(),
    };
    let listening = Listening::bind(listeners).await?;
    let socket = config.socket.path.display();
    // The command works without this line, so an error of the stream is ignored.
    let _ =
        writeln!(io::stderr(), "waiting for holders: each runs 'quorate unseal LETTER --socket {socket}'");
    let key = service::unseal_backup(header.clone(), data, &listening, &stop).await?;
    let key = key.ok_or_else(|| StartError::Sealed("stopped before enough shares were given".to_owned()))?;
    Ok(Vault::open_with(header, &data.folder, &KeySource::StoreKey(key))?)
}

/// Checks that no store is at the place, except for what an interrupted restore has left.
fn check_empty(data: &Data) -> Result<(), StartError> {
    let folder = &data.folder;
    if Header::read(folder)?.is_some() || !engine::is_unused(&folder.join(STORE))? {
        let place = folder.display();
        return Err(StartError::Usage(format!("{place} already contains a store: name an empty directory")));
    }
    // After an interrupted restore, the guard file belongs to it, and not to a store that was lost.
    if mark_of(data) == Some(place_of_guard(data)) {
        return Ok(());
    }
    Ok(guard::check_new(&data.guard, folder)?)
}

/// Returns what the mark of an interrupted restore states.
fn mark_of(data: &Data) -> Option<Vec<u8>> {
    fs::read(data.folder.join(RESTORING)).ok()
}

fn place_of_guard(data: &Data) -> Vec<u8> {
    let place = std::path::absolute(&data.guard).unwrap_or_else(|_| data.guard.clone());
    place.into_os_string().into_encoded_bytes()
}

/// Marks that a restore has begun, and removes the guard file of an interrupted one.
fn begin(data: &Data) -> Result<PathBuf, StartError> {
    let mark = data.folder.join(RESTORING);
    let system = |source| GuardError::System { file: mark.clone(), source };
    if mark_of(data) == Some(place_of_guard(data)) {
        match fs::remove_file(&data.guard) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(system(error).into()),
            _ => {}
        }
    }
    private_file::replace(&mark, &place_of_guard(data)).map_err(system)?;
    Ok(mark)
}

fn create(data: &Data, engine: Engine, store_path: &Path) -> Result<Arc<dyn Store>, StartError> {
    let store = data.settings(engine, Access::Exclusive).create(store_path)?;
    if database_header(store.as_ref(), &data.folder)?.is_some() {
        let place = data.database.as_ref().map(|database| database.url.place()).unwrap_or_default();
        let text = format!("the database {place} already contains a store: name an empty one");
        return Err(StartError::Usage(text));
    }
    Ok(store)
}

/// Writes all entries to an empty store, and compares its records with the digest over them.
///
/// # Errors
/// Returns an error if the backup cannot be decrypted, or the store cannot be written.
pub(super) fn load(
    file: &File,
    checked: &Checked,
    vault: Vault,
    store: Arc<dyn Store>,
) -> Result<Barrier, StartError> {
    let mut from = BufReader::new(file);
    let mut reader = Reader::begin(&mut from, checked, vault.backups())?;
    loop {
        let mut writes = Vec::with_capacity(CHUNK);
        while writes.len() < CHUNK
            && let Some(Entry { key, value }) = reader.entry()?
        {
            writes.push(Change { key, value, fresh: false });
        }
        if writes.is_empty() {
            break;
        }
        store.commit(&Group::of(Batch { writes, ..Batch::default() }))?;
        fail_points::reach("restore.rows");
    }
    let barrier = Barrier::new(store, vault);
    activity_log::check(&barrier, &checked.head.log).map_err(|error| match error {
        CheckError::Log(_) => BackupError::Damaged("its activity log is not the one that it states").into(),
        CheckError::Corrupt(corrupt) => StartError::from(corrupt),
    })?;
    match guard::compare(&barrier) {
        Ok(()) => Ok(barrier),
        Err(GuardError::Altered) => {
            Err(BackupError::Damaged("its records are not those of one moment").into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Applies the journals, begins the epoch of the restored store, and creates the guard file.
fn begin_epoch(
    data: &Data,
    barrier: &Barrier,
    journals: Journals,
    ended: Millis,
) -> Result<(Epoch, Applied), StartError> {
    let newest = guard::end(barrier)?.unwrap_or_default().max(journals.newest());
    let now: Millis = clock::now().max(newest);
    // The daemon of before may have executed requests until now.
    let before = Epoch::read(barrier)?;
    let epoch = before.next(now);
    // A guard file without a store would look like a store that was lost.
    let mut draft = data.guard.clone().into_os_string();
    draft.push(".restoring");
    let draft = PathBuf::from(draft);
    let (guard, _) = Guard::accept(&draft, barrier, now, true)?;
    let applied = journals.apply(barrier, &guard, (before.number, ended), now)?;
    fail_points::reach("restore.journal");
    let mut writes = vec![epoch.write()];
    writes.extend(crate::epoch::ended(barrier)?);
    // The new epoch has other journals.
    let journals = barrier.store().keys(Page::first(layout::JOURNALS, usize::MAX))?;
    let set = journals.into_iter().map(|journal| (journal, 0)).collect();
    let batch = Batch { set, writes: barrier.seal(writes)?, ..Batch::default() };
    guard.commit(barrier, now, batch)?;
    drop(guard);
    let system = |source| GuardError::System { file: data.guard.clone(), source };
    fs::rename(&draft, &data.guard).map_err(system)?;
    File::open(private_file::folder(&data.guard)).and_then(|folder| folder.sync_all()).map_err(system)?;
    Ok((epoch, applied))
}

fn report(
    Checked { head, trailer }: &Checked,
    epoch: Epoch,
    (recent, has_more): &(Vec<String>, bool),
    applied: &Applied,
    json: bool,
) -> Result<(), StartError> {
    if json {
        let text = json!({ "storeId": head.store_id, "until": trailer.ended, "records": trailer.records,
            "epoch": epoch.number, "recent": recent, "hasMore": has_more, "journal": applied.json() });
        return super::print(&text.to_string());
    }
    if !recent.is_empty() {
        super::print("Added in the 30 days before the backup, and possibly deleted since:")?;
    }
    recent.iter().try_for_each(|line| super::print(&format!("  {line}")))?;
    if *has_more {
        super::print("  and more, which is not listed")?;
    }
    applied.lines().iter().try_for_each(|line| super::print(line))?;
    let lost = if applied.is_complete() {
        "Changes of organizations after that time are there, as far as the journal has them. Signatures and other activities \
         without such a change are missing after it."
    } else if applied.has_journal() {
        "Changes of organizations after that time are there, except for what is named above: keys that were deleted then may \
         work again. Signatures and other activities without such a change are missing after it."
    } else {
        "Whatever was changed after that time is lost: keys that were deleted since work again, and activities are missing \
         although their signatures exist."
    };
    super::print(&format!(
        "restored: store {} as of {}, {} records\n{lost} Requests that are stamped before the release, or less than {} minutes after it, are \
         refused. Sessions, keys that expire, codes and import keys of before have ended.\n\
         Start the daemon, compare the users, keys and policies of each organization with what they should be, and run \
         'quorated release'; until then, the daemon accepts no changes.",
        head.store_id,
        clock::text(trailer.ended),
        trailer.records,
        BODY_AHEAD_MILLIS / 60_000,
    ))
}
