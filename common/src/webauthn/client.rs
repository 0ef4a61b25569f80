//! What a client creates for an authenticator: the client data that it signs (Web Authentication §5.8.1), and the texts of
//! its answers. The console is such a client.

use serde::Serialize;

use super::authenticator_data::AuthenticatorData;
use super::client_data::Ceremony;
use super::{ATTESTATION_LIMIT_BYTES, challenge_of, decoded, encoded};

/// The members in the order of the standard (§5.8.1.1).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientData<'a> {
    #[serde(rename = "type")]
    ceremony: &'a str,
    challenge: String,
    origin: &'a str,
    cross_origin: bool,
}

/// Returns the client data of a stamp over this body.
pub fn assertion_client_data(body: &[u8], origin: &str) -> Vec<u8> {
    client_data(Ceremony::Get, challenge_of(body), origin)
}

/// Returns the client data of a registration with this challenge.
pub fn registration_client_data(challenge: &[u8], origin: &str) -> Vec<u8> {
    client_data(Ceremony::Create, encoded(challenge), origin)
}

fn client_data(ceremony: Ceremony, challenge: String, origin: &str) -> Vec<u8> {
    let members = ClientData { ceremony: ceremony.name(), challenge, origin, cross_origin: false };
    serde_json::to_vec(&members).unwrap_or_default()
}

/// Returns the id of the new credential in the authenticator data of a registration.
pub fn credential_id(authenticator_data: &[u8]) -> Option<Vec<u8>> {
    AuthenticatorData::read(authenticator_data).ok()?.credential.map(|credential| credential.id.to_vec())
}

/// Encodes bytes as texts of this module: base64url without padding.
pub fn base64url(bytes: &[u8]) -> String {
    encoded(bytes)
}

/// Decodes such a text, of at most the length of an attestation object.
pub fn from_base64url(text: &str) -> Option<Vec<u8>> {
    decoded(text, ATTESTATION_LIMIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_data_is_that_of_the_standard() {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap_or_default();
        assert_eq!(
            text(registration_client_data(b"abc", "https://example.org")),
            r#"{"type":"webauthn.create","challenge":"YWJj","origin":"https://example.org","crossOrigin":false}"#
        );
        let stamp = text(assertion_client_data(b"{}", "https://example.org"));
        // The hex digits of SHA-256 of the body, in base64url.
        let challenge =
            "NDQxMzZmYTM1NWIzNjc4YTExNDZhZDE2ZjdlODY0OWU5NGZiNGZjMjFmZTc3ZTgzMTBjMDYwZjYxY2FhZmY4YQ";
        assert_eq!(
            stamp,
            format!(
                r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"https://example.org","crossOrigin":false}}"#
            )
        );
    }
}
