//! Secrets that are kept as they are, and neither sign nor derive anything.

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
