//! Memory that is kept out of the swap.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use region::LockGuard;

/// A value on pages that the system keeps in memory, where it allows that.
///
/// The pages stay locked until they are given back to the system, since other values may stand on them: it is for what lives as
/// long as the daemon.
pub(crate) struct Locked<T: ?Sized> {
    value: Box<T>,
    lock: Option<ManuallyDrop<LockGuard>>,
}

impl<T: ?Sized> Locked<T> {
    /// Locks the pages of this value, not of what it points to.
    pub(crate) fn new(value: Box<T>) -> Self {
        let address: *const T = &raw const *value;
        // Without the right to it, or beyond the limit, the value is kept all the same.
        let lock = region::lock(address.cast::<u8>(), size_of_val(&*value));
        Self { value, lock: lock.ok().map(ManuallyDrop::new) }
    }

    /// Whether the system took it on.
    pub(crate) const fn is_locked(&self) -> bool {
        self.lock.is_some()
    }
}

impl<T: ?Sized> Deref for Locked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_system_locks_is_kept_all_the_same() {
        let nothing = Locked::<[()]>::new(Box::from([(); 5]));
        assert!(!nothing.is_locked());
        assert_eq!(nothing.len(), 5);
    }
}
