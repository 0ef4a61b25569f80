//! A cache of what is known of issuers, in which no tenant displaces what others use.
//!
//! What was fetched for several organizations is held by each of them, and its size counts for each. When the cache is full,
//! the group of organizations that holds the most gives way, and in it the organization that holds the most: it loses what
//! was not used for the longest time. The size of the value that a group or an organization used last does not count for
//! this: an organization with one large value is not the first to give way. If none holds more than one value, the one that
//! was not used for the longest time gives way; but those that were kept a moment ago do so last and in their order, so that
//! the requests that wait for a value can use it. The newest value always stays.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use quorate_common::ids::OrganizationId;
use tokio::time::Instant;

use crate::readers::Account;

/// Size that a value counts at least, in bytes. It limits the number of small values.
const LEAST_BYTES: usize = 16 * 1024;
/// Time in which the requests that waited for a new value use it.
const SERVED: Duration = Duration::from_secs(10);

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
    /// When it was kept.
    kept: Instant,
    /// The same, by the clock of the cache.
    kept_at: u64,
    /// When it was last used, by the clock of the cache.
    used: u64,
    holders: Vec<Holder>,
}

impl<V> Entry<V> {
    /// Returns the order in which values of different organizations give way: first those that were kept long ago, by their
    /// last use.
    fn order(&self) -> (bool, u64) {
        let is_new = self.kept.elapsed() < SERVED;
        (is_new, if is_new { self.kept_at } else { self.used })
    }
}

/// What one holder or group holds.
#[derive(Clone, Copy, Default)]
struct Holding {
    bytes: usize,
    /// When its value that was used last was used, and the size of that value.
    last: (u64, usize),
}

impl Holding {
    fn add(&mut self, used: u64, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.last = self.last.max((used, bytes));
    }

    /// Returns the bytes without the value that was used last.
    fn excess(self) -> usize {
        self.bytes.saturating_sub(self.last.1)
    }
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
        let (kept, kept_at) = (Instant::now(), self.clock);
        let bytes = bytes.max(LEAST_BYTES);
        self.entries
            .insert(issuer.to_owned(), Entry { value, bytes, kept, kept_at, used: self.clock, holders: all });
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

    /// Takes a value from a holder, as described in the module documentation. The newest keeps at least one holder.
    fn release(&mut self, newest: &str) {
        let group = self.most(|holder| Some(holder.group));
        let is_of_group = |holder: &Holder| group.is_none_or(|group| holder.group == group);
        let most = self.most(|holder| is_of_group(holder).then_some(*holder));
        let by_use = |entry: &Entry<V>| (false, entry.used);
        let candidate = most.and_then(|most| self.first(newest, |holder| *holder == most, by_use));
        let candidate = candidate.or_else(|| self.first(newest, is_of_group, Entry::order));
        let Some((issuer, holder)) = candidate.or_else(|| self.first(newest, |_| true, Entry::order)) else {
            return;
        };
        let Some(entry) = self.entries.get_mut(&issuer) else { return };
        entry.holders.retain(|one| *one != holder);
        if entry.holders.is_empty() {
            self.entries.remove(&issuer);
        }
    }

    /// Returns the value that gives way first, and its holder, among those with such a holder.
    fn first(
        &self,
        newest: &str,
        is_meant: impl Fn(&Holder) -> bool,
        order: impl Fn(&Entry<V>) -> (bool, u64),
    ) -> Option<(String, Holder)> {
        let held = self.entries.iter().filter_map(|(issuer, entry)| {
            let is_newest = issuer == newest;
            let may_release = !is_newest || entry.holders.len() > 1;
            let holder = entry.holders.iter().find(|holder| may_release && is_meant(holder))?;
            Some(((is_newest, order(entry)), issuer, *holder))
        });
        let (_, issuer, holder) = held.min_by_key(|(order, ..)| *order)?;
        Some((issuer.clone(), holder))
    }

    /// Returns who holds the most bytes, without the value that each used last; `None` if nobody holds more than that.
    fn most<T: Copy + Eq + Hash>(&self, who: impl Fn(&Holder) -> Option<T>) -> Option<T> {
        let mut held: HashMap<T, Holding> = HashMap::new();
        for entry in self.entries.values() {
            for one in entry.holders.iter().filter_map(&who) {
                held.entry(one).or_default().add(entry.used, entry.bytes);
            }
        }
        let held = held.into_iter().map(|(one, holding)| (one, holding.excess()));
        held.filter(|(_, excess)| *excess > 0).max_by_key(|(_, excess)| *excess).map(|(one, _)| one)
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

    #[test]
    fn the_value_that_is_served_stays_however_many_hold_less() {
        for group in [child, |number| holder(number, true)] {
            let mut held = Held::new(8 * LEAST_BYTES);
            (0..20).for_each(|number| held.keep(&format!("small {number}"), "value", 1, &[group(number)]));
            held.keep("large", "value", 2 * LEAST_BYTES, &[group(100)]);
            assert_eq!(held.value("large"), Some("value"), "it was fetched for a request that waits for it");
            // Others fetch and use less than the cache holds before the request proceeds.
            for number in 20..25 {
                for number in 0..100 {
                    let _ = held.value(&format!("small {}", number % 25));
                }
                held.keep(&format!("small {number}"), "value", 1, &[group(number)]);
                assert_eq!(held.value("large"), Some("value"), "{number}");
            }
            assert!(held.entries.len() <= 8);
        }
    }

    #[test]
    fn a_large_value_of_everybody_stays() {
        let mut held = Held::new(8 * LEAST_BYTES);
        (0..10).for_each(|number| held.keep("large", number, 5 * LEAST_BYTES, &[child(number)]));
        held.keep("huge", 10, 100 * LEAST_BYTES, &[child(1), holder(2, true)]);
        assert_eq!((held.value("huge"), held.entries.len()), (Some(10), 1));
    }
}
