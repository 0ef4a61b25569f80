//! Registrations: verifies the response of an authenticator and returns the new credential (Web
//! Authentication §7.1).

use super::authenticator_data::AuthenticatorData;
use super::cbor::{self, Value};
use super::client_data::{Ceremony, ClientData};
use super::{
    ATTESTATION_LIMIT_BYTES, CLIENT_DATA_LIMIT_BYTES, CREDENTIAL_ID_LIMIT_BYTES, decoded, encoded, statement,
};

/// Response of an authenticator to a registration, as clients send it. All members are base64url.
#[derive(Debug, Clone, Copy)]
pub struct Attestation<'a> {
    /// Challenge that the client chose. It must equal the one in the client data.
    pub challenge: &'a str,
    /// Id of the new credential. It must equal the one in the authenticator data.
    pub credential_id: &'a str,
    /// Client data, byte for byte.
    pub client_data_json: &'a str,
    /// Attestation object in CBOR (Web Authentication §6.5.4).
    pub attestation_object: &'a str,
}

/// Credential that an authenticator created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCredential {
    /// Id of the credential, base64url without padding.
    pub credential_id: String,
    /// COSE key, byte for byte as the authenticator wrote it, in base64url without padding.
    pub public_key: String,
    /// SHA-256 digest of the id of the relying party that the credential is for.
    pub relying_party: [u8; 32],
    /// Model of the authenticator: 16 bytes in base64url without padding.
    pub aaguid: String,
    /// Format of the attestation statement.
    pub format: String,
    /// Signature counter of the authenticator; zero if it does not count.
    pub signature_count: u32,
    /// Origin of the page that requested the registration. The caller must check it.
    pub origin: String,
}

/// Error returned for an invalid registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AttestationError {
    /// The attestation object is missing.
    #[error("missing parameter: user authenticator attestation")]
    Missing,
    /// A part cannot be decoded or is not valid.
    #[error("invalid authenticator attestation")]
    Invalid,
    /// The attestation object has no authenticator data.
    #[error("missing parameter: user authenticator attestation auth data")]
    AuthData,
}

impl Attestation<'_> {
    /// Verifies the response of the authenticator. A user must have been present.
    ///
    /// # Errors
    /// [`AttestationError`] if a part is missing or invalid.
    pub fn verify(&self) -> Result<NewCredential, AttestationError> {
        if self.attestation_object.is_empty() {
            return Err(AttestationError::Missing);
        }
        let bytes =
            decoded(self.attestation_object, ATTESTATION_LIMIT_BYTES).ok_or(AttestationError::Invalid)?;
        let object = Object::read(&bytes)?;
        let client = self.client_data().ok_or(AttestationError::Invalid)?;
        let id = decoded(self.credential_id, CREDENTIAL_ID_LIMIT_BYTES).ok_or(AttestationError::Invalid)?;
        let data = AuthenticatorData::read(object.data).map_err(|_| AttestationError::Invalid)?;
        let credential =
            data.credential.as_ref().filter(|credential| data.user_present && credential.id == id);
        let credential = credential.ok_or(AttestationError::Invalid)?;
        Ok(NewCredential {
            credential_id: encoded(credential.id),
            public_key: encoded(credential.public_key),
            relying_party: data.relying_party,
            aaguid: encoded(&credential.aaguid),
            format: object.format.to_owned(),
            signature_count: data.signature_count,
            origin: client.origin,
        })
    }

    fn client_data(&self) -> Option<ClientData> {
        let challenge = decoded(self.challenge, CLIENT_DATA_LIMIT_BYTES)?;
        let json = decoded(self.client_data_json, CLIENT_DATA_LIMIT_BYTES)?;
        ClientData::read(&json, Ceremony::Create, &challenge).ok()
    }
}

/// An attestation object (§6.5.4) whose statement was checked.
struct Object<'a> {
    format: &'a str,
    data: &'a [u8],
}

impl<'a> Object<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, AttestationError> {
        let mut map = cbor::map(bytes).map_err(|_| AttestationError::Invalid)?;
        let data = match map.take("authData") {
            Some(Value::Bytes(data)) => data,
            Some(_) => return Err(AttestationError::Invalid),
            None => return Err(AttestationError::AuthData),
        };
        let format = map.text("fmt").map_err(|_| AttestationError::Invalid)?;
        let claims = map.map("attStmt").map_err(|_| AttestationError::Invalid)?;
        statement::check(format, claims).map_err(|_| AttestationError::Invalid)?;
        if map.is_empty() { Ok(Self { format, data }) } else { Err(AttestationError::Invalid) }
    }
}
