//! Calls of sled, which panics on damage that it does not expect.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::StoreError;

/// Runs a call of sled, which panics on damage that it does not expect.
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

/// What sled says of an error, without what is for its own developers.
pub(super) fn cause(error: &sled::Error) -> String {
    match error {
        sled::Error::Corruption { at: Some(at), .. } => format!("damaged data at {at:?} of the log"),
        sled::Error::Corruption { at: None, .. } => "damaged data".to_owned(),
        other => other.to_string(),
    }
}

thread_local! {
    /// Whether panics of this thread are reported by an error.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics of this thread off standard error while it lives.
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
