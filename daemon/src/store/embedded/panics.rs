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
    let quiet = Quiet::begin();
    let result = catch_unwind(AssertUnwindSafe(call));
    drop(quiet);
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
    /// Whether panics of this thread are converted into errors.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Suppresses the panic messages of this thread until it is dropped.
pub(super) struct Quiet(bool);

impl Quiet {
    pub(super) fn begin() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if !QUIET.get() {
                    usual(panic);
                }
            }));
        });
        Self(QUIET.replace(true))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(self.0);
    }
}
