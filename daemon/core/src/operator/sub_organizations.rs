//! Sub-organizations by the contacts of their users, for operators.

use quorate_common::console::{OrganizationPage, PAGE_LIMIT};
use quorate_common::ids::OrganizationId;

use super::{configured_head, load_organization};
use crate::error::RequestError;
use crate::listing::sub_organizations_with;
use crate::model::layout::Lookup;
use crate::records;
use crate::world::{Order, World};

/// Returns a page of the sub-organizations of an organization that have a user with this verified mail address or phone
/// number. Their number does not matter: an index finds them.
///
/// # Errors
/// If there is no such organization, or the store cannot be read.
pub fn with_contact(
    world: &dyn World,
    parent: OrganizationId,
    contact: &str,
    after: Option<OrganizationId>,
    limit: usize,
) -> Result<OrganizationPage, RequestError> {
    let limit = limit.clamp(1, PAGE_LIMIT);
    load_organization(world, parent)?;
    let contact = contact.trim();
    let (lookup, value) = if contact.contains('@') {
        (Lookup::VerifiedEmail, contact.to_lowercase())
    } else {
        (Lookup::VerifiedPhoneNumber, contact.to_owned())
    };
    let ids = sub_organizations_with(world, parent, (lookup, &value), (after, Order::Ascending), limit)?;
    let next = ids.last().copied().filter(|_| ids.len() == limit);
    let mut organizations = Vec::with_capacity(ids.len());
    for id in ids {
        // An organization may be deleted between the two reads.
        let found = records::head(world.records(), id)?.filter(|head| head.deleted.is_none());
        organizations.extend(found.map(|found| configured_head(world, &found)));
    }
    Ok(OrganizationPage { organizations, next })
}
