//! IP allowlists.

use super::prelude::*;

mod get_ip_allowlist;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<get_ip_allowlist::GetIpAllowlist>("get_ip_allowlist", "allowlist")];
