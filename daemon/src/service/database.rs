//! Opens data in a database. The header is stored with the records, so that it travels with them. The data directory
//! has a copy of it, and the guard file.

use std::path::Path;
use std::sync::Arc;

use super::StartError;
use super::location::{Data, check_unused, create_private, lock_folder};
use crate::barrier::Barrier;
use crate::fail_points;
use crate::store::engine::Engine as StoreEngine;
use crate::store::postgres::DatabaseError;
use crate::store::{Access, Store, StoreError};
use crate::vault::{Header, Vault, VaultError};

/// Opens store and vault. Writes to them only if the store is new.
pub(super) fn open(data: &Data, access: Access) -> Result<Barrier, StartError> {
    let folder = &data.folder;
    fail_points::reach("start.folder");
    create_private(folder)?;
    let _lock = lock_folder(folder)?;
    let local = Header::read(folder)?;
    fail_points::reach("start.store");
    let store = store(data, local.is_none(), access)?;
    fail_points::reach("start.vault");
    let stored = header(store.as_ref(), folder)?;
    let vault = match (local, stored) {
        (local, Some(stored)) => {
            stored.served_engine(folder, Some(StoreEngine::Postgres))?;
            match local {
                Some(local) if !local.is_same_store(&stored) => {
                    return Err(StoreError::from(DatabaseError::OtherStore).into());
                }
                local => {
                    // A wrong key leaves no header behind. Another daemon may have changed the slots.
                    let vault = Vault::open_with(&stored, folder, &data.key)?;
                    if local.is_none_or(|local| local != stored) {
                        stored.put(folder)?;
                    }
                    vault
                }
            }
        }
        // The first start was interrupted, and nothing is stored yet.
        (Some(local), None) => {
            let vault = Vault::open(folder, &data.key)?;
            store.set_header(&local.for_database(folder)?)?;
            vault
        }
        (None, None) => {
            check_unused(data)?;
            let vault = Vault::create_for(folder, &data.key, StoreEngine::Postgres)?;
            let created = Header::read(folder)?.ok_or_else(|| VaultError::NoStore(folder.clone()))?;
            store.set_header(&created.for_database(folder)?)?;
            vault
        }
    };
    Ok(Barrier::new(store, vault))
}

fn store(data: &Data, is_new: bool, access: Access) -> Result<Arc<dyn Store>, StartError> {
    let (folder, settings) = (&data.folder, data.settings(StoreEngine::Postgres, access));
    if is_new && data.create {
        return Ok(settings.create(folder)?);
    }
    settings.open(folder, false).map_err(|error| match error {
        StoreError::Database(DatabaseError::Missing) if is_new => {
            let place = data.database.as_ref().map(|database| database.url.place()).unwrap_or_default();
            VaultError::NoStoreInDatabase(place).into()
        }
        error => error.into(),
    })
}

/// Returns the header that is stored with the records.
pub fn header(store: &dyn Store, folder: &Path) -> Result<Option<Header>, StartError> {
    let stored = store.header()?;
    Ok(stored.map(|text| Header::of_database(&text, folder)).transpose()?)
}
