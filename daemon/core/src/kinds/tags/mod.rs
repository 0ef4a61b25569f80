//! Tags.

use super::prelude::*;

mod create_user_tag;

pub(super) const ENTRIES: &[Entry] = &[entry::<create_user_tag::Intent>()];
