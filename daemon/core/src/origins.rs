//! From which web origins passkeys are taken.

use crate::model::Organization;
use crate::refusal::Corrupt;
use crate::world::World;

/// Whether passkeys of an organization are taken from this origin: one that it lists, or its parent where it lists
/// none, and any where neither does. Origins are compared as they stand.
pub fn takes(world: &dyn World, organization: &Organization, origin: &str) -> Result<bool, Corrupt> {
    let mut listed = organization.origins();
    if listed.is_empty()
        && let Some(parent) = organization.head.parent
    {
        listed = world.organization(parent)?.map(|parent| parent.origins()).unwrap_or_default();
    }
    Ok(listed.is_empty() || listed.iter().any(|known| known == origin))
}
