//! The API keys and passkeys with which clients sign up at this moment. Two sign-ups with the same credential cannot run
//! at the same time, so that the second one finds the sub-organization of the first.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The public keys and the ids of passkeys in use, a few for each concurrent sign-up.
#[derive(Default)]
pub(super) struct SigningUp(Arc<Mutex<HashSet<String>>>);

/// A credential in use. It is free again when this is dropped.
pub(super) struct Reservation {
    keys: Arc<Mutex<HashSet<String>>>,
    key: String,
}

impl SigningUp {
    /// Reserves a credential. Returns `None` if it is in use.
    pub(super) fn reserve(&self, key: &str) -> Option<Reservation> {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.insert(key.to_owned()).then(|| Reservation { keys: Arc::clone(&self.0), key: key.to_owned() })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_credential_is_reserved_once() {
        let keys = SigningUp::default();
        let first = keys.reserve("02ab").unwrap();
        assert!(keys.reserve("02ab").is_none());
        assert!(keys.reserve("03cd").is_some());
        drop(first);
        assert!(keys.reserve("02ab").is_some());
    }
}
