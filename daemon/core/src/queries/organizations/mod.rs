//! Organizations and their sub-organizations.

use std::collections::BTreeSet;

use super::prelude::*;
use crate::listing;
use crate::model::layout::{self, Key, Lookup};
use crate::records;
use crate::world::{Order, Page};

mod get_console_view;
mod get_organization;
mod get_organization_configs;
mod list_suborgs;
mod list_verified_suborgs;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_console_view::GetConsoleView>("get_console_view", "view"),
    entry::<get_organization::GetOrganization>("get_organization", "organizationData"),
    entry::<get_organization_configs::GetOrganizationConfigs>("get_organization_configs", "configs"),
    entry::<list_suborgs::ListSuborgs>("list_suborgs", "organizationIds"),
    entry::<list_verified_suborgs::ListVerifiedSuborgs>("list_verified_suborgs", "organizationIds"),
];

/// Maximum length of a text by which sub-organizations can be found. A longer text finds none.
const FILTER_LIMIT: usize = 256;

/// Maximum number of index entries that are read and ordered for a page, whatever its length.
const ORDERED: usize = 100;

/// Names of filters, with the values that they look up.
type Filters = [(&'static str, Lookup)];

/// Returns the names of filters.
fn names(filters: &Filters) -> impl Iterator<Item = &'static str> {
    filters.iter().map(|(name, _)| *name)
}

/// Returns a page of the sub-organizations with a value, which the named filter looks up.
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
    having(context, lookup, &[text], pagination)
}

/// Returns a page of the sub-organizations with any of these values, as the index contains them: those in which a credential
/// is established, and then the others, each the oldest first. If there are too many entries, the others are listed by id.
fn having(
    context: &QueryContext<'_>,
    lookup: Lookup,
    values: &[String],
    pagination: &Pagination,
) -> Result<Vec<OrganizationId>, RequestError> {
    let prefixes = |lookup: Lookup| -> Vec<Key> {
        let prefix =
            |value: &String| layout::lookup_entries(context.world.index(), context.id(), lookup, value);
        values.iter().map(prefix).collect()
    };
    let (cursor, is_before) =
        pagination.cursor(|text| Ok(text.parse::<OrganizationId>().map_err(|_| Intent::Cursor)?))?;
    let span = Span { cursor, is_before, limit: pagination.limit()? };
    let established = lookup.established().map(|lookup| few(context, &prefixes(lookup))).transpose()?;
    // If they are too many themselves, none has precedence.
    let established = established.flatten().unwrap_or_default();
    match few(context, &prefixes(lookup))? {
        Some(ids) => by_creation(context, ids, &established, &span),
        None => established_then_by_id(context, established, &prefixes(lookup), &span),
    }
}

/// Which part of a list a page has.
struct Span {
    cursor: Option<OrganizationId>,
    is_before: bool,
    limit: usize,
}

impl Span {
    /// Cuts a list that continues beyond its page: at its start, if the page ends before the cursor.
    fn cut<T>(&self, list: &mut Vec<T>) {
        let excess = list.len().saturating_sub(self.limit);
        list.drain(..if self.is_before { excess } else { 0 });
        list.truncate(self.limit);
    }
}

/// Returns all sub-organizations with entries below these prefixes, unless there are more entries than [`ORDERED`].
fn few(
    context: &QueryContext<'_>,
    prefixes: &[Key],
) -> Result<Option<BTreeSet<OrganizationId>>, RequestError> {
    let (mut room, mut ids) = (ORDERED, BTreeSet::new());
    for prefix in prefixes {
        let keys = context.world.records().keys(Page::first(prefix, room.saturating_add(1)))?;
        let Some(left) = room.checked_sub(keys.len()) else { return Ok(None) };
        room = left;
        ids.extend(keys.iter().filter_map(|key| layout::lookup_child(key)));
    }
    Ok(Some(ids))
}

/// Returns a page of sub-organizations: the established ones and then the others, each the oldest first.
fn by_creation(
    context: &QueryContext<'_>,
    ids: BTreeSet<OrganizationId>,
    established: &BTreeSet<OrganizationId>,
    span: &Span,
) -> Result<Vec<OrganizationId>, RequestError> {
    if ids.len() <= 1 && span.cursor.is_none() {
        return Ok(ids.into_iter().collect());
    }
    let position = |id: OrganizationId| {
        let head = records::head(context.world.records(), id)?;
        let child = head.filter(|head| head.parent == Some(context.id()));
        Ok::<_, RequestError>(child.map(|child| (!established.contains(&id), child.created, id)))
    };
    let mut ordered = Vec::with_capacity(ids.len());
    for id in ids {
        ordered.extend(position(id)?);
    }
    ordered.sort_unstable();
    if let Some(cursor) = span.cursor {
        // A sub-organization that was deleted, or lost the value, still has its position in the order.
        let cursor = position(cursor)?.ok_or(Intent::Cursor)?;
        ordered.retain(|one| if span.is_before { *one < cursor } else { *one > cursor });
    }
    span.cut(&mut ordered);
    Ok(ordered.into_iter().map(|(_, _, id)| id).collect())
}

/// Returns a page of the list of the established sub-organizations, the oldest first, and then of all others with entries
/// below these prefixes, by id.
fn established_then_by_id(
    context: &QueryContext<'_>,
    established: BTreeSet<OrganizationId>,
    prefixes: &[Key],
    span: &Span,
) -> Result<Vec<OrganizationId>, RequestError> {
    let all = Span { cursor: None, is_before: false, limit: ORDERED };
    let mut list = by_creation(context, established, &BTreeSet::new(), &all)?;
    let position = span.cursor.and_then(|cursor| list.iter().position(|id| *id == cursor));
    let others = |cursor: Option<OrganizationId>| {
        let limit = span.limit.saturating_add(list.len());
        let mut ids = by_id(context, prefixes, &Span { cursor, is_before: span.is_before, limit })?;
        ids.retain(|id| !list.contains(id));
        Ok::<_, RequestError>(ids)
    };
    match position {
        Some(index) if span.is_before => list.truncate(index),
        Some(index) => {
            let others = others(None)?;
            list.drain(..=index);
            list.extend(others);
        }
        None => {
            let others = others(span.cursor)?;
            if span.cursor.is_some() && !span.is_before {
                list.clear();
            }
            list.extend(others);
        }
    }
    span.cut(&mut list);
    Ok(list)
}

/// Returns a page of the sub-organizations with entries below these prefixes, by id. Each prefix has a page at the same
/// position, and the pages are merged.
fn by_id(
    context: &QueryContext<'_>,
    prefixes: &[Key],
    span: &Span,
) -> Result<Vec<OrganizationId>, RequestError> {
    let place = (span.cursor, if span.is_before { Order::Descending } else { Order::Ascending });
    let mut ids = BTreeSet::new();
    for prefix in prefixes {
        ids.extend(listing::children_below(context.world.records(), prefix, place, span.limit)?);
    }
    let mut ids: Vec<OrganizationId> = ids.into_iter().collect();
    span.cut(&mut ids);
    Ok(ids)
}
