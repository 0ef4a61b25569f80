//! A cache of recently used signing keys: on locked memory pages, bounded in number, wiped when they are
//! evicted. The keys never leave this module.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_core::error::{Corrupt, RequestError};
use quorate_core::model::layout::Key;

use crate::cache::TwoGenerations;
use crate::fail_points;
use crate::locked::Locked;

/// Maximum number of cached keys; a slot takes less than 400 bytes.
const KEYS: usize = 4096;
/// Additional slots for evicted keys that are still in use.
const SPARE: usize = 64;

/// Signing keys, cached by the record keys of their private keys and accounts.
pub(crate) struct KeyCache {
    slots: Arc<Slots>,
    cached: Mutex<Cached>,
}

/// The keys that are cached.
struct Cached {
    keys: TwoGenerations<Key, Arc<Slot>>,
    /// Number of removals.
    removals: u64,
}

/// Memory for keys, allocated once so that no key is moved.
struct Slots {
    keys: Locked<[RwLock<Option<SecretKey>>]>,
    free: Mutex<Vec<usize>>,
}

/// A key in a slot, wiped when the last reference is dropped.
struct Slot {
    slots: Arc<Slots>,
    number: usize,
}

impl KeyCache {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        Self::with_capacity(KEYS, SPARE)
    }

    fn with_capacity(keys: usize, spare: usize) -> Self {
        let all = keys.saturating_add(spare);
        let slots = Slots {
            keys: Locked::new((0..all).map(|_| RwLock::new(None)).collect()),
            free: Mutex::new((0..all).collect()),
        };
        let cached = Cached { keys: TwoGenerations::new(keys), removals: 0 };
        Self { slots: Arc::new(slots), cached: Mutex::new(cached) }
    }

    /// Returns whether the keys are locked in memory, so that none can be swapped out.
    pub(crate) fn are_locked(&self) -> bool {
        self.slots.keys.is_locked()
    }

    /// Signs with the key of a record, which is loaded if it is not cached. A key for which no slot is free
    /// is loaded each time.
    pub(crate) fn sign(
        &self,
        record: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, RequestError>,
        message: &Message,
    ) -> Result<Signature, RequestError> {
        let (slot, removals) = {
            let mut cached = self.cached();
            (cached.keys.value(record), cached.removals)
        };
        if let Some(slot) = slot {
            return slot.sign(message);
        }
        fail_points::reach("key.load");
        let key = load()?;
        let signature = signature(&key, message);
        if let Some(slot) = Slot::take(&self.slots, key) {
            let mut cached = self.cached();
            // A key that was removed since may be this one, which still existed when it was loaded.
            if cached.removals == removals {
                cached.keys.keep(record.to_vec(), Arc::new(slot));
            }
        }
        signature
    }

    /// Removes and wipes the key of a record.
    pub(crate) fn forget(&self, record: &[u8]) {
        fail_points::reach("key.forget");
        let mut cached = self.cached();
        cached.removals = cached.removals.wrapping_add(1);
        cached.keys.forget(record);
    }

    /// Removes and wipes the keys of all records whose keys have a prefix.
    pub(crate) fn forget_all(&self, prefix: &[u8]) {
        let mut cached = self.cached();
        cached.removals = cached.removals.wrapping_add(1);
        cached.keys.retain(|record| !record.starts_with(prefix));
    }

    fn cached(&self) -> MutexGuard<'_, Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, number: usize, key: Option<SecretKey>) {
        if let Some(slot) = self.keys.get(number) {
            *slot.write().unwrap_or_else(PoisonError::into_inner) = key;
        }
    }
}

impl Slot {
    /// Puts a key into a free slot; returns `None` if every slot is in use.
    fn take(slots: &Arc<Slots>, key: SecretKey) -> Option<Self> {
        let number = slots.free().pop()?;
        slots.put(number, Some(key));
        Some(Self { slots: Arc::clone(slots), number })
    }

    fn sign(&self, message: &Message) -> Result<Signature, RequestError> {
        let empty = || RequestError::from(Corrupt::Invariant("a key is not in its slot"));
        let slot = self.slots.keys.get(self.number).ok_or_else(empty)?;
        let key = slot.read().unwrap_or_else(PoisonError::into_inner);
        signature(key.as_ref().ok_or_else(empty)?, message)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.put(self.number, None);
        self.slots.free().push(self.number);
    }
}

fn signature(key: &SecretKey, message: &Message) -> Result<Signature, RequestError> {
    let signature = key.sign(message).map_err(|_| Corrupt::Signature.into());
    fail_points::reach("key.signed");
    signature
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::cell::Cell;

    use quorate_chain::curve::Curve;

    use super::*;

    /// Signs with the key of a seed, and returns whether it had to be loaded.
    fn is_loaded(keys: &KeyCache, seed: u8) -> bool {
        let loaded = Cell::new(false);
        let key = SecretKey::from_bytes(Curve::Ed25519, &[seed; 32]).unwrap();
        let message = Message::Bytes(vec![1, 2, 3]);
        let signed = keys.sign(
            &[7, seed],
            &mut || {
                loaded.set(true);
                Ok(key.clone())
            },
            &message,
        );
        assert_eq!(signed.unwrap(), key.sign(&message).unwrap(), "{seed}");
        loaded.get()
    }

    fn slots_in_use(keys: &KeyCache) -> usize {
        keys.slots.keys.iter().filter(|slot| slot.read().unwrap().is_some()).count()
    }

    #[test]
    fn keys_stay_cached_until_others_evict_them() {
        let keys = KeyCache::with_capacity(4, 1);
        for seed in 0..50 {
            assert!(is_loaded(&keys, seed));
            assert!(!is_loaded(&keys, seed));
            assert!(slots_in_use(&keys) <= 4);
        }
        assert!(is_loaded(&keys, 0));
    }

    #[test]
    fn a_removed_key_frees_its_slot() {
        let keys = KeyCache::with_capacity(8, 0);
        (0..4).for_each(|seed| assert!(is_loaded(&keys, seed)));
        keys.forget(&[7, 1]);
        assert_eq!(slots_in_use(&keys), 3);
        assert!(is_loaded(&keys, 1));
        keys.forget_all(&[7]);
        assert_eq!(slots_in_use(&keys), 0);
        assert!(is_loaded(&keys, 0));
    }

    /// Signs with a key, and calls `then` after the key was loaded and before it is cached.
    fn load_and_then(keys: &KeyCache, then: impl Fn(&KeyCache)) {
        let key = SecretKey::from_bytes(Curve::Ed25519, &[1; 32]).unwrap();
        let mut load = || {
            then(keys);
            Ok(key.clone())
        };
        keys.sign(&[7, 1], &mut load, &Message::Bytes(vec![1, 2, 3])).unwrap();
    }

    #[test]
    fn a_key_removed_while_it_is_loaded_is_not_cached() {
        let keys = KeyCache::with_capacity(8, 0);
        load_and_then(&keys, |keys| keys.forget(&[7, 1]));
        assert_eq!(slots_in_use(&keys), 0);
        load_and_then(&keys, |keys| keys.forget_all(&[7]));
        assert_eq!(slots_in_use(&keys), 0);
        // Any removal counts: at worst, a key is loaded once more.
        load_and_then(&keys, |keys| keys.forget(&[8, 1]));
        assert_eq!(slots_in_use(&keys), 0);
        load_and_then(&keys, |_| ());
        assert_eq!(slots_in_use(&keys), 1);
        assert!(!is_loaded(&keys, 1));
    }

    #[test]
    fn without_a_free_slot_keys_are_loaded_each_time() {
        let keys = KeyCache::with_capacity(0, 0);
        assert!(is_loaded(&keys, 1));
        assert!(is_loaded(&keys, 1));
        assert_eq!(slots_in_use(&keys), 0);
    }
}
