//! Private keys.

use super::prelude::*;

mod get_private_key;
mod list_private_keys;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<get_private_key::GetPrivateKey>(), entry::<list_private_keys::ListPrivateKeys>()];
