//! The authentication proxy, which acts for clients that have no credential yet.

use super::prelude::*;

mod disable_auth_proxy;
mod enable_auth_proxy;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<disable_auth_proxy::Intent>(), entry::<enable_auth_proxy::Intent>()];
