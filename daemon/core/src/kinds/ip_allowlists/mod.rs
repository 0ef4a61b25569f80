//! IP allowlists: the addresses from which requests are accepted.

use super::prelude::*;

mod remove_ip_allowlist;
mod set_ip_allowlist;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<remove_ip_allowlist::Intent>(), entry::<set_ip_allowlist::Intent>()];
