//! The web origins from which stamps by passkeys are accepted.

use crate::error::Corrupt;
use crate::model::Organization;
use crate::world::World;

/// Returns whether passkeys of an organization are accepted from this origin. The organization's own list
/// decides, or its parent's list if it has none. Without a list, every origin is accepted. Origins are
/// compared byte by byte.
///
/// # Errors
/// If the parent cannot be read.
pub fn accepts(world: &dyn World, organization: &Organization, origin: &str) -> Result<bool, Corrupt> {
    let mut listed = organization.origins();
    if listed.is_empty()
        && let Some(parent) = organization.head.parent
    {
        listed = world.organization(parent)?.map(|parent| parent.origins()).unwrap_or_default();
    }
    Ok(listed.is_empty() || listed.iter().any(|known| known == origin))
}
