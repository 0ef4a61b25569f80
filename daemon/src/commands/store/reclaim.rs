//! `quorated store reclaim`: removes the mark of a store that was moved, so that a daemon serves it again.

use std::path::PathBuf;

use clap::Args;

use super::super::serve::{database, read};
use super::super::{confirm, print};
use crate::service::{StartError, create_private, lock_folder};
use crate::store::engine::Engine;
use crate::store::postgres::Postgres;
use crate::store::{Access, Store};

/// Word that confirms the command.
const WORD: &str = "unserved";

/// Arguments of `quorated store reclaim`.
#[derive(Debug, Args)]
pub(super) struct ReclaimArguments {
    /// Configuration file (TOML), which names the store
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Confirm without a terminal, with the word `unserved`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
}

/// Removes the mark, once the operator has typed the confirmation.
pub(super) fn run(arguments: &ReclaimArguments) -> Result<(), StartError> {
    let store = read(&arguments.config)?.store;
    let folder = store.path.clone();
    let database = database(&store)?;
    let header = || super::header(&folder, database.as_ref());
    header()?;
    create_private(&folder)?;
    let _lock = lock_folder(&folder)?;
    let mut header = header()?;
    let Some(place) = header.moved_to().map(str::to_owned) else {
        return print("nothing to reclaim: the store was not moved");
    };
    let question = format!(
        "The store was moved to {place}. Continue only if no daemon has ever served that copy, and remove it.\n\nIf it \
         was served, its changes are undone: deleted keys work again, and requests that have been executed may be \
         executed again."
    );
    confirm(&question, WORD, arguments.confirm.as_deref())?;
    if let Some(database) = database {
        header.set_moved(None);
        Postgres::open(&database, Access::Exclusive)?.set_header(&header.for_database(&folder)?)?;
    }
    header.mark_moved(&folder, None)?;
    print(&format!("reclaimed: {}, and start the daemon", removal(&place)))
}

/// Returns how the copy of a store is removed, by its engine and place.
fn removal(place: &str) -> String {
    match place.split_once(':') {
        Some((engine, file)) if engine == Engine::Postgres.name() => {
            format!("drop the schema quorate, which is the copy, in the database of the configuration {file}")
        }
        Some((_, folder)) => format!("remove the directory {folder}, which is the copy"),
        None => format!("remove {place}"),
    }
}
