//! Stamps by a passkey: what an authenticator signed over a body (Web Authentication §7.2).

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::authenticator_data::AuthenticatorData;
use super::client_data::{Ceremony, ClientData};
use super::public_key::PasskeyKey;
use super::{CLIENT_DATA_LIMIT_BYTES, CREDENTIAL_ID_LIMIT_BYTES, decoded, digits_of, encoded};
use crate::json::Document;
use crate::stamp;

/// Longest authenticator data of an assertion: 37 bytes, and room for extensions.
const AUTHENTICATOR_DATA_LIMIT_BYTES: usize = 4 * 1024;
/// Longest signature: RSA of 4096 bits.
const SIGNATURE_LIMIT_BYTES: usize = 512;

/// An assertion as read from the header, not yet verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    credential_id: String,
    authenticator_data: Vec<u8>,
    client_data_json: Vec<u8>,
    signature: Vec<u8>,
}

/// Why a header is not a stamp by a passkey, or does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AssertionFlaw {
    /// Neither a JSON object nor base64 of one.
    #[error("malformed activity stamp")]
    Malformed,
    /// Members missing, of a wrong type, not base64url, or too long.
    #[error("could not extract webauthn stamp")]
    Members,
    /// It is read, but it does not hold for this body and this key.
    #[error("could not verify WebAuthN signature")]
    Signature,
}

/// What a verified assertion says beside who made it; the caller judges origin and relying party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    /// Where the user was asked.
    pub origin: String,
    /// SHA-256 of the relying party's id.
    pub relying_party: [u8; 32],
    /// How often the authenticator signed, as it says; zero if it does not count.
    pub signature_count: u32,
    /// Whether the authenticator knew who was there, by PIN or body.
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
    /// Reads the value of the header: a JSON object, or base64 of it in either alphabet, padded or not. The
    /// object begins with `{`, which is in neither alphabet.
    pub fn read(header: &str) -> Result<Self, AssertionFlaw> {
        if header.len() > stamp::LIMIT_BYTES {
            return Err(AssertionFlaw::Malformed);
        }
        let document = if header.starts_with('{') {
            Document::read(header.as_bytes())
        } else {
            Document::read(&stamp::base64(header).ok_or(AssertionFlaw::Malformed)?)
        };
        let document = document.ok().filter(Document::is_object).ok_or(AssertionFlaw::Malformed)?;
        let members: Members = document.typed().map_err(|_| AssertionFlaw::Members)?;
        Self::of(&members).ok_or(AssertionFlaw::Members)
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

    /// Id of the credential that it claims to be made with, base64url without padding.
    pub fn credential_id(&self) -> &str {
        &self.credential_id
    }

    /// The JSON text as it is kept with a vote. Reading it gives the same assertion.
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
    /// Checks that `assertion` is by this key and over `body`, and that a person was there.
    pub fn verify(&self, assertion: &Assertion, body: &[u8]) -> Result<Proven, AssertionFlaw> {
        let json = &assertion.client_data_json;
        let client = ClientData::read(json, Ceremony::Get, digits_of(body).as_bytes())
            .map_err(|_| AssertionFlaw::Signature)?;
        let data =
            AuthenticatorData::read(&assertion.authenticator_data).map_err(|_| AssertionFlaw::Signature)?;
        let message = [assertion.authenticator_data.as_slice(), &Sha256::digest(json)].concat();
        if !data.user_present || !self.fits(&message, &assertion.signature) {
            return Err(AssertionFlaw::Signature);
        }
        Ok(Proven {
            origin: client.origin,
            relying_party: data.relying_party,
            signature_count: data.signature_count,
            user_verified: data.user_verified,
        })
    }
}
