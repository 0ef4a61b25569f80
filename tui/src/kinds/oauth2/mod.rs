//! OAuth 2.0: providers without ID tokens of their own, for whose users the daemon issues ID tokens.

use super::Kind;

mod application;
mod create_oauth2_credential;
mod delete_oauth2_credential;
mod oauth2_authenticate;
mod section;
mod update_oauth2_credential;

pub(super) use section::lines;

pub(super) const KINDS: &[Kind] = &[
    create_oauth2_credential::KIND,
    delete_oauth2_credential::KIND,
    oauth2_authenticate::KIND,
    update_oauth2_credential::KIND,
];
