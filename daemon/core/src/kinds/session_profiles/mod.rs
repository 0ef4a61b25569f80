//! Session profiles: limits on what sessions may do and how long they last.

use super::prelude::*;

mod create_session_profile;

pub(super) const ENTRIES: &[Entry] = &[entry::<create_session_profile::Intent>()];
