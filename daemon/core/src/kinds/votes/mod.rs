//! Votes on activities that wait for consensus.

use super::prelude::*;

mod approve_activity;
mod reject_activity;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<approve_activity::Intent>(), entry::<reject_activity::Intent>()];
