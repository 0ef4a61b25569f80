//! IP allowlists: the addresses from which requests are accepted.

use super::Kind;

mod allowlist;
mod block;
mod remove_ip_allowlist;
mod set_ip_allowlist;

pub(super) const KINDS: &[Kind] = &[remove_ip_allowlist::KIND, set_ip_allowlist::KIND];
