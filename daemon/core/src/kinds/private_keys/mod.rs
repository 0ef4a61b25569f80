//! Private keys that belong to no wallet.

use super::prelude::*;

mod create_private_keys;
mod delete_private_keys;
mod disable_private_key;
mod export_private_key;
mod import_private_key;
mod init_import_private_key;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_private_keys::V1>(),
    entry::<create_private_keys::V2>(),
    entry::<delete_private_keys::Intent>(),
    entry::<disable_private_key::Intent>(),
    entry::<export_private_key::Intent>(),
    entry::<import_private_key::Intent>(),
    entry::<init_import_private_key::Intent>(),
];
