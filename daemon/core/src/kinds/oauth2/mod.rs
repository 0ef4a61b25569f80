//! OAuth 2.0: providers without ID tokens of their own, for whose users the service issues ID tokens.

use super::prelude::*;

mod create_oauth2_credential;
mod delete_oauth2_credential;
mod oauth2_authenticate;
mod update_oauth2_credential;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_oauth2_credential::Intent>(),
    entry::<delete_oauth2_credential::Intent>(),
    entry::<oauth2_authenticate::Intent>(),
    entry::<update_oauth2_credential::Intent>(),
];
