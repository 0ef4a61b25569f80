//! Credentials of OAuth 2.0 providers.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Oauth2Credential;

use crate::kinds::section::Row;
use crate::text::quoted;

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |one: &Oauth2Credential| {
        let text =
            format!("{} {} at {}", one.oauth2_credential_id, quoted(&one.client_id), one.provider.label());
        ("oauth2", text)
    };
    organization.oauth2_credentials.iter().map(line).collect()
}
