//! Credentials of OAuth 2.0 providers.

use super::prelude::*;

mod get_oauth2_credential;
mod list_oauth2_credentials;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_oauth2_credential::GetOauth2Credential>("get_oauth2_credential", "oauth2Credential"),
    entry::<list_oauth2_credentials::ListOauth2Credentials>("list_oauth2_credentials", "oauth2Credentials"),
];
