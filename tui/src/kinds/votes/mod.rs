//! Votes on activities that wait for consensus.

use super::Kind;

mod approve_activity;
mod reject_activity;

pub(super) const KINDS: &[Kind] = &[approve_activity::KIND, reject_activity::KIND];
