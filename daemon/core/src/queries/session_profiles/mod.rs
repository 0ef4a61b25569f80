//! Session profiles.

use super::prelude::*;
use crate::error::Corrupt;

mod get_session_profile;
mod get_session_profiles;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_session_profile::GetSessionProfile>("get_session_profile", "sessionProfile"),
    entry::<get_session_profiles::GetSessionProfiles>("get_session_profiles", "sessionProfiles"),
];

/// Returns the profiles that sessions of an organization may use: its own, or those of its parent.
fn session_profiles(context: &QueryContext<'_>) -> Result<Vec<SessionProfile>, Corrupt> {
    let own = context.organization.records.session_profiles.iter().cloned();
    let Some(parent) = context.organization.head.parent else { return Ok(own.collect()) };
    let parent = context.world.organization(parent)?;
    Ok(parent.map(|parent| parent.records.session_profiles.iter().cloned().collect()).unwrap_or_default())
}
