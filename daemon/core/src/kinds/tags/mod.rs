//! Tags.

use super::prelude::*;

pub(super) const ENTRIES: &[Entry] = &[];
