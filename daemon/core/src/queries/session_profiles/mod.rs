//! Session profiles.

use super::prelude::*;
use crate::view::session_profiles;

mod get_session_profile;
mod get_session_profiles;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_session_profile::GetSessionProfile>("get_session_profile", "sessionProfile"),
    entry::<get_session_profiles::GetSessionProfiles>("get_session_profiles", "sessionProfiles"),
];
