//! Calls of sled, which panics on some kinds of damage.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::StoreError;

/// Calls sled and converts panics into errors.
pub(super) fn guarded<T>(
    doing: &'static str,
    call: impl FnOnce() -> sled::Result<T>,
) -> Result<T, StoreError> {
    let silencer = PanicSilencer::begin();
    let result = catch_unwind(AssertUnwindSafe(call));
    drop(silencer);
    match result {
        Ok(result) => result.map_err(|error| failed(doing, &error)),
        Err(_) => Err(StoreError::Failed { doing, cause: "the store is damaged".to_owned() }),
    }
}

fn failed(doing: &'static str, error: &sled::Error) -> StoreError {
    StoreError::Failed { doing, cause: cause(error) }
}

/// Describes an error of sled, without details for sled's developers.
pub(super) fn cause(error: &sled::Error) -> String {
    match error {
        sled::Error::Corruption { at: Some(at), .. } => format!("damaged data at {at:?} of the log"),
        sled::Error::Corruption { at: None, .. } => "damaged data".to_owned(),
        other => other.to_string(),
    }
}

thread_local! {
    /// Whether panic messages of this thread are suppressed.
    static SILENCED: Cell<bool> = const { Cell::new(false) };
}

/// Suppresses the panic messages of this thread until it is dropped.
pub(super) struct PanicSilencer(bool);

impl PanicSilencer {
    pub(super) fn begin() -> Self {
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
