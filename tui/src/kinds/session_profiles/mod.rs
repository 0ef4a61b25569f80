//! Session profiles: limits on what sessions may do and how long they last.

use super::Kind;

mod create_session_profile;

pub(super) const KINDS: &[Kind] = &[create_session_profile::KIND];
