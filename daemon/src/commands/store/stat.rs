//! `quorated store stat`: the engine of a store, its size, and its records by kind. It reads every record and
//! decrypts none.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use quorate_core::model::layout;
use serde_json::{Value, json};

use super::super::print;
use super::super::serve::{database, read};
use crate::barrier;
use crate::service::{STORE, StartError, lock_folder};
use crate::store::engine::Settings;
use crate::store::{Access, StoreError, each_chunk};
use crate::upgrade;
use crate::vitals::Place;

/// Number of rows that are read at once.
const CHUNK: usize = 512;

/// Arguments of `quorated store stat`.
#[derive(Debug, Args)]
pub(super) struct StatArguments {
    /// Configuration file (TOML), which names the store
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Number and size of some records.
#[derive(Default)]
struct Sum {
    records: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.records = self.records.saturating_add(other.records);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Prints the figures.
pub(super) fn run(arguments: &StatArguments) -> Result<(), StartError> {
    let store = read(&arguments.config)?.store;
    let database = database(&store)?;
    let header = super::header(&store.path, database.as_ref())?;
    // Only a store in a database may have no data directory here.
    let _lock = store.path.exists().then(|| lock_folder(&store.path)).transpose()?;
    let folder = store.path.join(STORE);
    upgrade::finish(&folder)?;
    let settings = Settings {
        engine: header.engine(),
        reserve: store.reserve,
        redb: store.redb,
        database,
        access: Access::Shared,
    };
    let opened = settings.open(&folder, store.guard.exists())?;
    let (mut kinds, mut all) = (BTreeMap::<&str, Sum>::new(), Sum::default());
    each_chunk(opened.as_ref(), b"", CHUNK, |rows| {
        for (key, value) in rows {
            let sum = Sum { records: 1, bytes: key.len().saturating_add(value.len()) as u64 };
            kinds.entry(noun(&key)).or_default().add(&sum);
            all.add(&sum);
        }
        Ok::<_, StoreError>(())
    })?;
    drop(opened);
    let on_disk = Place { folder: folder.clone(), reserve: store.reserve }.used();
    if arguments.json {
        let figures = |sum: &Sum| json!({ "records": sum.records, "bytes": sum.bytes });
        let by_kind: BTreeMap<&str, Value> = kinds.iter().map(|(noun, sum)| (*noun, figures(sum))).collect();
        return print(&format!(
            "{:#}",
            json!({
                "engine": header.engine().name(),
                "folder": folder,
                "database": store.database.as_ref().map(|database| database.url.place()),
                "movedTo": header.moved_to(),
                "records": all.records,
                "bytes": all.bytes,
                "bytesOnDisk": on_disk,
                "kinds": by_kind,
            })
        ));
    }
    let place = match &store.database {
        Some(database) => format!("database       {}", database.url.place()),
        None => format!("folder         {}", folder.display()),
    };
    print(&format!("engine         {}\n{place}", header.engine()))?;
    if let Some(place) = header.moved_to() {
        print(&format!("moved to       {place}"))?;
    }
    if let Some(bytes) = on_disk {
        print(&format!("bytes on disk  {bytes}"))?;
    }
    print(&format!("\n{:>12} {:>15}  kind", "records", "bytes"))?;
    for (noun, Sum { records, bytes }) in kinds.iter().map(|(noun, sum)| (*noun, sum)).chain([("all", &all)])
    {
        print(&format!("{records:>12} {bytes:>15}  {noun}"))?;
    }
    Ok(())
}

/// Returns what a record is, by its key.
fn noun(key: &[u8]) -> &'static str {
    if barrier::is_part(key) {
        return "parts of long records";
    }
    key.first().and_then(|first| layout::noun(*first)).unwrap_or("keys and marks of the daemon")
}
