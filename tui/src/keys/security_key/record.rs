//! The file of a key on a security key: what is needed to use it, and its registration. It contains no secret; without the
//! security key it is useless.

use std::path::PathBuf;

use quorate_common::webauthn::{self, Attestation, NewCredential};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::error::SecurityKeyError;
use crate::files::{self, FileError, Folders};

/// Relying party unless another one is chosen. The top-level domain `invalid` is reserved (RFC 2606 §2), so that no web
/// page can use the key.
pub(crate) const RELYING_PARTY: &str = "quorate.invalid";

/// Ending of the files.
const ENDING: &str = ".fido2";
const SIZE_LIMIT: u64 = 128 * 1024;
/// Longest credential id that the daemon registers, in bytes.
pub(super) const CREDENTIAL_ID_LIMIT: usize = 192;
/// Longest name of a relying party (RFC 1035 §2.3.4).
const RELYING_PARTY_LIMIT: usize = 253;

/// A registration as the daemon takes it, without its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Registration {
    pub(super) challenge: String,
    pub(super) client_data_json: String,
    pub(super) attestation_object: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Content {
    version: u32,
    relying_party: String,
    origin: String,
    credential_id: String,
    public_key: String,
    registration: Registration,
}

/// A key on a security key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    relying_party: String,
    origin: String,
    credential: Vec<u8>,
    public_key: String,
    registration: Registration,
}

impl Record {
    /// Creates a record from a registration, which is verified.
    ///
    /// # Errors
    /// [`SecurityKeyError`] if the security key registered something else.
    pub(super) fn new(
        relying_party: &str,
        origin: &str,
        credential: &[u8],
        registration: Registration,
    ) -> Result<Self, SecurityKeyError> {
        if credential.len() > CREDENTIAL_ID_LIMIT {
            return Err(SecurityKeyError::Unsupported("its credential ids are too long"));
        }
        let credential_id = webauthn::base64url(credential);
        let NewCredential { public_key, relying_party: digest, .. } = Attestation {
            challenge: &registration.challenge,
            credential_id: &credential_id,
            client_data_json: &registration.client_data_json,
            attestation_object: &registration.attestation_object,
        }
        .verify()
        .map_err(|_| SecurityKeyError::Answer("to the registration"))?;
        if digest != <[u8; 32]>::from(Sha256::digest(relying_party)) {
            return Err(SecurityKeyError::Answer("for another relying party"));
        }
        let (relying_party, origin) = (relying_party.to_owned(), origin.to_owned());
        Ok(Self { relying_party, origin, credential: credential.to_vec(), public_key, registration })
    }

    /// Loads the record with this name. Its registration must match it.
    pub(super) fn load(folders: &Folders, name: &str) -> Result<Self, SecurityKeyError> {
        let path = path(folders, name)?;
        let missing = || SecurityKeyError::Missing(name.to_owned());
        let bytes = files::read_private(&path, SIZE_LIMIT)?.ok_or_else(missing)?;
        let invalid = || SecurityKeyError::File(FileError::Content(path.clone()));
        let content: Content = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
        let credential = webauthn::from_base64url(&content.credential_id).ok_or_else(invalid)?;
        let Content { version, relying_party, origin, public_key, registration, .. } = content;
        let record = Self::new(&relying_party, &origin, &credential, registration).map_err(|_| invalid())?;
        if version == 1 && record.public_key == public_key { Ok(record) } else { Err(invalid()) }
    }

    /// Stores the record under a name that is not used yet.
    pub(super) fn store(&self, folders: &Folders, name: &str) -> Result<(), SecurityKeyError> {
        let content = Content {
            version: 1,
            relying_party: self.relying_party.clone(),
            origin: self.origin.clone(),
            credential_id: webauthn::base64url(&self.credential),
            public_key: self.public_key.clone(),
            registration: self.registration.clone(),
        };
        let bytes = serde_json::to_vec_pretty(&content).unwrap_or_default();
        Ok(files::create_private(&path(folders, name)?, &bytes)?)
    }

    pub(super) fn relying_party(&self) -> &str {
        &self.relying_party
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) fn credential(&self) -> &[u8] {
        &self.credential
    }

    /// Returns the public key as it is registered: the COSE key in base64url.
    pub(super) fn public_key(&self) -> &str {
        &self.public_key
    }

    /// Returns the authenticator to register, under this name.
    pub(super) fn authenticator(&self, name: &str) -> Value {
        let Registration { challenge, client_data_json, attestation_object } = &self.registration;
        json!({
            "authenticatorName": name,
            "challenge": challenge,
            "attestation": {
                "credentialId": webauthn::base64url(&self.credential),
                "clientDataJson": client_data_json,
                "attestationObject": attestation_object,
                "transports": ["AUTHENTICATOR_TRANSPORT_USB"],
            },
        })
    }
}

#[cfg(test)]
impl Record {
    /// Returns a record for requests that no security key answers with a signature.
    pub(super) fn sample() -> Self {
        let empty = String::new;
        let registration =
            Registration { challenge: empty(), client_data_json: empty(), attestation_object: empty() };
        let (relying_party, origin) = (RELYING_PARTY.to_owned(), format!("https://{RELYING_PARTY}"));
        Self { relying_party, origin, credential: vec![1; 64], public_key: empty(), registration }
    }
}

/// Checks a relying party and the origin for it: a domain, and the same or a name below it.
pub(super) fn check_origin(relying_party: &str, origin: &str) -> Result<(), SecurityKeyError> {
    let is_label = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(is_plain)
    };
    if relying_party.len() > RELYING_PARTY_LIMIT || !relying_party.split('.').all(is_label) {
        return Err(SecurityKeyError::RelyingParty(relying_party.to_owned()));
    }
    let host = origin.strip_prefix("https://").and_then(|rest| rest.split(':').next()).unwrap_or_default();
    let below = host.strip_suffix(relying_party).and_then(|start| start.strip_suffix('.'));
    if host == relying_party || below.is_some_and(|start| start.split('.').all(is_label)) {
        return Ok(());
    }
    Err(SecurityKeyError::Origin { origin: origin.to_owned(), relying_party: relying_party.to_owned() })
}

/// Returns the names of the stored records.
pub(super) fn names(folders: &Folders) -> Result<Vec<String>, FileError> {
    files::names(&folders.keys(), ENDING)
}

/// Returns the path of the record with this name.
pub(super) fn path(folders: &Folders, name: &str) -> Result<PathBuf, SecurityKeyError> {
    if !crate::keys::file::is_name(name) {
        return Err(SecurityKeyError::Name);
    }
    Ok(folders.keys().join(format!("{name}{ENDING}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_belong_to_their_relying_party() {
        let check = |relying_party: &str, origin: &str, expected: bool| {
            assert_eq!(check_origin(relying_party, origin).is_ok(), expected, "{relying_party} {origin}");
        };
        check(RELYING_PARTY, "https://quorate.invalid", true);
        check("example.org", "https://example.org", true);
        check("example.org", "https://keys.example.org:8443", true);
        check("example.org", "https://example.com", false);
        check("example.org", "https://notexample.org", false);
        check("example.org", "http://example.org", false);
        check("example.org", "https://", false);
        check("example.org", "https://.example.org", false);
        check("Example.org", "https://Example.org", false);
        check("", "https://", false);
        check("a..b", "https://a..b", false);
        check(&"a".repeat(254), &format!("https://{}", "a".repeat(254)), false);
    }
}
