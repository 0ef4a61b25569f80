//! Parameters and results of the kinds on OAuth 2.0.

use quorate_common::ids::Oauth2CredentialId;
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum length of a client id, in bytes.
pub const CLIENT_ID: usize = 256;
/// Maximum length of an encrypted client secret, in hexadecimal digits.
pub const ENVELOPE: usize = 4096;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Oauth2CredentialResult {
    pub(crate) oauth2_credential_id: Oauth2CredentialId,
}
