//! A bounded cache in two generations: when the younger one is full it becomes the older one, and what was not
//! used since falls out. Lookups and insertions are constant in cost.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// See the module.
pub(crate) struct TwoGenerations<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    half: usize,
}

impl<K: Eq + Hash, V: Clone> TwoGenerations<K, V> {
    /// Holds at most `limit` values.
    pub(crate) fn new(limit: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), half: (limit / 2).max(1) }
    }

    /// The value of a key, which thereby counts as used.
    pub(crate) fn value<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.keep(key, value.clone());
        Some(value)
    }

    /// Drops a value.
    pub(crate) fn forget<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.young.remove(key);
        self.old.remove(key);
    }

    /// Drops all but these.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&K) -> bool) {
        self.young.retain(|key, _| wanted(key));
        self.old.retain(|key, _| wanted(key));
    }

    /// Keeps a value.
    pub(crate) fn keep(&mut self, key: K, value: V) {
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&key);
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_what_it_is_told_to_from_both_generations() {
        let mut cache = TwoGenerations::new(4);
        (0..3).for_each(|number| cache.keep(number, number));
        cache.forget(&0);
        cache.retain(|number| *number != 2);
        assert_eq!([0, 1, 2].map(|number| cache.value(&number)), [None, Some(1), None]);
    }

    #[test]
    fn keeps_what_is_used_and_stays_bounded() {
        let mut cache = TwoGenerations::new(4);
        for key in 0..100 {
            cache.keep(key, key);
            assert_eq!(cache.value(&0), Some(0), "used each time");
            assert!(cache.young.len() + cache.old.len() <= 4);
        }
        assert_eq!(cache.value(&50), None);
    }
}
