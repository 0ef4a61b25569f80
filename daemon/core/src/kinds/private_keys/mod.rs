//! Single private keys.

use super::prelude::*;

mod create_private_keys;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<create_private_keys::v1::Intent>(), entry::<create_private_keys::Intent>()];
