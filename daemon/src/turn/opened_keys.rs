//! Signing keys that were used lately: on locked pages, bounded in number, wiped when they fall out. They never leave this room.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_core::model::layout::Key;
use quorate_core::refusal::{Corrupt, Refusal};

use crate::cache::TwoGenerations;
use crate::fail_points;
use crate::locked::Locked;

/// How many keys are kept; a seat takes less than 400 bytes.
const KEYS: usize = 4096;
/// Seats for keys that somebody still signs with when they fall out.
const SPARE: usize = 64;

/// Keys by the places of their private keys and accounts.
pub(crate) struct OpenedKeys {
    seats: Arc<Seats>,
    kept: Mutex<Kept>,
}

/// Keys that are at hand.
struct Kept {
    keys: TwoGenerations<Key, Arc<Seat>>,
    /// How often something was forgotten.
    forgotten: u64,
}

/// Where keys stand: made once, so that no key is moved.
struct Seats {
    keys: Locked<[RwLock<Option<SecretKey>>]>,
    free: Mutex<Vec<usize>>,
}

/// A key in its seat, wiped when nobody holds this any more.
struct Seat {
    seats: Arc<Seats>,
    number: usize,
}

impl OpenedKeys {
    /// No keys yet.
    pub(crate) fn new() -> Self {
        Self::with_room(KEYS, SPARE)
    }

    fn with_room(keys: usize, spare: usize) -> Self {
        let all = keys.saturating_add(spare);
        let seats = Seats {
            keys: Locked::new((0..all).map(|_| RwLock::new(None)).collect()),
            free: Mutex::new((0..all).collect()),
        };
        let kept = Kept { keys: TwoGenerations::new(keys), forgotten: 0 };
        Self { seats: Arc::new(seats), kept: Mutex::new(kept) }
    }

    /// Whether no key can come into the swap.
    pub(crate) fn are_locked(&self) -> bool {
        self.seats.keys.is_locked()
    }

    /// Signs with the key of this place, loaded if it is not at hand. A key for which there is no seat is loaded each time.
    pub(crate) fn sign(
        &self,
        place: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, Refusal>,
        message: &Message,
    ) -> Result<Signature, Refusal> {
        let (seat, forgotten) = {
            let mut kept = self.kept();
            (kept.keys.value(place), kept.forgotten)
        };
        if let Some(seat) = seat {
            return seat.sign(message);
        }
        fail_points::reach("key.load");
        let key = load()?;
        let signature = signature(&key, message);
        if let Some(seat) = Seat::take(&self.seats, key) {
            let mut kept = self.kept();
            // What was forgotten since may be this key, which was still there when it was loaded.
            if kept.forgotten == forgotten {
                kept.keys.keep(place.to_vec(), Arc::new(seat));
            }
        }
        signature
    }

    /// Wipes the key of a place.
    pub(crate) fn forget(&self, place: &[u8]) {
        fail_points::reach("key.forget");
        let mut kept = self.kept();
        kept.forgotten = kept.forgotten.wrapping_add(1);
        kept.keys.forget(place);
    }

    /// Wipes all keys whose places begin so.
    pub(crate) fn forget_all(&self, prefix: &[u8]) {
        let mut kept = self.kept();
        kept.forgotten = kept.forgotten.wrapping_add(1);
        kept.keys.retain(|place| !place.starts_with(prefix));
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seats {
    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, number: usize, key: Option<SecretKey>) {
        if let Some(place) = self.keys.get(number) {
            *place.write().unwrap_or_else(PoisonError::into_inner) = key;
        }
    }
}

impl Seat {
    /// Seats a key; none if all seats are taken.
    fn take(seats: &Arc<Seats>, key: SecretKey) -> Option<Self> {
        let number = seats.free().pop()?;
        seats.put(number, Some(key));
        Some(Self { seats: Arc::clone(seats), number })
    }

    fn sign(&self, message: &Message) -> Result<Signature, Refusal> {
        let empty = || Refusal::from(Corrupt::Invariant("a key is not in its seat"));
        let place = self.seats.keys.get(self.number).ok_or_else(empty)?;
        let key = place.read().unwrap_or_else(PoisonError::into_inner);
        signature(key.as_ref().ok_or_else(empty)?, message)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.put(self.number, None);
        self.seats.free().push(self.number);
    }
}

fn signature(key: &SecretKey, message: &Message) -> Result<Signature, Refusal> {
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

    /// Signs with the key that `seed` gives, and says whether it had to be loaded.
    fn is_loaded(keys: &OpenedKeys, seed: u8) -> bool {
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

    fn taken(keys: &OpenedKeys) -> usize {
        keys.seats.keys.iter().filter(|seat| seat.read().unwrap().is_some()).count()
    }

    #[test]
    fn keys_are_at_hand_until_others_need_the_room() {
        let keys = OpenedKeys::with_room(4, 1);
        for seed in 0..50 {
            assert!(is_loaded(&keys, seed));
            assert!(!is_loaded(&keys, seed));
            assert!(taken(&keys) <= 4);
        }
        assert!(is_loaded(&keys, 0));
    }

    #[test]
    fn what_is_forgotten_leaves_its_seat() {
        let keys = OpenedKeys::with_room(8, 0);
        (0..4).for_each(|seed| assert!(is_loaded(&keys, seed)));
        keys.forget(&[7, 1]);
        assert_eq!(taken(&keys), 3);
        assert!(is_loaded(&keys, 1));
        keys.forget_all(&[7]);
        assert_eq!(taken(&keys), 0);
        assert!(is_loaded(&keys, 0));
    }

    /// Signs with a key that is loaded, after which this happens before it is kept.
    fn load_and_then(keys: &OpenedKeys, then: impl Fn(&OpenedKeys)) {
        let key = SecretKey::from_bytes(Curve::Ed25519, &[1; 32]).unwrap();
        let mut load = || {
            then(keys);
            Ok(key.clone())
        };
        keys.sign(&[7, 1], &mut load, &Message::Bytes(vec![1, 2, 3])).unwrap();
    }

    #[test]
    fn what_is_forgotten_while_it_is_loaded_is_not_kept() {
        let keys = OpenedKeys::with_room(8, 0);
        load_and_then(&keys, |keys| keys.forget(&[7, 1]));
        assert_eq!(taken(&keys), 0);
        load_and_then(&keys, |keys| keys.forget_all(&[7]));
        assert_eq!(taken(&keys), 0);
        // Whatever was forgotten: at worst, a key is loaded once more.
        load_and_then(&keys, |keys| keys.forget(&[8, 1]));
        assert_eq!(taken(&keys), 0);
        load_and_then(&keys, |_| ());
        assert_eq!(taken(&keys), 1);
        assert!(!is_loaded(&keys, 1));
    }

    #[test]
    fn without_a_free_seat_keys_are_loaded_each_time() {
        let keys = OpenedKeys::with_room(0, 0);
        assert!(is_loaded(&keys, 1));
        assert!(is_loaded(&keys, 1));
        assert_eq!(taken(&keys), 0);
    }
}
