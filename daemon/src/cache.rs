//! A cache with a bounded number of values and bytes, in two generations. When the younger generation is
//! full, it replaces the older one, and values that were not used since are dropped. Lookups and insertions
//! take constant time.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A cache of two generations, as described in the module documentation.
pub(crate) struct TwoGenerations<K, V> {
    young: Generation<K, V>,
    old: Generation<K, V>,
    /// Maximum number of values and bytes in one generation.
    half: (usize, usize),
}

/// Values, each with its size in bytes.
struct Generation<K, V> {
    values: HashMap<K, (V, usize)>,
    bytes: usize,
}

impl<K, V> Default for Generation<K, V> {
    fn default() -> Self {
        Self { values: HashMap::new(), bytes: 0 }
    }
}

impl<K: Eq + Hash, V> Generation<K, V> {
    fn insert(&mut self, key: K, value: V, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some((_, replaced)) = self.values.insert(key, (value, bytes)) {
            self.bytes = self.bytes.saturating_sub(replaced);
        }
    }

    fn remove<Q>(&mut self, key: &Q) -> Option<(K, V, usize)>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let (key, (value, bytes)) = self.values.remove_entry(key)?;
        self.bytes = self.bytes.saturating_sub(bytes);
        Some((key, value, bytes))
    }

    fn retain(&mut self, wanted: impl Fn(&K) -> bool) {
        self.values.retain(|key, _| wanted(key));
        self.bytes = self.values.values().map(|(_, bytes)| bytes).sum();
    }
}

impl<K: Eq + Hash, V: Clone> TwoGenerations<K, V> {
    /// Creates a cache of at most `limit` values.
    pub(crate) fn new(limit: usize) -> Self {
        Self::weighed(limit, usize::MAX)
    }

    /// Creates a cache of at most `limit` values with at most `bytes` bytes in total. A single value may be
    /// larger than half of them; it is then the only one of its generation.
    pub(crate) fn weighed(limit: usize, bytes: usize) -> Self {
        let half = ((limit / 2).max(1), bytes / 2);
        Self { young: Generation::default(), old: Generation::default(), half }
    }

    /// Returns the value of a key and marks it as used.
    pub(crate) fn value<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if let Some((value, _)) = self.young.values.get(key) {
            return Some(value.clone());
        }
        let (key, value, bytes) = self.old.remove(key)?;
        self.keep_weighed(key, value.clone(), bytes);
        Some(value)
    }

    /// Removes a value.
    pub(crate) fn forget<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// Removes the values whose keys do not satisfy the predicate.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&K) -> bool) {
        self.young.retain(&wanted);
        self.old.retain(&wanted);
    }

    /// Inserts a value whose size does not count.
    pub(crate) fn keep(&mut self, key: K, value: V) {
        self.keep_weighed(key, value, 0);
    }

    /// Inserts a value of the given size in bytes.
    pub(crate) fn keep_weighed(&mut self, key: K, value: V, bytes: usize) {
        let (number, most) = self.half;
        self.young.remove(&key);
        let is_full = self.young.values.len() >= number || self.young.bytes.saturating_add(bytes) > most;
        if is_full && !self.young.values.is_empty() {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, value, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_values_from_both_generations() {
        let mut cache = TwoGenerations::new(4);
        (0..3).for_each(|number| cache.keep(number, number));
        cache.forget(&0);
        cache.retain(|number| *number != 2);
        assert_eq!([0, 1, 2].map(|number| cache.value(&number)), [None, Some(1), None]);
    }

    #[test]
    fn keeps_used_values_and_stays_bounded() {
        let mut cache = TwoGenerations::new(4);
        for key in 0..100 {
            cache.keep(key, key);
            assert_eq!(cache.value(&0), Some(0), "used each time");
            assert!(cache.young.values.len() + cache.old.values.len() <= 4);
        }
        assert_eq!(cache.value(&50), None);
    }

    #[test]
    fn stays_within_its_bytes() {
        let mut cache = TwoGenerations::weighed(1000, 100);
        let bytes = |cache: &TwoGenerations<i32, i32>| cache.young.bytes + cache.old.bytes;
        for key in 0..100 {
            cache.keep_weighed(key, key, 20);
            assert_eq!(cache.value(&0), Some(0), "used each time");
            assert!(bytes(&cache) <= 100);
        }
        assert_eq!((cache.value(&50), cache.value(&99)), (None, Some(99)));
        // Inserting the same key again counts it once, with its new size.
        (0..10).for_each(|round| cache.keep_weighed(7, round, 30));
        assert_eq!(cache.value(&7), Some(9));
        assert!(bytes(&cache) <= 100);
        // A value larger than a generation evicts all others, and is evicted by the next ones.
        cache.keep_weighed(8, 8, 1000);
        assert_eq!(cache.value(&8), Some(8));
        (20..26).for_each(|key| cache.keep_weighed(key, key, 20));
        assert_eq!(cache.value(&8), None);
        assert!(bytes(&cache) <= 100);
        cache.retain(|key| *key == 25);
        assert_eq!(bytes(&cache), 20);
        cache.forget(&25);
        assert_eq!(bytes(&cache), 0);
    }
}
