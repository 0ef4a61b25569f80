//! Opaque secrets: they are stored and exported, but never used to sign or to derive keys.

use super::prelude::*;

mod delete_secrets;
mod export_secrets;
mod import_secrets;
mod init_import_secrets;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<delete_secrets::Intent>(),
    entry::<export_secrets::Intent>(),
    entry::<import_secrets::Intent>(),
    entry::<init_import_secrets::Intent>(),
];
