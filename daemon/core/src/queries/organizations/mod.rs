//! Organizations and their sub-organizations.

use super::prelude::*;
use crate::model::layout::{self, Key, Lookup};
use crate::world::{Order, Page};

mod get_organization;
mod get_organization_configs;
mod list_suborgs;
mod list_verified_suborgs;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_organization::GetOrganization>("get_organization", "organizationData"),
    entry::<get_organization_configs::GetOrganizationConfigs>("get_organization_configs", "configs"),
    entry::<list_suborgs::ListSuborgs>("list_suborgs", "organizationIds"),
    entry::<list_verified_suborgs::ListVerifiedSuborgs>("list_verified_suborgs", "organizationIds"),
];

/// Maximum length of a text by which sub-organizations can be found. A longer text finds none.
const FILTER_LIMIT: usize = 256;

/// Names of filters, with the values that they look up.
type Filters = [(&'static str, Lookup)];

/// Returns the names of filters.
fn names(filters: &Filters) -> impl Iterator<Item = &'static str> {
    filters.iter().map(|(name, _)| *name)
}

/// Returns a page of the sub-organizations with a value, which the named filter looks up. The entries of a
/// sub-organization that has the value several times are adjacent.
fn matching(
    context: &QueryContext<'_>,
    filters: &Filters,
    name: &str,
    text: &str,
    pagination: &Pagination,
) -> Result<Vec<OrganizationId>, RequestError> {
    let lookup = filters.iter().find(|(known, _)| *known == name).map(|(_, lookup)| *lookup);
    let lookup = lookup.ok_or(Intent::Text("invalid request body: `filterType`: unknown name"))?;
    let text = match lookup {
        Lookup::Email | Lookup::VerifiedEmail => text.to_lowercase(),
        Lookup::PublicKey => text.to_ascii_lowercase(),
        _ => text.to_owned(),
    };
    having(context, lookup, &text, pagination)
}

/// Returns a page of the sub-organizations with a value, as the index contains it.
fn having(
    context: &QueryContext<'_>,
    lookup: Lookup,
    value: &str,
    pagination: &Pagination,
) -> Result<Vec<OrganizationId>, RequestError> {
    let prefix = layout::lookup_entries(context.world.index(), context.id(), lookup, value);
    let (cursor, is_before) =
        pagination.cursor(|text| Ok(text.parse::<OrganizationId>().map_err(|_| Intent::Cursor)?))?;
    let order = if is_before { Order::Descending } else { Order::Ascending };
    let limit = pagination.limit()?;
    let mut ids: Vec<OrganizationId> = Vec::new();
    let mut last = cursor;
    while ids.len() < limit {
        let after = last.map(|id| beyond_child(&prefix, id, order));
        let page = Page { prefix: &prefix, after: after.as_deref(), order, limit };
        let keys = context.world.records().keys(page)?;
        let children = keys.iter().filter_map(|key| layout::lookup_child(key));
        ids.extend(children.filter(|id| Some(*id) != last));
        ids.dedup();
        if keys.len() < limit {
            break;
        }
        last = ids.last().copied();
    }
    ids.truncate(limit);
    if is_before {
        ids.reverse();
    }
    Ok(ids)
}

/// Returns the key after which a page continues past all entries of a sub-organization.
fn beyond_child(prefix: &[u8], child: OrganizationId, order: Order) -> Key {
    let mut key = [prefix, child.as_bytes()].concat();
    if order == Order::Ascending {
        // Longer than each of its entries.
        key.extend_from_slice(&[0xff; 17]);
    }
    key
}
