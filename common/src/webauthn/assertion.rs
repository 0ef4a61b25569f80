//! Stamps of passkeys: assertions of an authenticator over a body (Web Authentication §7.2).

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::authenticator_data::AuthenticatorData;
use super::client_data::{Ceremony, ClientData};
use super::public_key::PasskeyKey;
use super::{CLIENT_DATA_LIMIT_BYTES, CREDENTIAL_ID_LIMIT_BYTES, decoded, digits_of, encoded};
use crate::json::Document;
use crate::stamp_header::{LIMIT_BYTES, base64};

/// Maximum length of the authenticator data of an assertion: 37 bytes, and space for extensions.
const AUTHENTICATOR_DATA_LIMIT_BYTES: usize = 4 * 1024;
/// Maximum length of a signature: RSA with 4096 bits.
const SIGNATURE_LIMIT_BYTES: usize = 512;

/// An assertion as parsed from the header, not yet verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    credential_id: String,
    authenticator_data: Vec<u8>,
    client_data_json: Vec<u8>,
    signature: Vec<u8>,
}

/// Error returned for a header that is not a valid stamp of a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AssertionError {
    /// The header is neither a JSON object nor base64 of one.
    #[error("malformed activity stamp")]
    Malformed,
    /// A member is missing, has a wrong type, is not base64url, or is too long.
    #[error("could not extract webauthn stamp")]
    Members,
    /// The assertion is not valid for this body and this key.
    #[error("could not verify WebAuthN signature")]
    Signature,
}

/// Signed contents of a verified assertion. The caller must check the origin and the relying party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedAssertion {
    /// Origin of the page that requested the assertion.
    pub origin: String,
    /// SHA-256 digest of the id of the relying party.
    pub relying_party: [u8; 32],
    /// Signature counter of the authenticator; zero if it does not count.
    pub signature_count: u32,
    /// Whether the authenticator verified the user, by PIN or biometrics.
    pub user_verified: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    credential_id: String,
    authenticator_data: String,
    client_data_json: String,
    signature: String,
}

impl Assertion {
    /// Creates an assertion from what an authenticator returned, for a client.
    pub fn new(
        credential_id: &[u8],
        authenticator_data: Vec<u8>,
        client_data_json: Vec<u8>,
        signature: Vec<u8>,
    ) -> Self {
        Self { credential_id: encoded(credential_id), authenticator_data, client_data_json, signature }
    }

    /// Parses the header value: a JSON object, or base64 of one in either alphabet, padded or not.
    ///
    /// The two are unambiguous: an object begins with `{`, which is in neither alphabet.
    ///
    /// # Errors
    /// [`AssertionError::Malformed`] if the header holds no JSON object, [`AssertionError::Members`] if a
    /// member is invalid.
    pub fn read(header: &str) -> Result<Self, AssertionError> {
        if header.len() > LIMIT_BYTES {
            return Err(AssertionError::Malformed);
        }
        let document = if header.starts_with('{') {
            Document::read(header.as_bytes())
        } else {
            Document::read(&base64(header).ok_or(AssertionError::Malformed)?)
        };
        let document = document.ok().filter(Document::is_object).ok_or(AssertionError::Malformed)?;
        let members: Members = document.typed().map_err(|_| AssertionError::Members)?;
        Self::of(&members).ok_or(AssertionError::Members)
    }

    fn of(members: &Members) -> Option<Self> {
        let id = decoded(&members.credential_id, CREDENTIAL_ID_LIMIT_BYTES).filter(|id| !id.is_empty())?;
        Some(Self {
            credential_id: encoded(&id),
            authenticator_data: decoded(&members.authenticator_data, AUTHENTICATOR_DATA_LIMIT_BYTES)?,
            client_data_json: decoded(&members.client_data_json, CLIENT_DATA_LIMIT_BYTES)?,
            signature: decoded(&members.signature, SIGNATURE_LIMIT_BYTES)?,
        })
    }

    /// Returns the id of the credential that the assertion claims, in base64url without padding.
    pub fn credential_id(&self) -> &str {
        &self.credential_id
    }

    /// Returns the JSON text that is stored with a vote. Parsing it returns an equal assertion.
    pub fn text(&self) -> String {
        let members = Members {
            credential_id: self.credential_id.clone(),
            authenticator_data: encoded(&self.authenticator_data),
            client_data_json: encoded(&self.client_data_json),
            signature: encoded(&self.signature),
        };
        serde_json::to_string(&members).unwrap_or_default()
    }
}

impl PasskeyKey {
    /// Verifies that `assertion` is a signature of this key over `body`, and that a user was present.
    ///
    /// # Errors
    /// [`AssertionError::Signature`] if the assertion is not valid.
    pub fn verify(&self, assertion: &Assertion, body: &[u8]) -> Result<VerifiedAssertion, AssertionError> {
        let json = &assertion.client_data_json;
        let client = ClientData::read(json, Ceremony::Get, digits_of(body).as_bytes())
            .map_err(|_| AssertionError::Signature)?;
        let data =
            AuthenticatorData::read(&assertion.authenticator_data).map_err(|_| AssertionError::Signature)?;
        let message = [assertion.authenticator_data.as_slice(), &Sha256::digest(json)].concat();
        if !data.user_present || !self.verify_signature(&message, &assertion.signature) {
            return Err(AssertionError::Signature);
        }
        Ok(VerifiedAssertion {
            origin: client.origin,
            relying_party: data.relying_party,
            signature_count: data.signature_count,
            user_verified: data.user_verified,
        })
    }
}
