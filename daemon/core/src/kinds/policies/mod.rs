//! Policies.

use super::prelude::*;

mod create_policy;

pub(super) const ENTRIES: &[Entry] = &[entry::<create_policy::Intent>()];
