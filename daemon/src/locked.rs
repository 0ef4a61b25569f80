//! Memory that is not swapped out.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use region::LockGuard;

/// A value on memory pages that the system does not swap out, where it allows that.
///
/// The pages stay locked until they are returned to the system, because other values may be on them. It is
/// therefore meant for values that live as long as the daemon.
pub(crate) struct Locked<T: ?Sized> {
    value: Box<T>,
    lock: Option<ManuallyDrop<LockGuard>>,
}

impl<T: ?Sized> Locked<T> {
    /// Locks the pages of a value, but not of what it points to.
    pub(crate) fn new(value: Box<T>) -> Self {
        let address: *const T = &raw const *value;
        // Without the privilege, or beyond the limit, the value is kept on unlocked pages.
        let lock = region::lock(address.cast::<u8>(), size_of_val(&*value));
        Self { value, lock: lock.ok().map(ManuallyDrop::new) }
    }

    /// Returns whether the system has locked the pages.
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
    fn a_value_that_cannot_be_locked_is_usable() {
        let nothing = Locked::<[()]>::new(Box::from([(); 5]));
        assert!(!nothing.is_locked());
        assert_eq!(nothing.len(), 5);
    }
}
