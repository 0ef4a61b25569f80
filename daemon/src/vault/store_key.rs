//! The key of all sealed data of a store, from which its other keys are derived. Each slot wraps it.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::locked::Locked;

/// The key of all sealed data of a store. It stays on pages that are not swapped out, is wiped when the last clone is
/// dropped, and has no `Debug` implementation.
#[derive(Clone)]
pub struct StoreKey(Arc<Locked<Zeroizing<[u8; 32]>>>);

impl StoreKey {
    pub(super) fn new(key: Zeroizing<[u8; 32]>) -> Self {
        Self(Arc::new(Locked::new(Box::new(key))))
    }

    /// Returns the bytes of the key.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
