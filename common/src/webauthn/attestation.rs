//! Registrations: from what an authenticator answered to the credential it made (Web Authentication §7.1).

use super::authenticator_data::AuthenticatorData;
use super::cbor::{self, Value};
use super::client_data::{Ceremony, ClientData};
use super::{
    ATTESTATION_LIMIT_BYTES, CLIENT_DATA_LIMIT_BYTES, CREDENTIAL_ID_LIMIT_BYTES, decoded, encoded, statement,
};

/// What an authenticator answered to a registration, as clients send it: base64url in all members.
#[derive(Debug, Clone, Copy)]
pub struct Attestation<'a> {
    /// The challenge that the client chose. It stands in the client data too.
    pub challenge: &'a str,
    /// Id of the new credential. It stands in the authenticator data too.
    pub credential_id: &'a str,
    /// Client data, the exact bytes.
    pub client_data_json: &'a str,
    /// Attestation object.
    pub attestation_object: &'a str,
}

/// A credential that an authenticator made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCredential {
    /// Its id, base64url without padding.
    pub credential_id: String,
    /// Base64url without padding of the COSE key, byte for byte as the authenticator wrote it.
    pub public_key: String,
    /// SHA-256 of the id of the relying party that it was made for.
    pub relying_party: [u8; 32],
    /// Model of the authenticator, base64url without padding of 16 bytes.
    pub aaguid: String,
    /// Format of the attestation statement.
    pub format: String,
    /// How often the authenticator signed, as it says; zero if it does not count.
    pub signature_count: u32,
    /// Where the user was asked. The caller judges it.
    pub origin: String,
}

/// Why a registration is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AttestationFlaw {
    /// There is no attestation object.
    #[error("missing parameter: user authenticator attestation")]
    Missing,
    /// Something does not decode, or does not hold.
    #[error("invalid authenticator attestation")]
    Invalid,
    /// The attestation object decodes, but has no authenticator data.
    #[error("missing parameter: user authenticator attestation auth data")]
    AuthData,
}

impl Attestation<'_> {
    /// Checks what the authenticator answered. A person must have been there.
    pub fn verify(&self) -> Result<NewCredential, AttestationFlaw> {
        if self.attestation_object.is_empty() {
            return Err(AttestationFlaw::Missing);
        }
        let bytes =
            decoded(self.attestation_object, ATTESTATION_LIMIT_BYTES).ok_or(AttestationFlaw::Invalid)?;
        let object = Object::read(&bytes)?;
        let client = self.client_data().ok_or(AttestationFlaw::Invalid)?;
        let id = decoded(self.credential_id, CREDENTIAL_ID_LIMIT_BYTES).ok_or(AttestationFlaw::Invalid)?;
        let data = AuthenticatorData::read(object.data).map_err(|_| AttestationFlaw::Invalid)?;
        let credential =
            data.credential.as_ref().filter(|credential| data.user_present && credential.id == id);
        let credential = credential.ok_or(AttestationFlaw::Invalid)?;
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

/// An attestation object (§6.5.4), its statement checked.
struct Object<'a> {
    format: &'a str,
    data: &'a [u8],
}

impl<'a> Object<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, AttestationFlaw> {
        let mut map = cbor::map(bytes).map_err(|_| AttestationFlaw::Invalid)?;
        let data = match map.take("authData") {
            Some(Value::Bytes(data)) => data,
            Some(_) => return Err(AttestationFlaw::Invalid),
            None => return Err(AttestationFlaw::AuthData),
        };
        let format = map.text("fmt").map_err(|_| AttestationFlaw::Invalid)?;
        let claims = map.map("attStmt").map_err(|_| AttestationFlaw::Invalid)?;
        statement::check(format, claims).map_err(|_| AttestationFlaw::Invalid)?;
        if map.is_empty() { Ok(Self { format, data }) } else { Err(AttestationFlaw::Invalid) }
    }
}
