//! The authentication proxy, which acts for clients that have no credential yet.

use super::Kind;

mod disable_auth_proxy;
mod enable_auth_proxy;

pub(super) const KINDS: &[Kind] = &[disable_auth_proxy::KIND, enable_auth_proxy::KIND];
