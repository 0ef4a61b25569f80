//! Opaque secrets: they are stored and exported, but never used to sign or to derive keys.

use super::Kind;

mod delete_secrets;
mod export_secrets;
mod import_secrets;
mod init_import_secrets;
mod secret;
mod section;

pub(super) use section::lines;

pub(super) const KINDS: &[Kind] =
    &[delete_secrets::KIND, export_secrets::KIND, import_secrets::KIND, init_import_secrets::KIND];
