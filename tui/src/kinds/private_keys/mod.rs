//! Private keys that belong to no wallet.

use super::Kind;

mod create_private_keys;
mod delete_private_keys;
mod disable_private_key;
mod export_private_key;
mod import_private_key;
mod init_import_private_key;
mod section;

pub(super) const KINDS: &[Kind] = &[
    create_private_keys::KIND,
    delete_private_keys::KIND,
    disable_private_key::KIND,
    export_private_key::KIND,
    import_private_key::KIND,
    init_import_private_key::KIND,
];
