//! Session profiles: limits on what sessions may do and how long they last.

use super::Kind;

mod create_session_profile;
mod section;

pub(super) const KINDS: &[Kind] = &[create_session_profile::KIND];
