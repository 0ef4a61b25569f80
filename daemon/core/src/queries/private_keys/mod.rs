//! Private keys.

use super::prelude::*;

mod get_private_key;
mod list_private_keys;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_private_key::GetPrivateKey>("get_private_key", "privateKey"),
    entry::<list_private_keys::ListPrivateKeys>("list_private_keys", "privateKeys"),
];
