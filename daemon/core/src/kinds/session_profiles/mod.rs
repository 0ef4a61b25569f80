//! What sessions may be limited to.

use super::prelude::*;

mod create_session_profile;

pub(super) const ENTRIES: &[Entry] = &[entry::<create_session_profile::Intent>()];
