//! Calls of storage libraries, which panic on some kinds of damage.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::StoreError;

/// Calls a storage library and converts panics into errors.
pub(super) fn caught<T>(
    doing: &'static str,
    call: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    silently(call)
        .unwrap_or_else(|| Err(StoreError::Failed { doing, cause: "the store is damaged".to_owned() }))
}

/// Calls a storage library. Returns `None` if it panics, and prints nothing about it.
pub(super) fn silently<T>(call: impl FnOnce() -> T) -> Option<T> {
    let silencer = PanicSilencer::begin();
    let result = catch_unwind(AssertUnwindSafe(call));
    drop(silencer);
    result.ok()
}

thread_local! {
    /// Whether panic messages of this thread are suppressed.
    static SILENCED: Cell<bool> = const { Cell::new(false) };
}

/// Suppresses the panic messages of this thread until it is dropped.
struct PanicSilencer(bool);

impl PanicSilencer {
    fn begin() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if !SILENCED.get() {
                    usual(panic);
                }
            }));
        });
        Self(SILENCED.replace(true))
    }
}

impl Drop for PanicSilencer {
    fn drop(&mut self) {
        SILENCED.set(self.0);
    }
}
