//! States of activities and of the daemon, in words.

use quorate_common::activity::Status;
use quorate_common::console::{Mode, StoreState};

/// Returns a status as a word for people.
pub(crate) const fn status_word(status: Status) -> &'static str {
    match status {
        Status::Created => "created",
        Status::Pending => "running",
        Status::Completed => "executed",
        Status::Failed => "failed",
        Status::ConsensusNeeded => "waiting",
        Status::Rejected => "rejected",
        Status::AuthenticatorsNeeded => "waiting for authentication",
    }
}

/// Returns the word for a store that accepts no writes. Every screen shows it.
pub(crate) const fn store_word(state: StoreState) -> &'static str {
    match state {
        StoreState::Full => "FULL",
        StoreState::Recovering => "RECOVERING",
        StoreState::Altered => "ALTERED",
        StoreState::Unknown => "NOT READY",
    }
}

/// Returns the word for the daemon's mode. Every screen shows it.
pub(crate) const fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Dev => "DEV",
        Mode::Production => "PROD",
    }
}
