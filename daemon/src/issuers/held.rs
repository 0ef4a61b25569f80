//! A cache of what is known of issuers, in which no tenant displaces what others use.
//!
//! What was fetched for several organizations is held by each of them, and its size counts for each. When the cache is full,
//! the group of organizations that holds the most gives way, and in it the organization that holds the most: it loses what
//! was not used for the longest time.

use std::collections::HashMap;
use std::hash::Hash;

use quorate_common::ids::OrganizationId;

use crate::readers::Account;

/// Size that a value counts at least, in bytes. It limits the number of small values.
const LEAST_BYTES: usize = 16 * 1024;

/// A top-level organization, or all of its sub-organizations together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct HolderGroup {
    tenant: OrganizationId,
    is_parent: bool,
}

/// The organization that a value counts for, and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Holder {
    group: HolderGroup,
    organization: OrganizationId,
}

impl From<&Account> for Holder {
    fn from(account: &Account) -> Self {
        let group = HolderGroup { tenant: account.tenant, is_parent: account.is_parent() };
        Self { group, organization: account.organization }
    }
}

/// The cache, as described in the module documentation.
pub(super) struct Held<V> {
    entries: HashMap<String, Entry<V>>,
    /// Maximum number of bytes that all holders hold together. A single value may be larger.
    limit: usize,
    /// Number of lookups and insertions.
    clock: u64,
}

struct Entry<V> {
    value: V,
    bytes: usize,
    /// When it was last used, by the clock of the cache.
    used: u64,
    holders: Vec<Holder>,
}

impl<V: Clone> Held<V> {
    /// Creates an empty cache.
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: HashMap::new(), limit, clock: 0 }
    }

    /// Returns the value of an issuer, and marks it as used.
    pub(super) fn value(&mut self, issuer: &str) -> Option<V> {
        self.clock = self.clock.saturating_add(1);
        let entry = self.entries.get_mut(issuer)?;
        entry.used = self.clock;
        Some(entry.value.clone())
    }

    /// Keeps a value for holders, beside those that hold the former value of the issuer.
    pub(super) fn keep(&mut self, issuer: &str, value: V, bytes: usize, holders: &[Holder]) {
        self.clock = self.clock.saturating_add(1);
        let mut all = self.entries.remove(issuer).map_or_else(Vec::new, |former| former.holders);
        let new = holders.iter().filter(|one| !all.contains(one)).copied().collect::<Vec<_>>();
        all.extend(new);
        let entry = Entry { value, bytes: bytes.max(LEAST_BYTES), used: self.clock, holders: all };
        self.entries.insert(issuer.to_owned(), entry);
        while self.is_full() {
            self.release(issuer);
        }
    }

    /// Returns whether more is held than the limit permits, by more than one holder or of more than one issuer.
    fn is_full(&self) -> bool {
        let holdings = self.entries.values().map(|entry| entry.holders.len());
        let held = self.entries.values().map(|entry| entry.bytes.saturating_mul(entry.holders.len()));
        holdings.fold(0, usize::saturating_add) > 1 && held.fold(0, usize::saturating_add) > self.limit
    }

    /// Takes a value from a holder, as described in the module documentation; `newest` only if the holder has no other.
    fn release(&mut self, newest: &str) {
        let Some(group) = self.most(|holder| Some(holder.group)) else { return };
        let Some(most) = self.most(|holder| (holder.group == group).then_some(*holder)) else { return };
        let of_most = self.entries.iter_mut().filter(|(_, entry)| entry.holders.contains(&most));
        let Some((issuer, entry)) = of_most.min_by_key(|(issuer, entry)| (*issuer == newest, entry.used))
        else {
            return;
        };
        entry.holders.retain(|one| *one != most);
        if entry.holders.is_empty() {
            let issuer = issuer.clone();
            self.entries.remove(&issuer);
        }
    }

    /// Returns who holds the most bytes.
    fn most<T: Copy + Eq + Hash>(&self, who: impl Fn(&Holder) -> Option<T>) -> Option<T> {
        let mut held: HashMap<T, usize> = HashMap::new();
        for entry in self.entries.values() {
            for one in entry.holders.iter().filter_map(&who) {
                let bytes = held.entry(one).or_default();
                *bytes = bytes.saturating_add(entry.bytes);
            }
        }
        held.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(one, _)| one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn organization(number: u8) -> OrganizationId {
        OrganizationId::from_bytes([number; 16])
    }

    fn holder(tenant: u8, is_parent: bool) -> Holder {
        let group = HolderGroup { tenant: organization(tenant), is_parent };
        Holder { group, organization: organization(tenant) }
    }

    fn child(number: u8) -> Holder {
        Holder { organization: organization(number), ..holder(1, false) }
    }

    #[test]
    fn a_tenant_with_many_issuers_displaces_only_its_own() {
        let (of_one, of_other) = (holder(1, true), holder(2, true));
        let of_children = holder(1, false);
        let mut held = Held::new(8 * LEAST_BYTES);
        held.keep("other", "value", 1, &[of_other]);
        held.keep("shared", "value", 1, &[of_one, of_other]);
        held.keep("children", "value", 1, &[of_children]);
        for number in 0..100 {
            held.keep(&format!("throw-away {number}"), "value", 1, &[of_one]);
        }
        assert_eq!(["other", "shared", "children"].map(|issuer| held.value(issuer)), [Some("value"); 3]);
        let kept: Vec<_> =
            (0..100).filter(|number| held.entries.contains_key(&format!("throw-away {number}"))).collect();
        assert_eq!(kept, [95, 96, 97, 98, 99], "three of eight are held by others");
    }

    #[test]
    fn a_holder_loses_what_it_did_not_use() {
        let of_one = holder(1, true);
        let mut held = Held::new(3 * LEAST_BYTES);
        for number in 0..20 {
            held.keep(&number.to_string(), number, 1, &[of_one]);
            assert_eq!(held.value("0"), Some(0), "used each time");
            assert!(held.entries.len() <= 3);
        }
        assert_eq!((held.value("5"), held.value("19")), (None, Some(19)));
        // The size of a value counts, and a value that is larger than the cache is its only one.
        held.keep("large", 20, 2 * LEAST_BYTES, &[of_one]);
        assert_eq!(held.entries.len(), 2);
        held.keep("huge", 21, 100 * LEAST_BYTES, &[of_one]);
        assert_eq!((held.value("huge"), held.entries.len()), (Some(21), 1));
        // A new value of the same issuer counts once.
        (0..20).for_each(|round| held.keep("same", round, 1, &[of_one]));
        assert_eq!((held.value("same"), held.entries.len()), (Some(19), 1));
    }

    #[test]
    fn a_sub_organization_with_many_issuers_displaces_only_its_own() {
        let mut held = Held::new(8 * LEAST_BYTES);
        held.keep("sibling", "value", 1, &[child(7)]);
        for number in 0..100 {
            held.keep(&format!("throw-away {number}"), "value", 1, &[child(8)]);
        }
        assert_eq!(held.value("sibling"), Some("value"));
    }

    #[test]
    fn an_issuer_of_everybody_has_a_bounded_number_of_holders() {
        let mut held = Held::new(8 * LEAST_BYTES);
        (0..100).for_each(|number| held.keep("everybody's", "value", 1, &[child(number)]));
        let holders = held.entries.values().map(|entry| entry.holders.len()).sum::<usize>();
        assert_eq!((held.value("everybody's"), holders), (Some("value"), 8));
    }
}
